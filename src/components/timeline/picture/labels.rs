//! The words of a picture, each where there is room for it, and what they stand at: gaps, folds, phases, flags, "now".

use super::{ANNOUNCED_MAX, BAR_MIN, FoldMark, Label, Picture, announces};
use crate::domain::{
    DecisionKind, Time,
    views::{
        timeline::{Axis, Flag, Fold, Gap, Look, Scale, Timeline, WIDTH, Waited},
        words,
    },
};

/// The line of words above the bars; it is above the hand that takes the pointer, so that words there can be pointed at.
const ABOVE: f64 = 13.0;

/// Two words need this much room between their places.
const LABEL_ROOM: f64 = 1_050.0;
/// What a letter takes, about, where the page is 1,280 pixels wide; also the space between two words.
const LETTER: f64 = 65.0;

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

    /// The same words on either side of their place, or in its middle.
    fn ways(self) -> impl Iterator<Item = Self> {
        let at = move |anchor| Self {
            anchor,
            ..self.clone()
        };
        ["middle", "end", "start"].into_iter().map(at)
    }
}

impl Picture {
    /// No other words of the same line are in its way, and no edge cuts it off.
    fn has_room(&self, label: &Label) -> bool {
        let (from, to) = label.span();
        let mut beside = self.labels.iter().filter(|it| it.y == label.y);
        let free = beside.all(|it| {
            let (left, right) = it.span();
            right + LETTER <= from || to + LETTER <= left
        });
        free && from >= 0.0 && to <= WIDTH
    }

    /// Puts the first of these into the picture that has room; answers whether one had.
    fn put(&mut self, ways: impl IntoIterator<Item = Label>) -> bool {
        let fits = ways.into_iter().find(|it| self.has_room(it));
        let fitted = fits.is_some();
        self.labels.extend(fits);
        fitted
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
                let label = |(x, anchor)| Label {
                    x,
                    y,
                    text: text.clone(),
                    said: None,
                    class: "label-dim",
                    anchor,
                    step: None,
                };
                self.put([(to - 20.0, "end"), (from + 20.0, "start")].map(label));
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
                anchor: "middle",
                step: None,
            };
            let ways = [fold.words(), fold.short()].map(label);
            self.put(ways.into_iter().flat_map(Label::ways));
        }
    }

    /// Where a fork's own steps begin.
    pub(super) fn own(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
        let Some(own) = timeline.own else { return };
        let x = scale.x(own);
        self.phases.push(x);
        let label = |(x, anchor, text): (f64, _, &str)| Label {
            x,
            y,
            text: text.into(),
            said: None,
            class: "label-dim",
            anchor,
            step: None,
        };
        let ways = [
            (x - 30.0, "end", "◂ shared with its origin"),
            (x + 30.0, "start", "◂ shared with its origin"),
            (x - 30.0, "end", "◂ shared"),
        ];
        self.put(ways.map(label));
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
            self.put(phase.name.as_ref().map(|name| Label {
                x: x + 30.0,
                y,
                text: format!("{} ▸", short(name)),
                said: None,
                class: "label-dim",
                anchor: "start",
                step: Some(phase.first),
            }));
        }
    }

    /// Words above the bars: the worst first, and only where there is room.
    pub(super) fn above(&mut self, timeline: &Timeline, scale: &Scale) {
        let inside = |at: i64| (timeline.window.from..=timeline.window.to).contains(&at);
        for mark in &timeline.marks {
            let at = on_axis(timeline.axis, mark.at, mark.seq);
            if !inside(at) {
                continue;
            }
            let label = Label {
                x: scale.x(at),
                y: ABOVE,
                text: mark.text.clone(),
                said: None,
                class: match mark.look {
                    Look::Crashed => "label-crashed",
                    Look::Failed | Look::Damaged => "label-failed",
                    Look::Waiting => "label-waiting",
                    _ => "label-dim",
                },
                anchor: "middle",
                step: Some(mark.seq),
            };
            self.put(label.ways());
        }
        for flag in &timeline.flags {
            let at = match (timeline.axis, flag.step) {
                (Axis::Time, _) => flag.at.0,
                (Axis::Steps, Some(step)) => step,
                (Axis::Steps, None) => continue,
            };
            if inside(at) {
                self.flag(flag, scale.x(at));
            }
        }
    }

    /// Where there is no room for its words, the flag stands alone; where there is none for it either, below the words that are
    /// there. What it says in full goes with it.
    fn flag(&mut self, flag: &Flag, x: f64) {
        let what = match flag.kind {
            DecisionKind::Claim => "claimed",
            kind => words::decided(kind),
        };
        let label = |text: String| Label {
            x,
            y: ABOVE,
            text,
            said: Some(in_full(flag)),
            class: "label-edited",
            anchor: "middle",
            step: flag.step,
        };
        let alone = label("⚑".into());
        let below = Label {
            y: 23.0,
            anchor: edge(x),
            ..alone.clone()
        };
        let ways = label(format!("⚑ {what}")).ways().chain(alone.ways());
        if !self.put(ways) {
            self.labels.push(below);
        }
    }

    pub(super) fn now(&mut self, timeline: &Timeline, scale: &Scale) {
        if timeline.now.is_none() || timeline.window.to < timeline.whole.to {
            return;
        }
        let x = scale.x(timeline.window.to);
        self.now = (timeline.axis == Axis::Time).then_some(x);
        if timeline.axis == Axis::Time && announces(timeline) {
            self.put([Label {
                x: x + 30.0,
                y: ABOVE,
                text: "now".into(),
                said: None,
                class: "label-now",
                anchor: "start",
                step: None,
            }]);
        }
    }

    /// What is announced after "now", not to scale.
    pub(super) fn announced(&mut self, timeline: &Timeline, scale: &Scale, y: f64) {
        if !announces(timeline) {
            return;
        }
        let x = scale.x(timeline.window.to);
        let shown = timeline.announced.min(ANNOUNCED_MAX);
        let room = (WIDTH - x - 60.0) / shown as f64;
        for n in 0..shown {
            self.announced
                .push((x + 60.0 + n as f64 * room, room * 0.72));
        }
        let label = |(x, anchor)| Label {
            x,
            y,
            text: format!("{} announced", words::count(timeline.announced)),
            said: None,
            class: "label-dim",
            anchor,
            step: None,
        };
        self.put([(x + 60.0, "start"), (WIDTH, "end")].map(label));
    }
}

/// "rewound to before step 43 by ana"
fn in_full(flag: &Flag) -> String {
    let what = words::decided(flag.kind);
    match (flag.kind, flag.step) {
        (DecisionKind::Claim, _) => format!("{} {what}", flag.author),
        (DecisionKind::Rewind, Some(step)) => {
            let step = words::number(step);
            format!("{what} to before step {step} by {}", flag.author)
        }
        _ => format!("{what} by {}", flag.author),
    }
}

fn on_axis(axis: Axis, at: Time, seq: i64) -> i64 {
    match axis {
        Axis::Time => at.0,
        Axis::Steps => seq,
    }
}

/// A word near an edge stands inside it.
fn edge(x: f64) -> &'static str {
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
