//! Takes connections and serves each of them, within bounds on their number, their memory and their time.
//!
//! All connections share one router. A connection that says nothing costs one task, a buffer of 8 KiB and a timer.

mod attend;
mod line;
mod pulse;
mod service;

use axum::Router;
use futures::FutureExt as _;
use std::{net::SocketAddr, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use self::{attend::attend, line::Line, pulse::Pulse, service::Asked};
use super::{
    config::Connections,
    peer::Peer,
    seats::{Bounds, Naming, Seats},
};

/// A request's head; also what one read of a body may bring.
const BUFFER: usize = 64 << 10;
/// The system has no file descriptor left, as a rule: others must close first.
const PAUSE: Duration = Duration::from_millis(100);
/// The answer to a connection over the limit; its request is not read.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n\
    content-type: application/problem+json\r\ncontent-length: 113\r\n\r\n\
    {\"code\":\"busy\",\"title\":\"busy\",\"status\":503,\"detail\":\"too many connections: close some, or try again in a moment\"}";

/// Serves until stopped; then answers what is under way, and gives up what is left at the deadline.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    (settings, behind_tls): (Connections, bool),
    // How many are open is told under this name.
    gauge: &'static str,
    stop: CancellationToken,
) {
    let naming = Naming {
        what: "connections",
        all: "connections.max",
        each: "connections.per_peer",
    };
    let bounds = Bounds {
        all: settings.max,
        each: settings.per_peer,
    };
    let mut house = House {
        // Makes the routes once; a clone is a pointer then.
        router: router.with_state(()),
        seats: Seats::new(bounds, naming),
        settings,
        behind_tls,
        gauge,
        stop: stop.clone(),
        open: JoinSet::new(),
    };
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => house.welcome(stream, from),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    sleep(PAUSE).await;
                }
            },
            // A connection that panicked: the panic was logged where it happened.
            Some(_) = house.open.join_next() => house.count(),
            () = stop.cancelled() => break,
        }
    }
    // The kernel has accepted these connections already, most with a request: they are served before the server stops.
    while let Some(Ok((stream, from))) = listener.accept().now_or_never() {
        house.welcome(stream, from);
    }
    drop(listener);
    house.close().await;
}

/// The open connections, and what each of them needs.
struct House {
    router: Router,
    seats: Seats<std::net::IpAddr>,
    settings: Connections,
    behind_tls: bool,
    gauge: &'static str,
    stop: CancellationToken,
    open: JoinSet<()>,
}

impl House {
    fn welcome(&mut self, stream: TcpStream, from: SocketAddr) {
        let peer = Peer(from.ip().to_canonical());
        let seat = match self.seats.take(peer.neighbourhood()) {
            Ok(seat) => seat,
            Err(full) => {
                metrics::counter!("step47_connections_refused_total").increment(1);
                tracing::debug!(%from, ?full, "a connection too many");
                // The client may be gone: whether the refusal reaches it does not matter.
                let _ = stream.try_write(FULL);
                return;
            }
        };
        // Small answers and frames leave at once; without it they only leave later.
        let _ = stream.set_nodelay(true);
        let pulse = Pulse::new();
        let asked = Asked::new(self.router.clone(), peer, self.behind_tls, pulse.clone());
        let line = Line::new(stream, pulse.clone());
        let connection = hyper::server::conn::http1::Builder::new()
            .max_buf_size(BUFFER)
            // `attend` keeps the time: it tells a slow head from a quiet connection.
            .header_read_timeout(None)
            .serve_connection(hyper_util::rt::TokioIo::new(line), asked);
        let (settings, stop) = (self.settings, self.stop.clone());
        self.open.spawn(async move {
            attend(connection, pulse, settings, stop).await;
            drop(seat);
        });
        self.count();
    }

    fn count(&self) {
        metrics::gauge!(self.gauge).set(self.open.len() as f64);
    }

    async fn close(mut self) {
        let all = async { while self.open.join_next().await.is_some() {} };
        if timeout(self.settings.shutdown(), all).await.is_err() {
            tracing::warn!(
                connections = self.open.len(),
                "the deadline (connections.shutdown_ms) is over: what is under way is given up"
            );
            self.open.shutdown().await;
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_connection_too_many_is_told_in_whole_http() {
        let text = std::str::from_utf8(super::FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}", body.len())),
            "{head}: {}",
            body.len()
        );
        let problem: crate::domain::Problem = serde_json::from_str(body).unwrap();
        assert_eq!(
            (problem.code, problem.status),
            (crate::domain::Code::Busy, 503)
        );
    }
}
