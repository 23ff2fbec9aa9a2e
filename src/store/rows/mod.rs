//! Rows as the store keeps them, one file per table, each with its statements beside its columns.

pub(super) mod announced;
pub(super) mod attempt;
pub(super) mod audited;
pub(super) mod decision;
pub(super) mod event;
mod glance;
pub(super) mod lease;
pub(super) mod log_line;
pub(super) mod reference;
pub(super) mod request;
pub(super) mod run;
pub(super) mod seen;
pub(super) mod session;
pub(super) mod signin_link;
pub(super) mod step;
pub(super) mod tag;
pub(super) mod term;
pub(super) mod token;
pub(super) mod user;

pub use announced::Announcements;
pub use attempt::{AttemptRow, StoredPartial};
pub use glance::Glance;
pub use log_line::{append_log, read_log};
pub(super) use run::run_columns;
pub use run::{Detail, NewRun, Opened, Prints, RunContent, RunParts, RunRow, StoredContent};
pub use step::{StepRow, StoredResult};
pub(super) use step::{notable_steps, step_columns, steps};

use serde::Serialize;

use super::seal;
use crate::domain::wire::json;

/// Canonical JSON text of anything that serialises.
pub fn text(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    String::from_utf8(json::canonical(&value)).unwrap_or_default()
}

pub use seal::sealed;

pub fn opt_text(value: Option<&impl Serialize>) -> Option<String> {
    value.map(text)
}
