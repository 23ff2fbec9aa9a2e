//! The Rust SDK for agents: a few lines around the work, and a crash at step 47 doesn't redo steps 1–46.
//!
//! An agent is a function over a [`Session`]: a run that this worker holds. Each piece of work is a *step*, named
//! by a key that stays the same whenever the agent comes by. The work gives a *result*; a *fold* puts the result
//! into the agent's own state; both are committed together. When the agent starts again, after a crash or on
//! another machine, it runs the same function from the top: steps that are committed return what is recorded, and
//! the first one that is not is where the work goes on.
//!
//! ```no_run
//! use serde::{Deserialize, Serialize};
//! use step47::client::{Client, CreateRun, Error, Session};
//!
//! #[derive(Clone, Default, Serialize, Deserialize)]
//! struct Notes {
//!     summaries: Vec<String>,
//! }
//!
//! async fn read_papers(session: Session<Notes>) -> Result<usize, Error> {
//!     for paper in ["2401.00001", "2401.00002"] {
//!         session
//!             .step(format!("summarise:{paper}"), "summarise")
//!             .input(paper)
//!             .run(
//!                 |ctx| async move {
//!                     ctx.log("info", format!("reading {paper}")).await;
//!                     Ok(format!("{paper} says that …"))
//!                 },
//!                 |notes, summary| notes.summaries.push(summary.clone()),
//!             )
//!             .await?;
//!     }
//!     Ok(session.state().summaries.len())
//! }
//!
//! # async fn main_() -> Result<(), Error> {
//! let client = Client::new("http://127.0.0.1:3047", "the agent's token")?;
//! let run = CreateRun {
//!     id: Some("papers-2026-11".parse().expect("a run id")),
//!     ..CreateRun::new("paper-reader")
//! };
//! let session = client.open(run, "worker-1").await?;
//! session.settle(read_papers(session.clone()).await).await
//! # }
//! ```
//!
//! A [`Worker`] does the last lines for every run that is waiting for one. `examples/agent.rs` is a whole agent with
//! an effect, a check and a gate.
//!
//! **What the SDK promises.** A committed step's work is not called again. While the server is away, requests are
//! sent again, for as long as the lease lasts. When the lease is lost, the work's future is dropped at the point
//! where it waits and [`Error::LeaseLost`] is returned; what the work has spawned elsewhere it must stop itself. When
//! an operator pauses or cancels the run, or the process is asked to end, the run is released between two steps.

mod backoff;
mod begin;
mod calls;
mod commit;
#[cfg(feature = "ssr")]
mod console;
mod context;
mod error;
mod events;
mod fail;
mod gate;
mod heartbeat;
mod http;
mod lease;
mod lines;
mod open;
mod session;
mod settle;
mod sleep;
mod state;
mod step;
mod worker;

pub use context::StepCtx;
pub use error::{Error, StepError};
pub use events::Events;
pub use gate::{Answer, GateStep};
pub use http::Client;
pub use session::Session;
pub use state::State;
pub use step::Step;
pub use worker::{Worker, asked_to_end};

pub use crate::domain::{
    AgentError, DecisionKind, Effect, Gate, Kind, Recovery, Reference, RunId, Signal, Usage,
    nouns::run::OnCrash,
    wire::protocol::{CreateRun, LeaseRun, PlannedStep},
};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is locked here is always whole, also after a panic elsewhere.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
