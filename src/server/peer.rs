//! Where a request came from.

use axum::{extract::ConnectInfo, http::Extensions};
use std::net::{IpAddr, SocketAddr};

/// The address at the other end of a request's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

/// The address that a request came from, where the connection told it.
pub fn peer(extensions: &Extensions) -> Option<IpAddr> {
    let connected = || extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = extensions.get::<Peer>().map(|peer| peer.0);
    // An IPv4 address reads the same whichever way the listener is bound.
    peer.or_else(|| connected().map(|info| info.0.ip()))
        .map(|ip| ip.to_canonical())
}
