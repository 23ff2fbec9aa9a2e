//! Answers what a state's views ask for.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::{self, AppError},
    components::look::{Answer, Look, Stand, Wanted},
    domain::views::{blame::Blame, state_view::BranchPage},
};

/// `step` is the address of a step of the run.
pub fn look(step: Callback<i64, String>) -> Look {
    Look {
        branches: Callback::new(|(wanted, after, into): (Wanted, i64, Answer<BranchPage>)| {
            tell(into, branches(wanted, after));
        }),
        blame: Callback::new(|(stand, path, into): (Stand, String, Answer<Blame>)| {
            tell(
                into,
                api::snapshots::writes(stand.run, stand.snapshot, path),
            );
        }),
        value: Callback::new(|(stand, path, into): (Stand, String, Answer<String>)| {
            tell(into, api::snapshots::value(stand.run, stand.snapshot, path));
        }),
        step,
    }
}

/// The view that asked may be gone when the answer comes, and its signal with it.
fn tell<T: Send + Sync + 'static>(
    into: Answer<T>,
    answer: impl Future<Output = Result<T, AppError>> + 'static,
) {
    spawn_local(async move {
        let answer = answer.await;
        into.try_set(Some(answer));
    });
}

async fn branches(wanted: Wanted, after: i64) -> Result<BranchPage, AppError> {
    match wanted {
        Wanted::Below { stand, path, items } => {
            api::snapshots::branches(stand.run, stand.snapshot, path, items, after).await
        }
        Wanted::Unchanged {
            run,
            query,
            path,
            old_path,
        } => api::diffs::unchanged(run, query, path, old_path, after).await,
        Wanted::Found { stand, text } => {
            api::snapshots::find(stand.run, stand.snapshot, text, after).await
        }
    }
}
