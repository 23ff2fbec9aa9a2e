//! `step47 token`: bearer tokens for agents and scripts.

use super::{Failure, StoreArgs, say::say};
use crate::{
    domain::{Role, nouns::audit::AuditKind},
    store::audit,
};

/// Make, list and revoke bearer tokens.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Make a token and print it, alone, on stdout: it is not shown again
    Create {
        /// agent: reads and agent writes · viewer: reads · operator: reads and decisions · admin: all
        #[arg(long)]
        role: Role,
        /// Who uses it; shown in lists and logs
        #[arg(long)]
        name: String,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List tokens; secrets are not kept
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Revoke a token by its id, or all of a name
    Revoke {
        /// As `token list` shows it
        id_or_name: String,
        #[command(flatten)]
        store: StoreArgs,
    },
}

pub async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Create { role, name, store } => {
            let store = store.open().await?;
            let secret = store.create_token(&name, role).await?;
            let detail = serde_json::json!({"name": name, "role": role});
            let entry = audit::of(AuditKind::Access, super::HERE, "create_token", detail);
            store.noted(entry).await;
            say!("{secret}");
        }
        Command::List { json, store } => {
            let tokens = store.existing().await?.tokens().await?;
            if json {
                say!("{}", serde_json::to_string_pretty(&tokens)?);
                return Ok(());
            }
            say!(
                "{:<34}{:<24}{:<10}{:<29}REVOKED",
                "ID",
                "NAME",
                "ROLE",
                "CREATED"
            );
            for token in tokens {
                let revoked = token.revoked_at.map_or("—".into(), |at| at.to_string());
                say!(
                    "{:<34}{:<24}{:<10}{:<29}{revoked}",
                    token.id,
                    token.name,
                    token.role.as_str(),
                    token.created_at.to_string()
                );
            }
        }
        Command::Revoke { id_or_name, store } => {
            let store = store.open().await?;
            match store.revoke_token(&id_or_name).await? {
                0 => {
                    return Err(format!(
                        "there is no live token {id_or_name:?}; see `step47 token list`"
                    )
                    .into());
                }
                n => {
                    let detail = serde_json::json!({"token": id_or_name, "revoked": n});
                    let entry = audit::of(AuditKind::Access, super::HERE, "revoke_token", detail);
                    store.noted(entry).await;
                    say!("revoked {n}");
                }
            }
        }
    }
    Ok(())
}
