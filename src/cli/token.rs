//! `step47 token`: bearer tokens for agents and scripts.

use super::{Failure, StoreArgs, say::say};
use crate::{
    domain::{
        Role, Time,
        nouns::{audit::AuditKind, lifetime::Lifetime},
        views::audit_words,
    },
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
        /// The person it belongs to: it ends when they are disabled
        #[arg(long, value_name = "PERSON")]
        owner: Option<String>,
        /// How long it works: 30d, 12h, …; without end if left out
        #[arg(long, value_name = "SPAN")]
        expires: Option<Lifetime>,
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
        Command::Create {
            role,
            name,
            owner,
            expires,
            store,
        } => {
            let store = store.open().await?;
            let (id, secret) = store
                .create_token(&name, role, owner.as_deref(), expires)
                .await?;
            let detail = serde_json::json!({
                "id": id, "name": name, "role": role, "owner": owner, "expires": expires
            });
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
            let line = |cells: [&str; 8]| {
                let [id, name, role, owner, created, used, ends, revoked] = cells;
                say!(
                    "{id:<34}{name:<24}{role:<10}{owner:<16}{created:<29}{used:<29}{ends:<29}{revoked}"
                );
            };
            line([
                "ID",
                "NAME",
                "ROLE",
                "OWNER",
                "CREATED",
                "LAST USED",
                "EXPIRES",
                "REVOKED",
            ]);
            for token in tokens {
                let at = |time: Option<Time>| time.map_or("—".into(), |it| it.to_string());
                line([
                    &token.id,
                    &token.name,
                    token.role.as_str(),
                    token.owner.as_deref().unwrap_or("—"),
                    &token.created_at.to_string(),
                    &at(token.used_at),
                    &at(token.expires_at),
                    &at(token.revoked_at),
                ]);
            }
        }
        Command::Revoke { id_or_name, store } => {
            let store = store.open().await?;
            let known = store.live_tokens(&id_or_name).await?;
            let named = known
                .iter()
                .map(|it| serde_json::json!({"id": it.id, "name": it.name, "role": it.role}));
            let named: Vec<_> = named.take(audit_words::TOKENS_MAX).collect();
            match store.revoke_token(&id_or_name).await? {
                0 => {
                    return Err(format!(
                        "there is no live token {id_or_name:?}; see `step47 token list`"
                    )
                    .into());
                }
                n => {
                    let detail = serde_json::json!({
                        "token": id_or_name, "revoked": n, "tokens": named
                    });
                    let entry = audit::of(AuditKind::Access, super::HERE, "revoke_token", detail);
                    store.noted(entry).await;
                    say!("revoked {n}");
                }
            }
        }
    }
    Ok(())
}
