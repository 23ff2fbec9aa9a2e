//! `step47 serve`: the server.

pub mod first_link;

use std::{path::PathBuf, pin::pin};

use super::{Failure, say::tell};
use crate::{
    domain::{
        Role,
        nouns::{audit::AuditKind, lifetime::Lifetime},
    },
    server::{
        self,
        config::{Config, Given, redacted},
    },
    store::{Store, audit},
};

/// Whom the first start lets in.
const FIRST: &str = "admin";

/// Run the server: the agent API, the console and the reaper.
///
/// The first start makes the store and a sign-in link for an admin: on a terminal it is shown, elsewhere it is
/// written to a file of mode 0600 that the log names.
#[derive(clap::Args)]
pub struct Args {
    /// sqlite:FILE or postgres://USER@HOST/DATABASE [default: sqlite:step47.db]
    #[arg(long, env = "STEP47_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,
    /// Where to listen; port 0 picks a free one [default: 127.0.0.1:3047]
    #[arg(long, env = "STEP47_LISTEN", value_name = "HOST:PORT")]
    listen: Option<String>,
    /// A TLS proxy is in front: allows addresses beyond loopback and marks cookies Secure
    #[arg(long, env = "STEP47_BEHIND_TLS")]
    behind_tls: bool,
    /// How people reach this server: for the links it prints, and the one host it answers for
    #[arg(long, env = "STEP47_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// A listener for /metrics alone, open to whoever reaches it; on the other one /metrics asks for a token then
    #[arg(long, env = "STEP47_METRICS_ADDR", value_name = "HOST:PORT")]
    metrics_addr: Option<String>,
    /// A session that is not used for so long is over: 12h, 45m, … [default: 12h]
    #[arg(long, env = "STEP47_SESSION_IDLE", value_name = "SPAN")]
    session_idle: Option<Lifetime>,
    /// Where settings are read from [default: ./Leptos.toml, if it is there]
    #[arg(long, env = "STEP47_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let Args {
        store,
        listen,
        behind_tls,
        public_url,
        metrics_addr,
        session_idle,
        config,
    } = args;
    let config = Config::load(Given {
        store,
        listen,
        behind_tls,
        public_url,
        metrics_addr,
        session_idle,
        config,
    })?;
    let (url, public_url) = (config.store.clone(), config.public_url.clone());
    // Before the start, so that a signal is heard from the first moment on.
    let mut stopped = pin!(stopped());
    let server = tokio::select! {
        biased;
        () = &mut stopped => return Ok(()),
        server = server::start(config) => server?,
    };
    let place = public_url.unwrap_or_else(|| format!("http://{}", server.addr));
    tracing::info!(store = redacted(&url), addr = %server.addr, "serving");
    // Before anybody hears of this server: whoever reads the address finds the first admin made.
    let link = match server.store.knows_anybody().await? {
        true => None,
        false => Some(first_admin(&server.store).await?),
    };
    if let Some(addr) = server.metrics {
        tell!("metrics on http://{addr}/metrics");
    }
    tell!("listening on http://{}", server.addr);
    if let Some(link) = link {
        first_link::hand_over(&format!("{place}/signin?token={link}"), &url);
    }
    stopped.await;
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
}

/// Lets the first admin in; answers the secret of a sign-in link.
async fn first_admin(store: &Store) -> Result<String, Failure> {
    let link = store.add_user(FIRST, Role::Admin).await?;
    let detail = serde_json::json!({"name": FIRST, "role": Role::Admin, "first": true});
    let entry = audit::of(AuditKind::Access, "server", "add_user", detail);
    store.noted(entry).await;
    Ok(link)
}

/// Waits for Ctrl-C or SIGTERM.
async fn stopped() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
