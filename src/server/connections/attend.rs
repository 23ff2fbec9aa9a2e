//! Serves one connection to its end: until the client hangs up, is late, or the server stops.

use hyper::server::conn::http1::Connection;
use hyper_util::rt::TokioIo;
use std::{
    future::{Future as _, poll_fn},
    pin::pin,
    task::Poll,
};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{line::Line, pulse::Pulse, service::Asked};
use crate::server::config::Connections;

/// Everything that changes the deadline happens while the connection is polled, so it is enough to look afterwards.
pub async fn attend(
    connection: Connection<TokioIo<Line>, Asked>,
    pulse: Pulse,
    settings: Connections,
    stop: CancellationToken,
) {
    let mut connection = pin!(connection);
    let mut timer = pin!(sleep_until(Instant::now()));
    let mut stopped = pin!(stop.cancelled());
    let (mut stopping, mut last) = (false, false);
    let late = poll_fn(|cx| {
        if !stopping && stopped.as_mut().poll(cx).is_ready() {
            stopping = true;
            pulse.stop();
        }
        // An error is the client's: it hung up or sent no HTTP, and hyper has answered that.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        if stopping && !last && pulse.is_busy() {
            // The answer under way will carry `Connection: close`.
            last = true;
            connection.as_mut().graceful_shutdown();
        }
        let Some((deadline, late)) = pulse.deadline(&settings) else {
            return Poll::Pending;
        };
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).map(|()| Some(late))
    })
    .await;
    if let Some(late) = late {
        let why = late.as_str();
        metrics::counter!("step47_connections_cut_total", "why" => why).increment(1);
        tracing::debug!(why, "a connection is closed");
    }
}
