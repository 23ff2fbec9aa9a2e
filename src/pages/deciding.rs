//! Sends a decision, and knows whether it is under way, why it was refused, and when nobody knows what came of it.
//!
//! An answer that got lost is no refusal. The decision carries a key by which the server recognises it, so the page sends
//! it again until it hears what happened.

use std::time::Duration;

use leptos::{leptos_dom::helpers::set_timeout, prelude::*, task::spawn_local};

use crate::{
    api::{self, AppError},
    domain::{
        Code, RunId,
        wire::protocol::{Decide, DecideAnswer},
    },
};

/// How long is waited before a lost answer is asked for again: longer each time, up to the last.
const ASK_AGAIN: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
];

/// How long to wait before it is asked again, after so many lost answers before this one.
pub fn ask_again_in(lost: usize) -> Duration {
    ASK_AGAIN[lost.min(ASK_AGAIN.len() - 1)]
}

/// The error says nothing about what was sent, also where it is an error of asking again: it may have been carried out.
pub fn is_no_answer(error: &AppError, lost: usize) -> bool {
    let code = error.0.code;
    error.outcome_unknown()
        || lost > 0 && matches!(code, Code::Busy | Code::TooMany | Code::Unauthorized)
}

#[derive(Clone, Copy)]
pub struct Deciding {
    pub busy: RwSignal<bool>,
    /// Why not, or that nobody knows yet: see [`AppError::outcome_unknown`].
    pub refused: RwSignal<Option<AppError>>,
    taken: RwSignal<bool>,
    done: Callback<DecideAnswer>,
    /// Reads again what is shown, after a refusal that says that it is no longer so.
    again: Callback<()>,
}

/// A decision on its way.
#[derive(Clone)]
struct Sent {
    run: RunId,
    body: Decide,
    key: String,
    /// How often no answer came.
    lost: usize,
}

impl Deciding {
    pub fn new(
        done: impl Fn(DecideAnswer) + Send + Sync + 'static,
        again: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            busy: RwSignal::new(false),
            refused: RwSignal::new(None),
            taken: RwSignal::new(false),
            done: Callback::new(done),
            again: Callback::new(move |()| again()),
        }
    }

    /// A decision is under way or was taken: what it was based on stays on the screen as it was.
    pub fn sent(self) -> Signal<bool> {
        Signal::derive(move || self.busy.get() || self.taken.get())
    }

    pub fn send(self, run: RunId, body: Decide) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.refused.set(None);
        let key = new_key();
        self.ask(Sent {
            run,
            body,
            key,
            lost: 0,
        });
    }

    fn ask(self, sent: Sent) {
        spawn_local(async move {
            let Sent { run, body, key, .. } = sent.clone();
            let answer = api::decisions::decide(run, body, Some(key)).await;
            self.heard(sent, answer);
        });
    }

    fn heard(self, sent: Sent, answer: Result<DecideAnswer, AppError>) {
        match answer {
            Err(error) if is_no_answer(&error, sent.lost) => {
                // The page may be gone by now: then nobody asks again.
                if self.refused.try_set(Some(error.but_unknown())).is_some() {
                    return;
                }
                let wait = ask_again_in(sent.lost);
                let lost = sent.lost + 1;
                let again = Sent { lost, ..sent };
                set_timeout(
                    move || {
                        if self.busy.try_get_untracked() == Some(true) {
                            self.ask(again);
                        }
                    },
                    wait,
                );
            }
            answer => self.settled(answer),
        }
    }

    fn settled(self, answer: Result<DecideAnswer, AppError>) {
        if self.busy.try_set(false).is_some() {
            return;
        }
        match answer {
            Ok(answer) => {
                self.refused.set(None);
                self.taken.set(true);
                untrack(|| self.done.run(answer));
            }
            Err(error) => {
                let moved = matches!(
                    error.0.code,
                    Code::VersionConflict | Code::PlanChanged | Code::DecisionRefused
                );
                self.refused.set(Some(error));
                if moved {
                    untrack(|| self.again.run(()));
                }
            }
        }
    }
}

/// Tells this decision from every other one of the same person.
#[cfg(feature = "hydrate")]
pub fn new_key() -> String {
    use leptos::web_sys::js_sys::Math::random;
    let part = || (random() * f64::from(u32::MAX)) as u32;
    format!("{:08x}{:08x}{:08x}{:08x}", part(), part(), part(), part())
}

/// Only a browser decides by this path.
#[cfg(not(feature = "hydrate"))]
pub fn new_key() -> String {
    String::new()
}
