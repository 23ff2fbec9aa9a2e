//! Hands on the timeline: click picks a step, drag zooms to what was brushed, Ctrl with the wheel zooms, Shift with the
//! wheel pans; arrows, +, −, 0, Home and End do the same from the keyboard.

use leptos::{ev, prelude::*, wasm_bindgen::JsCast as _, web_sys};

use super::{bar_of, controls::Go, middle_of, picture};
use crate::domain::views::timeline::{Bar, Stretch, Timeline, WIDTH};

/// A drag shorter than this is a click.
const CLICK: f64 = 60.0;
const WHEEL_ZOOM: f64 = 1.25;

#[derive(Clone, Copy)]
pub struct Pointer {
    pub timeline: Signal<Option<Timeline>>,
    pub selected: Signal<Option<i64>>,
    /// The step under the pointer.
    pub pointed: RwSignal<Option<i64>>,
    /// What is being brushed, in units of the width.
    pub brushed: RwSignal<Option<(f64, f64)>>,
    pub on_go: Callback<Go>,
}

impl Pointer {
    pub fn down(self, event: &ev::PointerEvent) {
        if event.button() == 0
            && let Some((x, _)) = units(event)
        {
            self.brushed.set(Some((x, x)));
        }
    }

    pub fn moved(self, event: &ev::PointerEvent) {
        let Some((x, lane)) = units(event) else {
            return;
        };
        if let Some((from, _)) = self.brushed.get_untracked() {
            self.brushed.set(Some((from, x)));
        }
        let seq = self
            .timeline
            .with_untracked(|it| step_at(it.as_ref()?, x, lane));
        if seq != self.pointed.get_untracked() {
            self.pointed.set(seq);
        }
    }

    pub fn up(self, event: &ev::PointerEvent) {
        let Some((from, _)) = self.brushed.get_untracked() else {
            return;
        };
        self.brushed.set(None);
        let (to, lane) = units(event).unwrap_or((from, 0));
        let go = self.timeline.with_untracked(|it| {
            let it = it.as_ref()?;
            if (to - from).abs() < CLICK {
                return step_at(it, from, lane).map(Go::Step);
            }
            let scale = picture::scale(it);
            let (a, b) = (scale.value(from.min(to)), scale.value(from.max(to)));
            let window = Stretch::new(a, b).within(it.whole);
            Some(Go::Window(Some(window)))
        });
        if let Some(go) = go {
            self.on_go.run(go);
        }
    }

    pub fn left(self) {
        self.pointed.set(None);
        self.brushed.set(None);
    }

    pub fn wheel(self, event: &ev::WheelEvent) {
        let zooms = event.ctrl_key() || event.meta_key();
        let sideways = match event.delta_x() {
            x if x != 0.0 => x,
            _ if event.shift_key() => event.delta_y(),
            _ => 0.0,
        };
        if !zooms && sideways == 0.0 {
            return;
        }
        event.prevent_default();
        let x = units(event).map_or(WIDTH / 2.0, |(x, _)| x);
        self.go_to_window(|it| {
            if zooms {
                let factor = if event.delta_y() > 0.0 {
                    WHEEL_ZOOM
                } else {
                    1.0 / WHEEL_ZOOM
                };
                let middle = picture::scale(it).value(x);
                return it.window.zoomed(factor, middle, it.whole);
            }
            let by = it.window.length() / 12 * sideways.signum() as i64;
            it.window.shifted(by, it.whole)
        });
    }

    pub fn key(self, event: &ev::KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match (event.key().as_str(), event.shift_key()) {
            ("ArrowLeft", false) => self.step_beside(-1),
            ("ArrowRight", false) => self.step_beside(1),
            ("ArrowLeft", true) => self.pan(-1),
            ("ArrowRight", true) => self.pan(1),
            ("Home", _) => self.pick(|it| it.bars.first()),
            ("End", _) => self.pick(|it| it.bars.last()),
            ("+" | "=", _) => self.zoom(1.0 / WHEEL_ZOOM / WHEEL_ZOOM),
            ("-" | "−", _) => self.zoom(WHEEL_ZOOM * WHEEL_ZOOM),
            ("0", _) => self.on_go.run(Go::Window(None)),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }

    fn pick(self, which: impl Fn(&Timeline) -> Option<&Bar>) {
        let seq = self
            .timeline
            .with_untracked(|it| which(it.as_ref()?).map(|bar| bar.first));
        if let Some(seq) = seq {
            self.on_go.run(Go::Step(seq));
        }
    }

    /// The bar before or after the selected step's.
    fn step_beside(self, by: isize) {
        let seq = self.selected.get_untracked().unwrap_or(1);
        self.pick(|it| {
            let here = bar_of(it, seq)?;
            let index = it.bars.iter().position(|bar| bar == here)?;
            let beside = index.saturating_add_signed(by);
            it.bars.get(beside)
        });
    }

    fn pan(self, by: i64) {
        self.go_to_window(|it| it.window.shifted(by * it.window.length() / 8, it.whole));
    }

    /// Zooms with the selected step in the middle.
    fn zoom(self, factor: f64) {
        let seq = self.selected.get_untracked();
        self.go_to_window(|it| it.window.centred(factor, middle_of(it, seq), it.whole));
    }

    fn go_to_window(self, window: impl Fn(&Timeline) -> Stretch) {
        let go = self.timeline.with_untracked(|it| {
            let it = it.as_ref()?;
            let window = window(it);
            (window != it.window).then(|| Go::Window((window != it.whole).then_some(window)))
        });
        if let Some(go) = go {
            self.on_go.run(go);
        }
    }
}

/// Where the pointer is: in units of the width, and in which lane.
fn units(event: &web_sys::MouseEvent) -> Option<(f64, i64)> {
    let target = event
        .current_target()?
        .dyn_into::<web_sys::Element>()
        .ok()?;
    let place = target.get_bounding_client_rect();
    let share = (f64::from(event.client_x()) - place.left()) / place.width().max(1.0);
    let lane = (f64::from(event.client_y()) - place.top()) / picture::LANE_HEIGHT;
    Some((share.clamp(0.0, 1.0) * WIDTH, lane as i64))
}

/// The step at `x`: of a bar with many, the one that matters.
fn step_at(timeline: &Timeline, x: f64, lane: i64) -> Option<i64> {
    let scale = picture::scale(timeline);
    let distance = |bar: &Bar| {
        let stretch = bar.stretch(timeline.axis);
        let (from, to) = (scale.x(stretch.from), scale.x(stretch.to));
        if x < from {
            from - x
        } else {
            (x - to).max(0.0)
        }
    };
    let nearest = timeline
        .bars
        .iter()
        .filter(|bar| bar.lane == lane.clamp(0, timeline.lanes - 1))
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    if distance(nearest) > 120.0 {
        return None;
    }
    let inside = |seq: i64| (nearest.first..=nearest.last).contains(&seq);
    let marked = timeline.marks.iter().find(|mark| inside(mark.seq));
    Some(marked.map_or(nearest.first, |mark| mark.seq))
}
