//! One shape per status, so that it reads without colour.

use leptos::prelude::*;

use crate::domain::{RunStatus, StepStatus};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Committed,
    Running,
    Pending,
    Crashed,
    Failed,
    Waiting,
    Skipped,
    Edited,
    Ready,
    Paused,
    Cancelled,
    Superseded,
    Damaged,
}

/// The paths of a shape in a 16 × 16 box.
#[derive(Default)]
struct Paths {
    /// Filled with the status colour.
    solid: &'static str,
    /// Drawn in the status colour.
    line: &'static str,
    /// As `line`, dashed.
    dashed: &'static str,
    /// Drawn on `solid`.
    mark: &'static str,
    /// What `line` turns on.
    track: &'static str,
}

const DISC: &str = "M8 1a7 7 0 1 1 0 14a7 7 0 1 1 0-14z";
const RING: &str = "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 1 1 0-12.5z";
const TICK: &str = "M4.9 8.3l2.1 2.1l4.1-4.6";

impl Shape {
    /// The class that gives its colour.
    pub fn tone(self) -> &'static str {
        match self {
            Self::Committed => "tone-committed",
            Self::Running => "tone-running",
            Self::Pending => "tone-pending",
            Self::Crashed => "tone-crashed",
            Self::Failed => "tone-failed",
            Self::Waiting => "tone-waiting",
            Self::Edited | Self::Ready => "tone-edited",
            Self::Skipped | Self::Paused | Self::Cancelled => "tone-skipped",
            Self::Superseded => "tone-superseded",
            Self::Damaged => "tone-failed",
        }
    }

    fn paths(self) -> Paths {
        let none = Paths::default();
        match self {
            Self::Committed => Paths {
                solid: DISC,
                mark: TICK,
                ..none
            },
            Self::Running => Paths {
                line: "M8 1.75a6.25 6.25 0 0 1 6.25 6.25",
                track: RING,
                ..none
            },
            Self::Pending => Paths { line: RING, ..none },
            Self::Crashed => Paths {
                dashed: RING,
                solid: "M8.9 3.6L5.1 8.7h2.5l-.5 3.7l3.8-5.1h-2.5z",
                ..none
            },
            Self::Failed => Paths {
                solid: "M3.5 1.5h9a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-9a2 2 0 0 1 2-2z",
                mark: "M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8",
                ..none
            },
            Self::Waiting => Paths {
                solid: "M8 .8L15.2 8L8 15.2L.8 8z",
                mark: "M6.6 5.8v4.4M9.4 5.8v4.4",
                ..none
            },
            Self::Skipped => Paths {
                dashed: RING,
                line: "M5 8h6M8.7 5.6L11.1 8L8.7 10.4",
                ..none
            },
            Self::Edited => Paths {
                solid: DISC,
                mark: "M5.3 10.7l.5-2l4-4l1.5 1.5l-4 4z",
                ..none
            },
            Self::Ready => Paths {
                line: RING,
                solid: "M6.4 5.1L11 8l-4.6 2.9z",
                ..none
            },
            Self::Paused => Paths {
                line: "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 1 1 0-12.5zM6.4 5.6v4.8M9.6 5.6v4.8",
                ..none
            },
            Self::Cancelled => Paths {
                line: "M8 1.75a6.25 6.25 0 1 1 0 12.5a6.25 6.25 0 1 1 0-12.5zM12.3 3.7L3.7 12.3",
                ..none
            },
            Self::Superseded => Paths {
                dashed: RING,
                line: TICK,
                ..none
            },
            Self::Damaged => Paths {
                line: "M7 2H3.5a1.5 1.5 0 0 0-1.5 1.5v9a1.5 1.5 0 0 0 1.5 1.5H6l1.5-3l-2-2.5l2.5-2.5zM10.5 2h2a1.5 1.5 0 0 1 1.5 1.5v9a1.5 1.5 0 0 1-1.5 1.5H9.5l1.5-3.2l-2-2.3l2-2.5z",
                ..none
            },
        }
    }
}

impl From<RunStatus> for Shape {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Pending => Self::Pending,
            RunStatus::Running => Self::Running,
            RunStatus::Waiting => Self::Waiting,
            RunStatus::Paused => Self::Paused,
            RunStatus::Crashed => Self::Crashed,
            RunStatus::Failed => Self::Failed,
            RunStatus::Ready => Self::Ready,
            RunStatus::Done => Self::Committed,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl From<StepStatus> for Shape {
    fn from(status: StepStatus) -> Self {
        match status {
            StepStatus::Pending => Self::Pending,
            StepStatus::Running => Self::Running,
            StepStatus::Committed => Self::Committed,
            StepStatus::Failed => Self::Failed,
            StepStatus::Crashed => Self::Crashed,
            StepStatus::Waiting => Self::Waiting,
            StepStatus::Skipped => Self::Skipped,
            StepStatus::Superseded => Self::Superseded,
        }
    }
}

/// The glyph of a status. Without `label` it is hidden from screen readers: the text beside it says the status.
#[component]
pub fn Glyph(
    #[prop(into)] shape: Signal<Shape>,
    #[prop(into, optional)] label: Option<Signal<String>>,
    /// Superseded: the same shape, faint.
    #[prop(optional)]
    ghost: bool,
) -> impl IntoView {
    let path = move |class: &'static str, pick: fn(Paths) -> &'static str| {
        let d = Memo::new(move |_| pick(shape.get().paths()));
        move || (!d.get().is_empty()).then(|| view! { <path class=class d=d.get()/> })
    };
    view! {
        <svg
            class=move || format!("glyph {}", shape.get().tone())
            class:is-ghost=ghost
            class:turning=move || shape.get() == Shape::Running
            viewBox="0 0 16 16"
            role=label.map(|_| "img")
            aria-label=move || label.map(|label| label.get())
            aria-hidden=label.is_none().then_some("true")
        >
            {path("glyph-track", |it| it.track)}
            {path("glyph-solid", |it| it.solid)}
            {path("glyph-line", |it| it.line)}
            {path("glyph-dashed", |it| it.dashed)}
            {path("glyph-mark", |it| it.mark)}
        </svg>
    }
    .into_any()
}
