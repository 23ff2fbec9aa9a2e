//! Who changed a state by hand, when, and why; with the way to what it changed.

use leptos::prelude::*;

use super::{
    glyph::{Glyph, Shape},
    time::At,
};
use crate::domain::{DecisionKind, RunId, rules::decision::EditMark};

#[component]
pub fn EditedBy(edit: EditMark, run: RunId) -> impl IntoView {
    let what = match edit.kind {
        DecisionKind::Rewind => "State rewound by ",
        _ => "State edited by ",
    };
    let href = format!(
        "/runs/{run}/diff?from={}&to={}",
        edit.snapshot - 1,
        edit.snapshot
    );
    let reason = edit.reason;
    view! {
        <p class="edited-by">
            <Glyph shape=Shape::Edited/>
            <span>
                <b>{what}<bdi>{edit.author}</bdi></b>" · "<At at=edit.at/>
                {reason.map(|reason| view! { " · “"<bdi>{reason}</bdi>"”" })}
                " · "<a class="link" href=href>"what it changed"</a>
            </span>
        </p>
    }
    .into_any()
}
