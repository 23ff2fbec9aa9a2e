//! Sends a decision, and knows whether it is under way and why it was refused.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::{self, AppError},
    domain::{
        Code, RunId,
        wire::protocol::{Decide, DecideAnswer},
    },
};

#[derive(Clone, Copy)]
pub struct Deciding {
    pub busy: RwSignal<bool>,
    pub refused: RwSignal<Option<AppError>>,
    done: Callback<DecideAnswer>,
    /// Reads again what is shown, after a refusal that says that it is no longer so.
    again: Callback<()>,
}

impl Deciding {
    pub fn new(
        done: impl Fn(DecideAnswer) + Send + Sync + 'static,
        again: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            busy: RwSignal::new(false),
            refused: RwSignal::new(None),
            done: Callback::new(done),
            again: Callback::new(move |()| again()),
        }
    }

    pub fn send(self, run: RunId, body: Decide) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.refused.set(None);
        spawn_local(async move {
            let answer = api::decisions::decide(run, body).await;
            // The page may be gone by now.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(answer) => untrack(|| self.done.run(answer)),
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
        });
    }
}
