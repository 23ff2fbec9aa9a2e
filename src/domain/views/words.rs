//! How runs, times and amounts are said in words: the same on every screen and in the command line.

mod amounts;
mod decisions;
mod headlines;
mod statuses;
mod times;
mod workers;

pub use amounts::{cost, count, number, several, size, state_change};
pub use decisions::{answer, approve, decided, did, rewound, you_decided};
pub use headlines::{headline, headline_after, now_at};
pub use statuses::{DAMAGED, SUPERSEDED, detail_stands, run_status, step_stands, step_status};
pub use times::{
    ago, ago_in_full, moment, moment_at, moment_in_full, moment_in_full_at, since_at, span,
    tick_at, time_of_day, time_of_day_at, time_to_the_second_at,
};
pub use workers::{NOT_HEARD_SINCE, asking, attempt_ended, lease_ended_mid_flight};

/// What those read who may not decide.
pub const VIEW_ONLY: &str = "View only. Ask an operator to decide.";

/// What is said of a word that means nothing where it stands: which ones there are.
pub fn no_such(what: &str, value: &str, all: impl IntoIterator<Item = String>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    format!(
        "There is no {what} “{value}”. It can be {}.",
        all.join(", ")
    )
}

/// As a sentence begins.
pub fn capital(mut words: String) -> String {
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}
