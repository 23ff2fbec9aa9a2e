//! Settings: a flag wins over the environment (`STEP47_*`), that over `Leptos.toml`, that over the default.

mod network;

pub use network::{Connections, Places};

use leptos::config::{LeptosOptions, get_configuration};
use serde::Deserialize;
use std::{
    net::{SocketAddr, ToSocketAddrs},
    path::{Path, PathBuf},
};

pub use crate::store::redacted;
use crate::{domain::nouns::lifetime::Lifetime, store::access::SESSION_IDLE};

/// Bytes of one request's body.
pub const BODY_MAX: usize = 32 << 20;
/// Pages that may follow live on one server.
const VIEWERS_MAX: usize = 2_000;

/// The section `[step47]` of `Leptos.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    store: Option<String>,
    listen: Option<String>,
    behind_tls: Option<bool>,
    public_url: Option<String>,
    body_max: Option<usize>,
    state_max: Option<usize>,
    values_max: Option<usize>,
    viewers_max: Option<usize>,
    metrics_public: Option<bool>,
    metrics_addr: Option<String>,
    session_idle: Option<Lifetime>,
    hosts: Vec<String>,
    connections: Connections,
    seats: Places,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub body_max: usize,
    pub state_max: usize,
    /// JSON values in one body, and in one state.
    pub values_max: usize,
    pub viewers_max: usize,
    pub connections: Connections,
    pub seats: Places,
}

/// What flags and environment said; what is absent comes from the file.
#[derive(Debug, Default, Clone)]
pub struct Given {
    pub store: Option<String>,
    pub listen: Option<String>,
    pub behind_tls: bool,
    pub public_url: Option<String>,
    pub metrics_addr: Option<String>,
    pub session_idle: Option<Lifetime>,
    pub config: Option<PathBuf>,
}

#[derive(Clone)]
pub struct Config {
    pub store: String,
    pub listen: SocketAddr,
    pub behind_tls: bool,
    /// How people reach this server, where that is not the address it listens on.
    pub public_url: Option<String>,
    /// More names that this server answers for, beside the public URL's and this machine's own.
    pub hosts: Vec<String>,
    pub limits: Limits,
    /// Everybody may read `/metrics`; otherwise it takes a token of any role.
    pub metrics_public: bool,
    /// A listener for `/metrics` alone, open to who reaches it; the other one asks for a token then.
    pub metrics_addr: Option<SocketAddr>,
    /// A session that nothing was heard of for so long is over.
    pub session_idle: Lifetime,
    pub leptos: LeptosOptions,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("store", &redacted(&self.store))
            .field("listen", &self.listen)
            .field("behind_tls", &self.behind_tls)
            .finish_non_exhaustive()
    }
}

fn address(setting: &str, text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().ok();
    let wrong = || format!("{setting}: {text:?} is no address; use HOST:PORT, e.g. 127.0.0.1:3047");
    found.and_then(|mut all| all.next()).ok_or_else(wrong)
}

/// The public URL as scheme, host and port; links are made by what follows.
fn place(url: &str) -> Result<String, String> {
    let wrong = || format!("public_url: {url:?} must be like https://step47.example");
    let uri: http::Uri = url.parse().map_err(|_| wrong())?;
    match (uri.scheme_str(), uri.authority(), uri.path()) {
        (Some(scheme @ ("http" | "https")), Some(host), "" | "/") if uri.query().is_none() => {
            Ok(format!("{scheme}://{host}"))
        }
        _ => Err(wrong()),
    }
}

impl Config {
    pub fn load(given: Given) -> Result<Self, String> {
        let path = given
            .config
            .clone()
            .unwrap_or_else(|| PathBuf::from("Leptos.toml"));
        let file = read(&path, given.config.is_some())?;
        let leptos = match path.is_file() {
            true => {
                get_configuration(path.to_str())
                    .map_err(|e| format!("{}: {e}", path.display()))?
                    .leptos_options
            }
            false => LeptosOptions::builder()
                .output_name("step47")
                .site_root("target/site")
                .build(),
        };
        let mut leptos = leptos;
        if let Ok(root) = std::env::var("LEPTOS_SITE_ROOT") {
            leptos.site_root = root.into();
        }
        let listen = given
            .listen
            .or(file.listen)
            .unwrap_or_else(|| leptos.site_addr.to_string());
        let listen = address("listen", &listen)?;
        let metrics_addr = given.metrics_addr.or(file.metrics_addr);
        let metrics_addr = metrics_addr.map(|it| address("metrics_addr", &it));
        let behind_tls = given.behind_tls || file.behind_tls.unwrap_or(false);
        if !listen.ip().is_loopback() && !behind_tls {
            return Err(format!(
                "{listen} can be reached from outside, and tokens would travel in clear text.\n\
                 Put a TLS proxy in front and say so with --behind-tls, or listen on 127.0.0.1."
            ));
        }
        leptos.site_addr = listen;
        let public_url = given.public_url.or(file.public_url);
        let public_url = public_url.as_deref().map(place).transpose()?;
        let body_max = file.body_max.unwrap_or(BODY_MAX);
        file.connections.check(body_max)?;
        Ok(Self {
            store: given
                .store
                .or(file.store)
                .unwrap_or_else(|| "sqlite:step47.db".into()),
            listen,
            behind_tls,
            public_url,
            hosts: file.hosts,
            limits: Limits {
                body_max,
                state_max: file
                    .state_max
                    .unwrap_or(crate::domain::wire::protocol::STATE_MAX),
                values_max: file
                    .values_max
                    .unwrap_or(crate::domain::wire::protocol::VALUES_MAX),
                viewers_max: file.viewers_max.unwrap_or(VIEWERS_MAX),
                connections: file.connections,
                seats: file.seats,
            },
            metrics_public: file.metrics_public.unwrap_or(true),
            metrics_addr: metrics_addr.transpose()?,
            session_idle: given
                .session_idle
                .or(file.session_idle)
                .unwrap_or(SESSION_IDLE),
            leptos,
        })
    }

    /// The store alone, for commands that need nothing else.
    pub fn store_url(flag: Option<String>) -> Result<String, String> {
        let file = read(Path::new("Leptos.toml"), false)?;
        Ok(flag
            .or(file.store)
            .unwrap_or_else(|| "sqlite:step47.db".into()))
    }
}

fn read(path: &Path, wanted: bool) -> Result<File, String> {
    #[derive(Deserialize, Default)]
    struct Sections {
        #[serde(default)]
        step47: File,
    }
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str::<Sections>(&text)
            .map(|sections| sections.step47)
            .map_err(|e| format!("{}: {e}", path.display())),
        Err(_) if !wanted => Ok(File::default()),
        Err(e) => Err(format!("{}: {e}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_beyond_loopback_is_refused_unless_tls_is_in_front() {
        let given = |tls| Given {
            listen: Some("0.0.0.0:3047".into()),
            behind_tls: tls,
            ..Given::default()
        };
        assert!(
            Config::load(given(false))
                .unwrap_err()
                .contains("--behind-tls")
        );
        assert!(Config::load(given(true)).is_ok());
    }

    #[test]
    fn a_public_url_is_a_place_and_no_more() {
        assert_eq!(
            place("https://a.example/").as_deref(),
            Ok("https://a.example")
        );
        assert_eq!(place("http://a:8080").as_deref(), Ok("http://a:8080"));
        for wrong in [
            "a.example",
            "ftp://a",
            "https://a/step47",
            "https://",
            "https://a/?x",
        ] {
            assert!(place(wrong).unwrap_err().contains("public_url"), "{wrong}");
        }
    }
}
