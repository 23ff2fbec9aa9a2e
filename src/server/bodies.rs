//! Bodies on their way in: what they hold counts against one budget, and none may take for ever.
//!
//! A body counts from its first byte until its request is answered, because it is kept, parsed and worked on until
//! then. When the budget is used up, the rest of the body is read and thrown away, and its sender hears `busy`.

use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use hyper::body::{Frame, SizeHint};
use std::{
    future::Future as _,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
};
use tokio::time::{Duration, Instant, Sleep, sleep_until};

use super::{
    App,
    config::Limits,
    peer::Peer,
    problem::Refusal,
    seats::{Naming, Seat, Seats, identity},
};
use crate::domain::{Code, Problem, nouns::access::Principal};

/// This much of a body gives it one second more.
const PACE: u64 = 256 << 10;
/// Counted for each value of a long body, beside its bytes. The largest body with the most values then fits into one
/// holder's share of the default budget, once.
const VALUE: usize = 64;
/// A sender that was refused and pauses this long is not waited for: it reads the answer, or is gone.
const DRAIN: Duration = Duration::from_secs(1);

/// The budget that all bodies share.
pub fn budget(limits: &Limits) -> Seats<String> {
    let naming = Naming {
        what: "bytes of requests under way",
        all: "connections.body_budget",
        each: "half of connections.body_budget",
    };
    Seats::new(limits.connections.bodies(limits.body_max), naming)
}

/// Counts and times the body of a request. Runs behind `authorise`: it must know who asks.
pub async fn meter(State(app): State<App>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let who = request.extensions().get::<Option<Principal>>();
    let who = who.and_then(|who| who.as_ref());
    let holder = match (who, request.extensions().get::<Peer>()) {
        (None, Some(peer)) => format!("nobody {}", peer.neighbourhood()),
        (who, _) => identity(who),
    };
    let (body_max, connections) = (app.limits.body_max, &app.limits.connections);
    let tally = Tally(Arc::new(Mutex::new(Count {
        seat: app.bodies.none(holder),
        values: connections.bodies(body_max).each - body_max,
        refused: None,
    })));
    let time = connections.body();
    let mut request = request;
    request.extensions_mut().insert(tally.clone());
    let metered = request.map(|body| Body::new(Metered::new(body, tally.clone(), body_max, time)));
    let response = next.run(metered).await;
    // The handler saw a body that broke off and answered so. The reason known here is sent instead.
    match tally.lock().refused.take() {
        Some(problem) => Refusal(problem).into_response(),
        None => response,
    }
}

/// What a body holds; given back when the request is answered.
#[derive(Clone)]
pub struct Tally(Arc<Mutex<Count>>);

struct Count {
    seat: Seat<String>,
    /// What its values count at most, so that the largest body that is allowed fits under a small budget, too.
    values: usize,
    refused: Option<Problem>,
}

impl Tally {
    /// What its values will take beside its bytes; given back with them.
    pub fn holds(&self, values: usize) -> Result<(), Problem> {
        let mut count = self.lock();
        let values = (values * VALUE).min(count.values);
        let held = count.seat.more(values);
        held.map_err(|full| count.seat.problem(full))
    }

    fn lock(&self) -> MutexGuard<'_, Count> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }
}

struct Metered {
    body: Body,
    tally: Tally,
    /// Readers keep nothing of a body that is larger than this.
    body_max: usize,
    began: Instant,
    time: Duration,
    seen: u64,
    refused: bool,
    timer: Pin<Box<Sleep>>,
}

impl Metered {
    fn new(body: Body, tally: Tally, body_max: usize, time: Duration) -> Self {
        let began = Instant::now();
        Self {
            body,
            tally,
            body_max,
            began,
            time,
            seen: 0,
            refused: false,
            timer: Box::pin(sleep_until(began + time)),
        }
    }

    fn deadline(&self) -> Instant {
        let end = self.began + self.time + Duration::from_secs(self.seen / PACE);
        match self.refused {
            true => end.min(Instant::now() + DRAIN),
            false => end,
        }
    }

    /// Counts what came; what does not fit is refused, together with all before.
    fn count(&mut self, bytes: usize) {
        self.seen += bytes as u64;
        let mut count = self.tally.lock();
        if self.seen > self.body_max as u64 {
            return count.seat.give_back();
        }
        if let Err(full) = count.seat.more(bytes) {
            count.seat.give_back();
            count.refused = Some(count.seat.problem(full));
            drop(count);
            self.refused = true;
            metrics::counter!("step47_bodies_refused_total", "why" => "budget").increment(1);
        }
    }

    fn late(&mut self) -> axum::Error {
        let mut count = self.tally.lock();
        count.seat.give_back();
        if count.refused.is_none() {
            let detail = format!(
                "the body took longer than {} ms (connections.body_ms): send it again, faster or in smaller parts",
                self.time.as_millis()
            );
            count.refused = Some(Problem::new(Code::Busy, detail));
            metrics::counter!("step47_bodies_refused_total", "why" => "slow").increment(1);
        }
        broken_off()
    }
}

fn broken_off() -> axum::Error {
    axum::Error::new(std::io::Error::from(std::io::ErrorKind::TimedOut))
}

impl hyper::body::Body for Metered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        loop {
            let frame = match Pin::new(&mut this.body).poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending => {
                    return match this.timer.as_mut().poll(cx) {
                        Poll::Ready(()) => Poll::Ready(Some(Err(this.late()))),
                        Poll::Pending => Poll::Pending,
                    };
                }
            };
            if let Some(Ok(frame)) = &frame
                && let Some(data) = frame.data_ref()
                && !this.refused
            {
                this.count(data.len());
            }
            // A sender that drips bytes is late, too: the deadline is checked after each of them.
            let deadline = this.deadline();
            if deadline <= Instant::now() {
                return Poll::Ready(Some(Err(this.late())));
            }
            this.timer.as_mut().reset(deadline);
            match (this.refused, frame) {
                (false, frame) => return Poll::Ready(frame),
                // Thrown away, so that the sender gets to the point where it reads the answer.
                (true, Some(Ok(_))) => {}
                (true, _) => return Poll::Ready(Some(Err(broken_off()))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
