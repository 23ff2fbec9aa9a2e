//! The words of a picture, each where there is room for it, and what they stand at: gaps, phases, flags, "now".

use super::{ANNOUNCED_MAX, BAR_MIN, Label, Picture, announces};
use crate::domain::{
    Time,
    views::{
        timeline::{Axis, Gap, Look, Scale, Stretch, Timeline, WIDTH},
        words,
    },
};

/// Two words need this much room between their places.
const LABEL_ROOM: f64 = 1_050.0;

impl Picture {
    pub(super) fn gaps(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
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

    pub(super) fn phases(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
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
    pub(super) fn above(&mut self, timeline: &Timeline, scale: &Scale) {
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
                    Look::Failed | Look::Damaged => "label-failed",
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
            if !inside(at) {
                continue;
            }
            // Where there is no room for its words, the flag alone stands below the words that are there.
            let crowded = taken.iter().any(|it| (it - x).abs() < LABEL_ROOM);
            let (y, text) = match crowded {
                true => (23.0, "⚑".to_owned()),
                false => (13.0, format!("⚑ {}", words::decided(flag.kind))),
            };
            taken.push(x);
            self.labels.push(Label {
                x,
                y,
                text,
                class: "label-edited",
                anchor: anchor(x),
                step: flag.step,
            });
        }
    }

    pub(super) fn now(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
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
