//! Where a command looks and acts: at a server, by its API, or at a store, by itself. One choice for all commands that
//! read or decide, so that what was read is what is decided about.

mod asks;
mod follow;

use std::{env, fmt, time::Duration};

use super::Failure;
use crate::{
    client::Client,
    domain::wire::protocol::STATE_MAX,
    server::config::{Config, redacted},
    store::Store,
};

/// How long a server may be away before a command gives up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which server, and as whom; or which store.
///
/// The environment is read below and not by clap, for which a variable that is set would contradict a flag.
#[derive(Debug, Clone, clap::Args)]
pub struct SourceArgs {
    /// The server to ask, such as http://127.0.0.1:3047 [env: STEP47_URL]
    #[arg(long, alias = "server", value_name = "URL", value_parser = server_url, conflicts_with = "store")]
    url: Option<String>,

    /// A token for that server, from `step47 token create`; to decide it takes the role operator [env: STEP47_TOKEN]
    #[arg(long, value_name = "TOKEN", conflicts_with = "store")]
    token: Option<String>,

    /// A store to open instead of asking a server: sqlite:FILE or postgres://USER@HOST/DATABASE
    ///
    /// Without --url and --store, STEP47_URL counts, then STEP47_STORE, then `store` in Leptos.toml, then
    /// sqlite:step47.db. What is decided on a store itself is kept as decided by "command line".
    /// [env: STEP47_STORE]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
}

/// A server to ask, or an open store.
pub enum Source {
    Server { client: Client, url: String },
    Store { store: Store, url: String },
}

/// As a sentence ends with it: "No runs on http://127.0.0.1:3047", "No runs in sqlite:step47.db".
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { url, .. } => write!(f, "on {url}"),
            Self::Store { url, .. } => write!(f, "in {}", redacted(url)),
        }
    }
}

impl SourceArgs {
    pub async fn open(&self) -> Result<Source, Failure> {
        let url = match (&self.url, &self.store) {
            (None, None) => told("STEP47_URL")
                .map(|url| server_url(&url).map_err(|why| format!("STEP47_URL {why}")))
                .transpose()?,
            (url, _) => url.clone(),
        };
        let Some(url) = url else {
            return self.store().await;
        };
        let token = self.token.clone().or_else(|| told("STEP47_TOKEN"));
        let token = token.ok_or_else(|| {
            format!(
                "{url} wants a token: give --token or set STEP47_TOKEN; `step47 token create --role operator --name \
                 NAME` makes one"
            )
        })?;
        let client = Client::new(&url, &token)?.patience(PATIENCE);
        Ok(Source::Server { client, url })
    }

    async fn store(&self) -> Result<Source, Failure> {
        if self.token.is_some() {
            return Err(
                "--token is for a server, and none is named: add --url or set STEP47_URL".into(),
            );
        }
        let url = Config::store_url(self.store.clone().or_else(|| told("STEP47_STORE")))?;
        let elsewhere = ", or a server with --url URL or STEP47_URL";
        let store = existing(&url, elsewhere).await?;
        ready(&store, &url).await?;
        Ok(Source::Store { store, url })
    }
}

/// What the environment says, if it says anything.
fn told(name: &str) -> Option<String> {
    env::var(name).ok().filter(|it| !it.is_empty())
}

fn server_url(text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is no server's URL: use one like http://127.0.0.1:3047");
    let url: reqwest::Url = text.parse().map_err(|_| wrong())?;
    if !url.username().is_empty() || url.password().is_some() {
        // It would be shown with every message.
        return Err("must hold no name and no password: use --token or STEP47_TOKEN".into());
    }
    match url.scheme() {
        "http" | "https" => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err(wrong()),
    }
}

/// Opens a store that is there, as it is: a command that reads makes none. `elsewhere` says where else to look.
pub async fn existing(url: &str, elsewhere: &str) -> Result<Store, Failure> {
    if let Some(file) = Store::missing(url)? {
        return Err(format!(
            "there is no store {}: name one with --store sqlite:FILE or STEP47_STORE{elsewhere}; `step47 serve` makes \
             a new one",
            std::path::absolute(&file).unwrap_or(file).display()
        )
        .into());
    }
    Ok(Store::connect(url, STATE_MAX).await?)
}

/// The store has the schema that this version reads.
pub async fn ready(store: &Store, url: &str) -> Result<(), Failure> {
    let why = match store.ready().await {
        Ok(true) => return Ok(()),
        Ok(false) => "its schema is older".to_owned(),
        Err(error) => error.to_string(),
    };
    let place = redacted(url);
    Err(
        format!("{place} is not ready for this version ({why}): run `step47 migrate` on it first")
            .into(),
    )
}
