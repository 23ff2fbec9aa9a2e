//! One Host: a request for a name that is not ours is refused. Otherwise a page elsewhere could let its own name
//! point at this server (DNS rebinding), and read here as if it came from here.

use axum::{
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use super::App;

/// The names that this server answers for.
#[derive(Debug, Clone)]
pub struct Hosts {
    listen: IpAddr,
    names: Arc<[String]>,
}

impl Hosts {
    /// The host of the public URL and these names, beside the address that is listened on and this machine's own.
    pub fn new(listen: SocketAddr, public_url: Option<&str>, more: &[String]) -> Self {
        let public = public_url.and_then(|url| url.split_once("://"));
        let names = public.map(|(_, host)| host).into_iter();
        let names = names.chain(more.iter().map(String::as_str)).map(bare);
        Self {
            listen: listen.ip(),
            names: names.collect(),
        }
    }

    fn admits(&self, host: &str) -> bool {
        let name = bare(host);
        if let Ok(address) = name.parse::<IpAddr>() {
            let address = address.to_canonical();
            // An address, unlike a name, cannot be made to point elsewhere.
            let listened = self.listen.is_unspecified() || self.listen.to_canonical() == address;
            return address.is_loopback() || listened || self.names.contains(&name);
        }
        name == "localhost" || name.ends_with(".localhost") || self.names.contains(&name)
    }
}

/// The name alone: without port and brackets, in small letters.
fn bare(host: &str) -> String {
    let host = host.trim();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => match host.rsplit_once(':') {
            // More than one colon is an address without brackets.
            Some((name, _)) if !name.contains(':') => name,
            _ => host,
        },
    };
    name.trim_end_matches(['.', '/']).to_ascii_lowercase()
}

/// Health checks may use any address of the machine, and their answer tells nothing.
fn exempt(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

pub async fn only_ours(State(app): State<App>, request: Request, next: Next) -> Response {
    let named = request.headers().get(header::HOST);
    let named = match named {
        Some(host) => host.to_str().ok().map(str::to_owned),
        // HTTP/2 names it in the address; a client that names none is no browser.
        None => Some(
            request
                .uri()
                .authority()
                .map_or("localhost", |it| it.as_str())
                .to_owned(),
        ),
    };
    let ours = named.as_deref().is_some_and(|host| app.hosts.admits(host));
    if ours || exempt(request.uri().path()) {
        return next.run(request).await;
    }
    let shown: String = named.unwrap_or_default().chars().take(100).collect();
    let told = format!(
        "This server does not answer for the host {shown:?}. Its owner names the hosts: --public-url URL, or `hosts` \
         in the section [step47] of Leptos.toml.\n"
    );
    (StatusCode::MISDIRECTED_REQUEST, told).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listen: &str, public: Option<&str>) -> Hosts {
        let more = ["step47.internal".to_owned()];
        Hosts::new(listen.parse().unwrap(), public, &more)
    }

    #[test]
    fn only_our_own_names_are_answered_for() {
        let here = hosts("127.0.0.1:3047", None);
        for own in [
            "127.0.0.1:3047",
            "127.0.0.1",
            "localhost:8080",
            "LOCALHOST.",
            "[::1]:3047",
            "step47.internal:3047",
        ] {
            assert!(here.admits(own), "{own}");
        }
        for other in [
            "evil.example:3047",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "10.0.0.1:3047",
            "",
            "step47.example",
        ] {
            assert!(!here.admits(other), "{other}");
        }
        let public = hosts("10.0.0.1:3047", Some("https://step47.example:8443"));
        for own in [
            "step47.example",
            "Step47.Example:8443",
            "10.0.0.1:3047",
            "127.0.0.1",
        ] {
            assert!(public.admits(own), "{own}");
        }
        for other in ["evil.example", "a.step47.example", "10.0.0.2"] {
            assert!(!public.admits(other), "{other}");
        }
        assert!(hosts("0.0.0.0:3047", None).admits("10.0.0.2:3047"));
        assert!(!hosts("0.0.0.0:3047", None).admits("evil.example"));
    }
}
