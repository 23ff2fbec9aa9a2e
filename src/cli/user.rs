//! `step47 user`: the people who may sign in.

use super::{Failure, StoreArgs, say::say};
use crate::{
    domain::{Role, nouns::audit::AuditKind},
    store::audit,
};

/// Add, list and disable people.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Add a person, or let one in again, and print a personal one-time sign-in link (valid for 24 hours)
    Add {
        name: String,
        /// viewer: reads · operator: reads and decisions · admin: all
        #[arg(long)]
        role: Role,
        /// Where people reach the server
        #[arg(
            long,
            env = "STEP47_PUBLIC_URL",
            default_value = "http://127.0.0.1:3047",
            value_name = "URL"
        )]
        public_url: String,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List people
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Disable a person: their sessions and tokens end, their links no longer open
    Disable {
        name: String,
        #[command(flatten)]
        store: StoreArgs,
    },
}

pub async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Add {
            name,
            role,
            public_url,
            store,
        } => {
            let store = store.open().await?;
            let link = store.add_user(&name, role).await?;
            let detail = serde_json::json!({"name": name, "role": role});
            let entry = audit::of(AuditKind::Access, super::HERE, "add_user", detail);
            store.noted(entry).await;
            say!("{}/signin?token={link}", public_url.trim_end_matches('/'));
        }
        Command::List { json, store } => {
            let users = store.existing().await?.users().await?;
            if json {
                say!("{}", serde_json::to_string_pretty(&users)?);
                return Ok(());
            }
            say!("{:<24}{:<10}{:<29}DISABLED", "NAME", "ROLE", "CREATED");
            for user in users {
                let disabled = user.disabled_at.map_or("—".into(), |at| at.to_string());
                say!(
                    "{:<24}{:<10}{:<29}{disabled}",
                    user.name,
                    user.role.as_str(),
                    user.created_at.to_string()
                );
            }
        }
        Command::Disable { name, store } => {
            let store = store.open().await?;
            match store.disable_user(&name, None).await? {
                true => {
                    let detail = serde_json::json!({"name": name});
                    let entry = audit::of(AuditKind::Access, super::HERE, "disable_user", detail);
                    store.noted(entry).await;
                    say!("{name} is disabled");
                }
                false => {
                    return Err(
                        format!("there is no {name:?} to disable; see `step47 user list`").into(),
                    );
                }
            }
        }
    }
    Ok(())
}
