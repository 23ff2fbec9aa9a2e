//! The words of a picture, each where there is room for it, and what they stand at: gaps, folds, phases, flags, "now".

use super::{ANNOUNCED_MAX, BAR_MIN, FoldMark, Label, Picture, announces};
use crate::domain::{
    DecisionKind, Time,
    views::{
        timeline::{Axis, Fold, Gap, Look, Scale, Timeline, WIDTH, Waited},
        words,
    },
};

/// Two words need this much room between their places.
const LABEL_ROOM: f64 = 1_050.0;
/// What a letter takes, about.
const LETTER: f64 = 55.0;

impl Label {
    /// From where to where it reaches, about.
    pub fn span(&self) -> (f64, f64) {
        let width = self.text.chars().count() as f64 * LETTER;
        let from = match self.anchor {
            "start" => self.x,
            "end" => self.x - width,
            _ => self.x - width / 2.0,
        };
        (from, from + width)
    }
}

impl Picture {
    /// No other words of the same line are in its way.
    fn has_room(&self, label: &Label) -> bool {
        let (from, to) = label.span();
        let beside = self.labels.iter().filter(|it| it.y == label.y);
        beside.map(Label::span).all(|it| it.1 <= from || to <= it.0)
    }

    pub(super) fn gaps(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
        for gap in &timeline.gaps {
            let (from, to) = (scale.x(gap.from.0), scale.x(gap.to.0));
            if to - from < 4.0 * BAR_MIN {
                continue;
            }
            self.gaps.push((from, to - from));
            if to - from > LABEL_ROOM || gap.open {
                let long = format!("gap {}", words::span(gap.to.ms_since(gap.from)));
                let asked = timeline.folds.iter().filter_map(|it| it.person);
                let text = match (gap.open, asked.rev().find(|it| it.open)) {
                    (false, _) => long,
                    (true, None) => format!("{long}, nobody holds this run"),
                    (true, Some(it)) => format!("{}, nobody holds this run", Waited::words(it)),
                };
                self.labels.push(Label {
                    x: to - 20.0,
                    y,
                    text,
                    said: None,
                    class: "label-dim",
                    anchor: "end",
                    step: None,
                });
            }
        }
    }

    /// A mark for each time that takes no room, and how long it was where there is room for words: the longest first.
    pub(super) fn folds(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
        let mut longest: Vec<Fold> = timeline.folds.clone();
        longest.sort_by_key(|fold| fold.from - fold.to);
        // What the words of an open gap say already.
        let said = |fold: &Fold| {
            let inside = |gap: &&Gap| gap.from.0 < fold.to && gap.to.0 >= fold.to;
            let mut gaps = timeline.gaps.iter();
            gaps.any(|gap| gap.open && inside(&gap))
        };
        for fold in longest {
            let (from, to) = (scale.x(fold.from), scale.x(fold.to));
            self.folds.push(FoldMark {
                x: from,
                width: to - from,
                class: match fold.person {
                    Some(_) => "fold fold-person",
                    None => "fold",
                },
                said: fold.words(),
            });
            if said(&fold) {
                continue;
            }
            let x = (from + to) / 2.0;
            let label = |text: String| Label {
                x,
                y,
                text,
                said: None,
                class: match fold.person {
                    Some(_) => "label-wait",
                    None => "label-dim",
                },
                anchor: anchor(x),
                step: None,
            };
            let ways = [fold.words(), fold.short()].map(label);
            let fits = ways.into_iter().find(|it| self.has_room(it));
            self.labels.extend(fits);
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
            let named = phase.name.as_ref().map(|name| Label {
                x: x + 30.0,
                y,
                text: format!("{} ▸", short(name)),
                said: None,
                class: "label-dim",
                anchor: "start",
                step: Some(phase.first),
            });
            let fits = named.filter(|it| self.has_room(it));
            self.labels.extend(fits);
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
                said: None,
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
            let what = words::decided(flag.kind);
            let (y, text) = match crowded {
                true => (23.0, "⚑".to_owned()),
                false if flag.kind == DecisionKind::Claim => (13.0, "⚑ claimed".to_owned()),
                false => (13.0, format!("⚑ {what}")),
            };
            taken.push(x);
            self.labels.push(Label {
                x,
                y,
                text,
                said: Some(match flag.kind {
                    DecisionKind::Claim => format!("{} {what}", flag.author),
                    _ => format!("{what} by {}", flag.author),
                }),
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
                said: None,
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
            said: None,
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
