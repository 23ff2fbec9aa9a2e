//! From a timeline to shapes: all places are in units of the width (see [`WIDTH`]) and pixels of the height.

use std::fmt::Write as _;

use super::is_time;
use crate::domain::{
    RunStatus, Time,
    timeline::{Axis, Bar, Gap, Look, Scale, Stretch, Timeline, WIDTH, ticks},
    words,
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
/// Two words need this much room between their places.
const LABEL_ROOM: f64 = 1_050.0;
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

    fn gaps(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
        for gap in &timeline.gaps {
            let (from, to) = (scale.x(gap.from.0), scale.x(gap.to.0));
            if to - from < 4.0 * BAR_MIN {
                continue;
            }
            self.gaps.push((from, to - from));
            if to - from > LABEL_ROOM || gap.open {
                let long = words::span(gap.to.ms_since(gap.from));
                let who = if gap.open {
                    ", nobody holds this run"
                } else {
                    ""
                };
                self.labels.push(Label {
                    x: to - 20.0,
                    y,
                    text: format!("gap {long}{who}"),
                    class: "label-dim",
                    anchor: "end",
                    step: None,
                });
            }
        }
        let named = |fold: &&Stretch| {
            let inside = |gap: &&Gap| gap.from.0 <= fold.from && gap.to.0 >= fold.to;
            !timeline.gaps.iter().any(|gap| gap.open && inside(&gap))
        };
        for fold in timeline.folds.iter().filter(named) {
            self.labels.push(Label {
                x: (scale.x(fold.from) + scale.x(fold.to)) / 2.0,
                y,
                text: format!("⋯ {}", words::span(fold.length() / 1_000)),
                class: "label-dim",
                anchor: "middle",
                step: None,
            });
        }
    }

    fn phases(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
        let mut free = f64::MIN;
        for phase in timeline.phases.iter().skip(1) {
            let at = match timeline.axis {
                Axis::Time => phase.from.0,
                Axis::Steps => phase.first,
            };
            if !(timeline.window.from..timeline.window.to).contains(&at) {
                continue;
            }
            let x = scale.x(at);
            if x < free {
                continue;
            }
            free = x + LABEL_ROOM;
            self.phases.push(x);
            let taken = self
                .labels
                .iter()
                .any(|it| it.y == y && (it.x - x).abs() < 2.0 * LABEL_ROOM && it.anchor == "end");
            if let Some(name) = phase.name.as_ref().filter(|_| !taken) {
                self.labels.push(Label {
                    x: x + 30.0,
                    y,
                    text: format!("{} ▸", short(name)),
                    class: "label-dim",
                    anchor: "start",
                    step: Some(phase.first),
                });
            }
        }
    }

    /// Words above the bars: the worst first, and only where there is room.
    fn above(&mut self, timeline: &Timeline, scale: &Scale) {
        let mut taken: Vec<f64> = Vec::new();
        let inside = |at: i64| (timeline.window.from..=timeline.window.to).contains(&at);
        for mark in &timeline.marks {
            let at = on_axis(timeline.axis, mark.at, mark.seq);
            let x = scale.x(at);
            if !inside(at) || taken.iter().any(|it| (it - x).abs() < LABEL_ROOM) {
                continue;
            }
            taken.push(x);
            self.labels.push(Label {
                x,
                y: 13.0,
                text: mark.text.clone(),
                class: match mark.look {
                    Look::Crashed => "label-crashed",
                    Look::Failed => "label-failed",
                    Look::Waiting => "label-waiting",
                    _ => "label-dim",
                },
                anchor: anchor(x),
                step: Some(mark.seq),
            });
        }
        for flag in &timeline.flags {
            let at = match (timeline.axis, flag.step) {
                (Axis::Time, _) => flag.at.0,
                (Axis::Steps, Some(step)) => step,
                (Axis::Steps, None) => continue,
            };
            let x = scale.x(at);
            if !inside(at) || taken.iter().any(|it| (it - x).abs() < LABEL_ROOM) {
                continue;
            }
            taken.push(x);
            self.labels.push(Label {
                x,
                y: 13.0,
                text: format!("⚑ {}", words::decided(flag.kind)),
                class: "label-edited",
                anchor: anchor(x),
                step: flag.step,
            });
        }
    }

    fn now(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
        if timeline.now.is_none() || timeline.window.to < timeline.whole.to {
            return;
        }
        let x = scale.x(timeline.window.to);
        self.now = (timeline.axis == Axis::Time).then_some(x);
        if !announces(timeline) {
            return;
        }
        if timeline.axis == Axis::Time {
            self.labels.push(Label {
                x: x + 30.0,
                y: 13.0,
                text: "now".into(),
                class: "label-now",
                anchor: "start",
                step: None,
            });
        }
        let shown = timeline.announced.min(ANNOUNCED_MAX);
        let room = (WIDTH - x - 60.0) / shown as f64;
        for n in 0..shown {
            self.announced
                .push((x + 60.0 + n as f64 * room, room * 0.72));
        }
        self.labels.push(Label {
            x: x + 60.0,
            y,
            text: format!("{} announced", words::count(timeline.announced)),
            class: "label-dim",
            anchor: "start",
            step: None,
        });
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
        _ => &[(0.0, BAR_HEIGHT)],
    };
    for (top, height) in bands {
        let y = y + top;
        // Writing to a string cannot fail.
        let _ = write!(path, "M{x:.0} {y:.0}h{width:.0}v{height:.0}h-{width:.0}z");
    }
}

fn on_axis(axis: Axis, at: Time, seq: i64) -> i64 {
    match axis {
        Axis::Time => at.0,
        Axis::Steps => seq,
    }
}

/// A word near an edge stands inside it.
fn anchor(x: f64) -> &'static str {
    match x {
        x if x < 0.08 * WIDTH => "start",
        x if x > 0.92 * WIDTH => "end",
        _ => "middle",
    }
}

fn short(name: &str) -> String {
    let mut text: String = name.chars().take(24).collect();
    if name.chars().count() > 24 {
        text.push('…');
    }
    text
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
