//! From a timeline to shapes: all places are in units of the width (see [`WIDTH`]) and pixels of the height.

mod labels;

use std::fmt::Write as _;

use super::is_time;
use crate::domain::{
    RunStatus, Time,
    views::{
        timeline::{Axis, Bar, Look, Scale, Stretch, Timeline, WIDTH, ticks},
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
const ANNOUNCED_WIDTH: f64 = 620.0;
const ANNOUNCED_MAX: i64 = 5;
const TICKS_MAX: i64 = 12;

#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub x: f64,
    pub y: f64,
    pub text: String,
    pub class: &'static str,
    pub anchor: &'static str,
    pub step: Option<i64>,
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
    pub crashed: Vec<(f64, f64, f64)>,
    pub skipped: Vec<(f64, f64, f64)>,
    pub crosses: Vec<(f64, f64)>,
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
    Scale::new(timeline.window, &timeline.folds, width)
}

impl Picture {
    /// `offset` is the reader's zone, in minutes east of UTC.
    pub fn of(timeline: &Timeline, offset: i32) -> Self {
        let scale = scale(timeline);
        let mut picture = Self::default();
        let lanes = timeline.lanes.max(1) as f64;
        let below = BAR_TOP + lanes * LANE_HEIGHT;
        picture.bars(timeline, &scale);
        let children = picture.children(timeline, &scale, below + 4.0);
        picture.height = below + 18.0 + 12.0 * children + 18.0;
        picture.gaps(timeline, &scale, below + 10.0);
        picture.phases(timeline, &scale, below + 10.0);
        picture.above(timeline, &scale);
        picture.now(timeline, &scale, below + 10.0);
        picture.ticks(timeline, &scale, offset);
        picture
    }

    fn bars(&mut self, timeline: &Timeline, scale: &Scale) {
        let mut paths: Vec<String> = vec![String::new(); Look::ALL.len()];
        for bar in &timeline.bars {
            let (x, width) = place(bar, timeline.axis, scale, BAR_MIN);
            let y = BAR_TOP + bar.lane as f64 * LANE_HEIGHT;
            let (_, wide) = place(bar, timeline.axis, scale, CRASH_MIN);
            let own_shape = match bar.look {
                Look::Crashed if self.crashed.len() < HATCHED_MAX => {
                    self.crashed.push((x, wide, y));
                    true
                }
                Look::Skipped if self.skipped.len() < HATCHED_MAX => {
                    self.skipped.push((x, width, y));
                    true
                }
                Look::Failed if self.crosses.len() < HATCHED_MAX => {
                    self.crosses.push((x + width / 2.0, y + 8.0));
                    false
                }
                _ => false,
            };
            if !own_shape {
                draw(&mut paths[bar.look as usize], bar.look, x, width, y);
            }
        }
        self.paths = Look::ALL
            .iter()
            .zip(paths)
            .filter(|(_, d)| !d.is_empty())
            .map(|(look, d)| (format!("bar-{}", look.as_str()), d))
            .collect();
    }

    /// Answers the lanes that child runs take.
    fn children(&mut self, timeline: &Timeline, scale: &Scale, y: f64) -> f64 {
        if timeline.axis != Axis::Time || timeline.children.is_empty() {
            return 0.0;
        }
        let seen =
            |from: Time, to: Time| from.0 < timeline.window.to && to.0 > timeline.window.from;
        for child in timeline.children.iter().filter(|it| seen(it.from, it.to)) {
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
        f64::from(!self.children.is_empty())
    }

    fn ticks(&mut self, timeline: &Timeline, scale: &Scale, offset: i32) {
        let time = is_time(timeline.axis);
        let open = timeline.open();
        let length: i64 = open.iter().map(|it| it.length()).sum();
        let mut free = 0.0;
        for stretch in open {
            let share = TICKS_MAX as f64 * stretch.length() as f64 / length.max(1) as f64;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(steps: i64) -> Timeline {
        let bar = |n: i64| Bar {
            first: n,
            last: n,
            from: Time(n * 1_000_000),
            to: Time(n * 1_000_000 + 900_000),
            look: if n == steps {
                Look::Crashed
            } else {
                Look::Committed
            },
            lane: 0,
            name: None,
        };
        let whole = Stretch::new(1_000_000, steps * 1_000_000 + 900_000);
        Timeline {
            axis: Axis::Time,
            whole,
            window: whole,
            bars: (1..=steps).map(bar).collect(),
            lanes: 1,
            crowded: 0,
            folds: vec![],
            idle: 0,
            marks: vec![],
            cut: false,
            gaps: vec![],
            phases: vec![],
            flags: vec![],
            children: vec![],
            now: None,
            announced: 0,
        }
    }

    #[test]
    fn elements_follow_looks_and_not_steps() {
        let elements = |steps| {
            let picture = Picture::of(&run_of(steps), 0);
            picture.paths.len() + picture.crashed.len() + picture.crosses.len()
        };
        assert_eq!(elements(40), elements(480));
        assert_eq!(elements(40), 2);
    }

    #[test]
    fn a_crash_is_wide_enough_to_be_seen() {
        let picture = Picture::of(&run_of(400), 0);
        assert!(picture.crashed[0].1 >= CRASH_MIN);
    }
}
