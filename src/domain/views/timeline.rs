//! A run's history as it is drawn: a bar for each step, or for many where they would be narrower than a bar can be.
//! What is read and sent follows the pixels, never the steps.

mod fold;
mod lanes;
mod lines;
mod marks;
mod scale;
mod waits;

pub use fold::{Fold, Waited, folds};
pub use lanes::{LANES_MAX, assign};
pub use lines::{LINES_MAX, lines};
pub use marks::{Mark, Notable};
pub use scale::{Scale, WIDTH, shared_share, ticks};
pub use waits::{Wait, waits};

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{
        ids::RunId,
        status::{RunStatus, StepStatus},
        time::Time,
    },
    rules::decision::DecisionKind,
    wire::{problem::Problem, protocol::Check},
};

/// Bars that are sent at most, whatever is asked for.
pub const CELLS_MAX: i64 = 480;
pub const CELLS_MIN: i64 = 40;

/// What the width stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    #[default]
    Time,
    Steps,
}

crate::domain::nouns::status::words!(Axis { Time = "time", Steps = "steps" });

/// A stretch of the axis: microseconds since 1970, or step numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stretch {
    pub from: i64,
    pub to: i64,
}

impl Stretch {
    pub fn new(from: i64, to: i64) -> Self {
        Self {
            from,
            to: to.max(from + 1),
        }
    }

    pub fn length(self) -> i64 {
        self.to - self.from
    }

    /// The part of `self` that lies in `other`; all of `other` if they don't meet.
    pub fn within(self, other: Self) -> Self {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        if from < to { Self { from, to } } else { other }
    }

    /// Longer or shorter by `factor` around `middle`, inside `whole`.
    pub fn zoomed(self, factor: f64, middle: i64, whole: Self) -> Self {
        let length = (self.length() as f64 * factor).round().max(1.0) as i64;
        let length = length.min(whole.length()).max(1);
        let share = (middle - self.from) as f64 / self.length() as f64;
        let from = middle - (length as f64 * share.clamp(0.0, 1.0)) as i64;
        Self::new(from, from + length).shifted(0, whole)
    }

    /// Longer or shorter by `factor`, with `middle` in the middle as far as `whole` allows.
    pub fn centred(self, factor: f64, middle: i64, whole: Self) -> Self {
        let length = (self.length() as f64 * factor).round().max(1.0) as i64;
        let length = length.min(whole.length()).max(1);
        let from = middle - length / 2;
        Self::new(from, from + length).shifted(0, whole)
    }

    /// Moved by `by`, but never out of `whole`.
    pub fn shifted(self, by: i64, whole: Self) -> Self {
        let length = self.length().min(whole.length());
        let from = (self.from + by).clamp(whole.from, whole.to - length);
        Self::new(from, from + length)
    }
}

/// What `folds` (in order) leave of `window`.
pub fn between(window: Stretch, folds: &[Stretch]) -> Vec<Stretch> {
    let mut open = Vec::new();
    let mut from = window.from;
    for fold in folds {
        if fold.from > from {
            open.push(Stretch::new(from, fold.from));
        }
        from = fold.to;
    }
    if window.to > from {
        open.push(Stretch::new(from, window.to));
    }
    open
}

/// The same stretches, the one that holds `at` in two.
pub fn apart(stretches: Vec<Stretch>, at: Option<i64>) -> Vec<Stretch> {
    let Some(at) = at else { return stretches };
    let split = |it: Stretch| match it.from < at && at < it.to {
        true => vec![Stretch::new(it.from, at), Stretch::new(at, it.to)],
        false => vec![it],
    };
    stretches.into_iter().flat_map(split).collect()
}

/// Which part of a run's timeline is wanted, and how fine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct TimelineQuery {
    pub axis: Axis,
    /// All of it if absent.
    pub window: Option<Stretch>,
    /// How many bars fit.
    pub cells: i64,
    /// Leave out long idle times; left to the history itself if absent.
    pub fold: Option<bool>,
}

impl Check for TimelineQuery {
    fn check(&self) -> Result<(), Problem> {
        match self.window {
            Some(it) if it.from < 0 || it.to <= it.from => {
                Err(Problem::invalid("window", "must end after it begins"))
            }
            _ => Ok(()),
        }
    }
}

/// How a bar looks, from what may be hidden to what must be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    Superseded,
    Skipped,
    Committed,
    Edited,
    Running,
    Waiting,
    Failed,
    Crashed,
    /// Its row does not match its seal: nothing is said of it but that.
    Damaged,
}

impl Look {
    pub const ALL: [Self; 9] = [
        Self::Superseded,
        Self::Skipped,
        Self::Committed,
        Self::Edited,
        Self::Running,
        Self::Waiting,
        Self::Failed,
        Self::Crashed,
        Self::Damaged,
    ];

    pub fn of(status: StepStatus, decision: Option<DecisionKind>) -> Self {
        match status {
            StepStatus::Committed if decision == Some(DecisionKind::Commit) => Self::Edited,
            StepStatus::Committed | StepStatus::Pending => Self::Committed,
            StepStatus::Running => Self::Running,
            StepStatus::Failed => Self::Failed,
            StepStatus::Crashed => Self::Crashed,
            StepStatus::Waiting => Self::Waiting,
            StepStatus::Skipped => Self::Skipped,
            StepStatus::Superseded => Self::Superseded,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Superseded => "superseded",
            Self::Skipped => "skipped",
            Self::Committed => "committed",
            Self::Edited => "edited",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Crashed => "crashed",
            Self::Damaged => "damaged",
        }
    }
}

/// One attempt, one step, or several steps that have no room of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "BarWire", into = "BarWire")]
pub struct Bar {
    pub first: i64,
    pub last: i64,
    pub from: Time,
    pub to: Time,
    /// The worst among its steps.
    pub look: Look,
    pub lane: i64,
    /// The name of a single step.
    pub name: Option<String>,
}

/// Bars are many: they travel without field names, and without a time zone.
type BarWire = (i64, i64, i64, i64, Look, i64, Option<String>);

impl From<BarWire> for Bar {
    fn from((first, count, from, length, look, lane, name): BarWire) -> Self {
        let last = first + count;
        let (from, to) = (Time(from), Time(from + length));
        Self {
            first,
            last,
            from,
            to,
            look,
            lane,
            name,
        }
    }
}

impl From<Bar> for BarWire {
    fn from(bar: Bar) -> Self {
        let (count, length) = (bar.last - bar.first, bar.to.0 - bar.from.0);
        (
            bar.first, count, bar.from.0, length, bar.look, bar.lane, bar.name,
        )
    }
}

impl Bar {
    pub fn count(&self) -> i64 {
        self.last - self.first + 1
    }

    /// Where it lies on the axis.
    pub fn stretch(&self, axis: Axis) -> Stretch {
        match axis {
            Axis::Time => Stretch::new(self.from.0, self.to.0),
            Axis::Steps => Stretch::new(self.first, self.last + 1),
        }
    }
}

/// A time in which nobody held the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub from: Time,
    pub to: Time,
    /// It has not ended.
    pub open: bool,
}

/// A stretch of steps that a milestone closes; the last one may still be open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The milestone's name; the open phase may have none.
    pub name: Option<String>,
    pub first: i64,
    pub last: i64,
    pub from: Time,
    /// When its milestone was committed.
    pub reached: Option<Time>,
}

/// An operator's decision, as a flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    pub kind: DecisionKind,
    pub author: String,
    pub at: Time,
    pub step: Option<i64>,
}

/// A run that works for a step of this one, or a fork from before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Child {
    pub id: RunId,
    pub title: String,
    pub status: RunStatus,
    pub step: i64,
    #[serde(default)]
    pub fork: bool,
    #[serde(default)]
    pub cost_usd: Option<f64>,
    pub from: Time,
    pub to: Time,
}

/// All that one picture of a run needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    pub axis: Axis,
    pub whole: Stretch,
    pub window: Stretch,
    /// Of a fork, where its own part begins in this window: what lies before is shared with its origin.
    #[serde(default)]
    pub own: Option<i64>,
    pub bars: Vec<Bar>,
    /// Lanes in use, and parallel steps that found none.
    pub lanes: i64,
    pub crowded: i64,
    /// Times that take no room.
    pub folds: Vec<Fold>,
    /// Times that are long enough to be left out.
    pub idle: i64,
    /// How superseded steps looked before, where they are drawn one by one.
    #[serde(default)]
    pub superseded: Vec<(i64, Look)>,
    pub marks: Vec<Mark>,
    /// There are more notable steps than were looked at.
    pub cut: bool,
    pub gaps: Vec<Gap>,
    pub phases: Vec<Phase>,
    pub flags: Vec<Flag>,
    pub children: Vec<Child>,
    /// Child runs that were not read.
    #[serde(default)]
    pub children_more: i64,
    /// The store's clock, while the run is not over.
    pub now: Option<Time>,
    pub announced: i64,
}

impl Timeline {
    /// What is drawn to scale: the window without what is folded, and of a fork its own part by itself.
    pub fn open(&self) -> Vec<Stretch> {
        apart(between(self.window, &self.folded()), self.own)
    }

    /// What is not.
    pub fn folded(&self) -> Vec<Stretch> {
        self.folds.iter().map(|fold| fold.on()).collect()
    }

    /// How this bar looks, and whether someone rewound past it: then it keeps the look it had.
    pub fn look(&self, bar: &Bar) -> (Look, bool) {
        let was = self.superseded.iter().find(|(seq, _)| *seq == bar.first);
        match (was, bar.look) {
            (Some((_, was)), Look::Superseded) => (*was, true),
            (was, look) => (look, was.is_some() || look == Look::Superseded),
        }
    }

    /// A moment within it, whose zone stands for all.
    pub fn moment(&self) -> Time {
        match self.axis {
            Axis::Time => Time(self.window.from),
            Axis::Steps => self.bars.first().map_or(Time(0), |bar| bar.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_travels_small_and_comes_back_as_it_was() {
        let bar = Bar {
            first: 40,
            last: 47,
            from: Time(1_000),
            to: Time(5_000),
            look: Look::Crashed,
            lane: 2,
            name: None,
        };
        let text = serde_json::to_string(&bar).unwrap();
        assert_eq!(text, r#"[40,7,1000,4000,"crashed",2,null]"#);
        assert_eq!(serde_json::from_str::<Bar>(&text).unwrap(), bar);
    }

    #[test]
    fn zooming_keeps_what_is_under_the_pointer_and_stays_inside() {
        let whole = Stretch::new(0, 1_000);
        let half = whole.zoomed(0.5, 250, whole);
        assert_eq!(half, Stretch::new(125, 625));
        assert_eq!(half.zoomed(4.0, 625, whole), whole);
        assert_eq!(half.shifted(9_999, whole), Stretch::new(500, 1_000));
    }
}
