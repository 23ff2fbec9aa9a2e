//! From a timeline to shapes: all places are in units of the width (see [`WIDTH`]) and pixels of the height.

mod labels;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use super::is_time;
use crate::domain::{
    RunStatus, Time,
    views::{
        timeline::{Axis, Bar, Look, Scale, Stretch, Timeline, WIDTH, lines, ticks},
        words,
    },
};

const BAR_TOP: f64 = 22.0;
const BAR_HEIGHT: f64 = 22.0;
pub const LANE_HEIGHT: f64 = 25.0;
/// A bar is at least this wide: about three pixels.
const BAR_MIN: f64 = 22.0;
/// The space between two bars that are wide enough to have one.
const BAR_SPACE: f64 = 9.0;
/// A crash is wide enough to be seen hatched.
const CRASH_MIN: f64 = 90.0;
/// Shapes of their own beyond these many are drawn like the others.
const HATCHED_MAX: usize = 40;
/// Announced steps stand here, after "now" and not to scale.
const ANNOUNCED_WIDTH: f64 = 900.0;
const ANNOUNCED_MAX: i64 = 5;
const TICKS_MAX: i64 = 12;
/// A line of a child run.
const CHILD_HEIGHT: f64 = 12.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub x: f64,
    pub y: f64,
    pub text: String,
    /// What it stands for in full, where the text is shorter.
    pub said: Option<String>,
    pub class: &'static str,
    pub anchor: &'static str,
    pub step: Option<i64>,
}

/// A bar with a shape of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Shaped {
    pub x: f64,
    pub width: f64,
    pub y: f64,
    /// Someone rewound past it.
    pub ghost: bool,
}

impl Shaped {
    pub fn class(&self, of: &str) -> String {
        classed(of, self.ghost)
    }
}

/// A time that takes no room, as a mark that says so.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldMark {
    pub x: f64,
    pub width: f64,
    pub class: &'static str,
    pub said: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChildBar {
    pub id: String,
    pub title: String,
    pub class: String,
    pub x: f64,
    pub width: f64,
    pub y: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    pub height: f64,
    /// One path per look.
    pub paths: Vec<(String, String)>,
    pub crashed: Vec<Shaped>,
    pub skipped: Vec<Shaped>,
    pub crosses: Vec<Shaped>,
    pub folds: Vec<FoldMark>,
    pub gaps: Vec<(f64, f64)>,
    pub phases: Vec<f64>,
    pub ticks: Vec<(f64, String)>,
    pub announced: Vec<(f64, f64)>,
    pub children: Vec<ChildBar>,
    pub now: Option<f64>,
    pub labels: Vec<Label>,
}

/// Room for what is announced, where "now" is in the picture.
fn announces(timeline: &Timeline) -> bool {
    timeline.announced > 0 && timeline.now.is_some() && timeline.window.to >= timeline.whole.to
}

/// Where moments or steps lie in the picture.
pub fn scale(timeline: &Timeline) -> Scale {
    let width = match announces(timeline) {
        true => WIDTH - ANNOUNCED_WIDTH,
        false => WIDTH,
    };
    Scale::of_fork(timeline.window, &timeline.folded(), timeline.own, width)
}

impl Picture {
    /// `offset` is the reader's zone, in minutes east of UTC.
    pub fn of(timeline: &Timeline, offset: i32) -> Self {
        let scale = scale(timeline);
        let mut picture = Self::default();
        let lanes = timeline.lanes.max(1) as f64;
        let below = BAR_TOP + lanes * LANE_HEIGHT;
        picture.bars(timeline, &scale);
        // Words stand in a line below the bars, child runs below the words.
        let y = below + 10.0;
        let children = picture.children(timeline, &scale, below + 15.0);
        picture.height = below + 18.0 + CHILD_HEIGHT * children + 18.0;
        // What comes first keeps its place: words that find none are left out.
        picture.now(timeline, &scale);
        picture.gaps(timeline, &scale, y);
        picture.announced(timeline, &scale, y);
        picture.folds(timeline, &scale, y);
        picture.own(timeline, &scale, y);
        picture.phases(timeline, &scale, y);
        picture.above(timeline, &scale);
        picture.ticks(timeline, &scale, offset);
        picture
    }

    fn bars(&mut self, timeline: &Timeline, scale: &Scale) {
        // Those that count, then those that someone rewound past.
        let mut paths = [false, true].map(|_| vec![String::new(); Look::ALL.len()]);
        for bar in &timeline.bars {
            let (look, ghost) = timeline.look(bar);
            let (x, width) = place(bar, timeline.axis, scale, BAR_MIN);
            let y = BAR_TOP + bar.lane as f64 * LANE_HEIGHT;
            let (_, wide) = place(bar, timeline.axis, scale, CRASH_MIN);
            let shaped = |x, width, y| Shaped { x, width, y, ghost };
            let own_shape = match look {
                Look::Crashed if self.crashed.len() < HATCHED_MAX => {
                    self.crashed.push(shaped(x, wide, y));
                    true
                }
                Look::Skipped if self.skipped.len() < HATCHED_MAX => {
                    self.skipped.push(shaped(x, width, y));
                    true
                }
                Look::Failed if self.crosses.len() < HATCHED_MAX => {
                    self.crosses.push(shaped(x + width / 2.0, 0.0, y + 8.0));
                    false
                }
                _ => false,
            };
            if !own_shape {
                let path = &mut paths[usize::from(ghost)][look as usize];
                draw(path, look, x, width, y);
            }
        }
        let classed = |(ghost, paths): (bool, Vec<String>)| {
            let drawn = Look::ALL.iter().zip(paths).filter(|(_, d)| !d.is_empty());
            drawn.map(move |(look, d)| (classed(&format!("bar-{}", look.as_str()), ghost), d))
        };
        self.paths = [false, true]
            .into_iter()
            .zip(paths)
            .flat_map(classed)
            .collect();
    }

    /// Answers the lines that child runs take.
    fn children(&mut self, timeline: &Timeline, scale: &Scale, top: f64) -> f64 {
        if timeline.axis != Axis::Time || timeline.children.is_empty() {
            return 0.0;
        }
        let (drawn, rest) = lines(&timeline.children, timeline.window);
        for (line, child) in (0..).zip(drawn) {
            let y = top + CHILD_HEIGHT * f64::from(line);
            let x = scale.x(child.from.0);
            let tone = match child.status {
                RunStatus::Crashed => "crashed",
                RunStatus::Failed => "failed",
                RunStatus::Waiting => "waiting",
                RunStatus::Running => "running",
                _ => "committed",
            };
            self.children.push(ChildBar {
                id: child.id.to_string(),
                title: child.title.clone(),
                class: format!("child-bar bar-{tone}"),
                x,
                width: (scale.x(child.to.0) - x).max(BAR_MIN),
                y,
            });
        }
        let more = rest + timeline.children_more;
        let mut taken = self.children.len() as f64;
        if more > 0 && taken > 0.0 {
            taken += 1.0;
            self.labels.push(Label {
                x: 0.0,
                y: top + CHILD_HEIGHT * taken - 3.0,
                text: match more {
                    1 => "+1 child run".to_owned(),
                    more => format!("+{} child runs", words::count(more)),
                },
                said: None,
                class: "label-dim",
                anchor: "start",
                step: None,
            });
        }
        taken
    }

    fn ticks(&mut self, timeline: &Timeline, scale: &Scale, offset: i32) {
        let time = is_time(timeline.axis);
        let open = timeline.open();
        let length: i64 = open.iter().map(|it| it.length()).sum();
        let mut free = 0.0;
        for stretch in open {
            let width = scale.x(stretch.to) - scale.x(stretch.from);
            let share = TICKS_MAX as f64 * width / WIDTH;
            for at in ticks(stretch, time, (share.ceil() as i64).max(1)) {
                let x = scale.x(at);
                if x < free || x > WIDTH - 300.0 {
                    continue;
                }
                free = x + 450.0;
                let text = match time {
                    true => words::tick_at(Time(at), length, offset),
                    false => words::number(at),
                };
                self.ticks.push((x, text));
            }
        }
    }
}

/// What someone rewound past looks as it did, and fades.
fn classed(of: &str, ghost: bool) -> String {
    match ghost {
        true => format!("{of} is-ghost"),
        false => of.to_owned(),
    }
}

/// Where a bar lies, at least `min` wide.
fn place(bar: &Bar, axis: Axis, scale: &Scale, min: f64) -> (f64, f64) {
    let Stretch { from, to } = bar.stretch(axis);
    let x = scale.x(from);
    let width = scale.x(to) - x;
    let spaced = if width > 3.0 * BAR_SPACE {
        width - BAR_SPACE
    } else {
        width
    };
    (x, spaced.max(min))
}

fn draw(path: &mut String, look: Look, x: f64, width: f64, y: f64) {
    let bands: &[(f64, f64)] = match look {
        Look::Failed => &[(BAR_HEIGHT / 2.0, BAR_HEIGHT / 2.0)],
        Look::Waiting => &[(2.0, 7.0), (13.0, 7.0)],
        Look::Damaged => &[(0.0, 4.0), (9.0, 4.0), (18.0, 4.0)],
        _ => &[(0.0, BAR_HEIGHT)],
    };
    for (top, height) in bands {
        let y = y + top;
        // Writing to a string cannot fail.
        let _ = write!(path, "M{x:.0} {y:.0}h{width:.0}v{height:.0}h-{width:.0}z");
    }
}
