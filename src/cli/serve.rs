//! `step47 serve`: the server.

use std::{path::PathBuf, pin::pin};

use super::Failure;
use crate::{
    domain::Role,
    server::{
        self,
        config::{Config, Given, redacted},
    },
};

/// Run the server: the agent API, the console and the reaper.
///
/// The first start makes the store and prints a sign-in link for an admin.
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
    /// How people reach this server, for the links it prints
    #[arg(long, env = "STEP47_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
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
        config,
    } = args;
    let config = Config::load(Given {
        store,
        listen,
        behind_tls,
        public_url,
        config,
    })?;
    let (store, public_url) = (redacted(&config.store), config.public_url.clone());
    // Before the start, so that a signal is heard from the first moment on.
    let mut stopped = pin!(stopped());
    let server = tokio::select! {
        biased;
        () = &mut stopped => return Ok(()),
        server = server::start(config) => server?,
    };
    let url = public_url.unwrap_or_else(|| format!("http://{}", server.addr));
    tracing::info!(%store, addr = %server.addr, "serving");
    println!("listening on http://{}", server.addr);
    if !server.store.knows_anybody().await? {
        let link = server.store.add_user("admin", Role::Admin).await?;
        println!("sign in: {url}/signin?token={link}");
    }
    stopped.await;
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
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
