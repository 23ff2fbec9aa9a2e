//! Who is at the other end of a connection, as an address.

use axum::http::HeaderMap;
use std::net::{IpAddr, Ipv6Addr};

/// The address that a request came from; every request that came over a connection carries it as an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// Behind a TLS proxy the connection is the proxy's, and the proxy names its own client last in `X-Forwarded-For`.
    /// Whatever stands before was sent by that client and proves nothing. Without a proxy the header proves nothing.
    pub fn of(connected: IpAddr, headers: &HeaderMap, behind_tls: bool) -> Self {
        let named = || {
            let last = headers.get_all("x-forwarded-for").into_iter().next_back()?;
            address(last.to_str().ok()?.rsplit(',').next()?.trim())
        };
        let forwarded = behind_tls.then(named).flatten();
        Self(forwarded.unwrap_or(connected).to_canonical())
    }

    /// What limits count: one address, or the /64 that one IPv6 host is free to choose its addresses from.
    pub fn neighbourhood(self) -> IpAddr {
        match self.0.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        }
    }
}

/// Some proxies add the port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| {
        let with_port: std::net::SocketAddr = text.parse().ok()?;
        Some(with_port.ip())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(forwarded: &[&'static str], behind_tls: bool) -> String {
        let headers = forwarded.iter().map(|value| {
            let name = axum::http::HeaderName::from_static("x-forwarded-for");
            (name, axum::http::HeaderValue::from_static(value))
        });
        let connected = "10.0.0.1".parse().unwrap();
        Peer::of(connected, &headers.collect(), behind_tls)
            .0
            .to_string()
    }

    #[test]
    fn the_proxys_word_counts_only_behind_a_proxy_and_only_its_last() {
        assert_eq!(peer(&["203.0.113.9"], false), "10.0.0.1");
        assert_eq!(peer(&[], true), "10.0.0.1");
        assert_eq!(peer(&["6.6.6.6, 203.0.113.9"], true), "203.0.113.9");
        assert_eq!(peer(&["6.6.6.6", "203.0.113.9"], true), "203.0.113.9");
        assert_eq!(peer(&["203.0.113.9:4711"], true), "203.0.113.9");
        assert_eq!(peer(&["[2001:db8::1]:4711"], true), "2001:db8::1");
        assert_eq!(peer(&["[2001:db8::1]"], true), "2001:db8::1");
        assert_eq!(peer(&["::ffff:203.0.113.9"], true), "203.0.113.9");
        assert_eq!(peer(&["6.6.6.6, nonsense"], true), "10.0.0.1");
    }

    #[test]
    fn one_host_does_not_count_as_many_by_its_choice_of_addresses() {
        let near = |text: &str| Peer(text.parse().unwrap()).neighbourhood();
        assert_eq!(near("2001:db8:1:2:3::4"), near("2001:db8:1:2:ffff::1"));
        assert_ne!(near("2001:db8:1:2::1"), near("2001:db8:1:3::1"));
        assert_ne!(near("10.0.0.1"), near("10.0.0.2"));
    }
}
