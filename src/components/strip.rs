//! A run in one line: its steps in their order, a cell for each or for several, the worst of them shown; then what is
//! announced. It shows proportions of steps, not of time. Each status has a shape of its own.

use leptos::prelude::*;

use super::glyph::Shape;
use crate::domain::{
    Run, StepStatus,
    views::{strip::Cell, tally, words},
};

const WIDTH: f64 = 230.0;
const HEIGHT: f64 = 12.0;
const GAP: f64 = 1.6;
/// The cell where the run is stays wide enough to show its shape.
const AT_MIN: f64 = 11.0;
/// Shorter runs don't fill the strip.
const CELLS_MIN: usize = 12;

/// Cells left to right, then the announced ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cells {
    begun: Vec<Cell>,
    /// The place of the step where the run is, unless that is committed.
    at: Option<usize>,
    announced: usize,
}

impl Cells {
    fn of(run: &Run, cells_max: usize) -> Self {
        let assumed = run.strip.is_empty().then(|| run.assumed_strip());
        let strip = assumed.as_ref().unwrap_or(&run.strip);
        let begun = strip.cells();
        let per = strip.per();
        let at = run.at.as_ref().filter(|at| !is_past(at.status));
        let at = at.and_then(|at| usize::try_from((at.seq - 1) / per).ok());
        // Announced steps get at least one cell, however many steps have begun.
        let announced = usize::try_from((run.announced + per - 1) / per).unwrap_or(0);
        let room = cells_max.saturating_sub(begun.len()).max(1);
        Self {
            at: at.filter(|at| *at < begun.len()),
            announced: announced.min(room),
            begun,
        }
    }

    fn total(&self) -> usize {
        self.begun.len() + self.announced
    }

    /// Where a cell begins and where it ends, the gap after it left out.
    fn edges(&self, cell: usize) -> (f64, f64) {
        let cells = self.total().max(CELLS_MIN) as f64;
        let even = WIDTH / cells;
        let (pitch, wide) = match self.at {
            Some(_) if even < AT_MIN => ((WIDTH - AT_MIN) / (cells - 1.0), AT_MIN),
            _ => (even, even),
        };
        let begin = |cell: usize| match self.at {
            Some(at) if cell > at => (cell - 1) as f64 * pitch + wide,
            _ => cell as f64 * pitch,
        };
        (begin(cell), begin(cell + 1) - GAP)
    }

    /// The shapes of all cells that show this.
    fn path(&self, shown: Cell) -> String {
        let cells = self.begun.iter().enumerate();
        cells
            .filter(|(_, cell)| **cell == shown)
            .map(|(place, _)| shape(shown, self.edges(place)))
            .collect()
    }

    fn announced_path(&self) -> String {
        (self.begun.len()..self.total())
            .map(|place| outline(self.edges(place)))
            .collect()
    }
}

/// The run is not at a step like this any more.
fn is_past(status: StepStatus) -> bool {
    status.is_settled() || status == StepStatus::Superseded
}

/// The class that gives a cell its colour.
fn class(cell: Cell) -> String {
    let at = |status: StepStatus| format!("strip-at {}", Shape::from(status).tone());
    match cell {
        Cell::Committed | Cell::Retried => "strip-committed".into(),
        Cell::Skipped => "strip-other".into(),
        Cell::Superseded => "strip-announced".into(),
        Cell::Running => at(StepStatus::Running),
        Cell::Waiting => at(StepStatus::Waiting),
        Cell::Failed => at(StepStatus::Failed),
        Cell::Crashed => at(StepStatus::Crashed),
    }
}

/// Committed is full, retried split across, failed half as high, waiting two strokes, crashed hatched.
fn shape(cell: Cell, edges: (f64, f64)) -> String {
    let (left, right) = edges;
    let width = right - left;
    match cell {
        Cell::Committed | Cell::Running => bar(left, 0.0, width, HEIGHT),
        Cell::Retried => bar(left, 0.0, width, 5.0) + &bar(left, 7.0, width, 5.0),
        Cell::Failed => bar(left, HEIGHT / 2.0, width, HEIGHT / 2.0),
        Cell::Waiting => {
            let stroke = width * 0.36;
            bar(left, 0.0, stroke, HEIGHT) + &bar(right - stroke, 0.0, stroke, HEIGHT)
        }
        Cell::Skipped | Cell::Superseded => outline(edges),
        Cell::Crashed => hatched(left, right),
    }
}

fn bar(x: f64, y: f64, width: f64, height: f64) -> String {
    format!("M{x:.1} {y}h{width:.1}v{height}h-{width:.1}z")
}

fn outline((left, right): (f64, f64)) -> String {
    let inset = 0.5;
    bar(
        left + inset,
        inset,
        right - left - 2.0 * inset,
        HEIGHT - 2.0 * inset,
    )
}

/// A frame with strokes across it; where it is too narrow for them, a frame alone.
fn hatched(left: f64, right: f64) -> String {
    let (width, height) = (right - left - 2.4, HEIGHT - 2.4);
    let full = bar(left, 0.0, right - left, HEIGHT);
    if width < 1.0 {
        return full;
    }
    let frame = format!(
        "M{:.1} 1.2v{height:.1}h{width:.1}v-{height:.1}z",
        left + 1.2
    );
    if width < 6.0 {
        return full + &frame;
    }
    let stroke = |from: f64, to: f64| {
        format!(
            "M{from:.1} {HEIGHT}L{to:.1} 0h2L{:.1} {HEIGHT}z",
            from + 2.0
        )
    };
    let middle = (left + right) / 2.0;
    full + &frame + &stroke(left, middle) + &stroke(middle - 2.0, right - 2.0)
}

/// What the strip shows: "46 committed, step 47 crashed mid-flight, 5 announced".
pub fn in_words(run: &Run) -> String {
    let mut parts = vec![format!("{} committed", words::number(run.committed))];
    let at = run.at.as_ref();
    let at = at.filter(|at| at.status != StepStatus::Committed);
    let here = at.map(|at| at.status);
    if let Some(at) = at {
        parts.push(format!(
            "step {} {}",
            words::number(at.seq),
            words::step_status(at.status)
        ));
    }
    parts.extend(tally::others(run, here));
    if run.announced > 0 {
        parts.push(format!("{} announced", words::number(run.announced)));
    }
    parts.join(", ")
}

#[component]
pub fn Strip(
    #[prop(into)] run: Signal<Run>,
    #[prop(default = 60)] cells_max: usize,
) -> impl IntoView {
    let cells = Memo::new(move |_| run.with(|run| Cells::of(run, cells_max)));
    let draw = move |shown: Cell| move || cells.with(|cells| cells.path(shown));
    let paths = Cell::ALL.into_iter().map(|shown| {
        let (class, d) = (class(shown), draw(shown));
        view! { <path class=class d=d/> }
    });
    let paths = paths.collect_view();
    view! {
        <svg
            class="strip"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="xMinYMid"
            role="img"
            aria-label=move || run.with(in_words)
        >
            {paths}
            <path class="strip-announced" d=move || cells.with(Cells::announced_path)/>
        </svg>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        nouns::{run::At, sample},
        views::strip,
    };

    fn run(steps: i64, announced: i64, at: StepStatus) -> Run {
        let mut strip = strip::Strip::default();
        for seq in 1..steps {
            strip.set(seq, StepStatus::Committed, 1);
        }
        strip.set(steps, at, 1);
        let at = At {
            seq: steps,
            name: "x".into(),
            status: at,
        };
        Run {
            steps,
            committed: steps - 1,
            announced,
            at: Some(at),
            strip,
            ..sample::run("a")
        }
    }

    #[test]
    fn a_short_run_has_a_cell_per_step() {
        let cells = Cells::of(&run(7, 5, StepStatus::Crashed), 60);
        assert_eq!(cells.begun.len(), 7);
        assert_eq!((cells.at, cells.begun[6]), (Some(6), Cell::Crashed));
        assert_eq!(cells.announced, 5);
    }

    #[test]
    fn a_long_run_keeps_the_place_it_is_at_and_what_is_announced() {
        let cells = Cells::of(&run(8_204, 3, StepStatus::Running), 60);
        assert_eq!(cells.at, Some(cells.begun.len() - 1));
        assert_eq!(cells.announced, 1);
        let last = cells.edges(cells.total() - 1).1;
        assert!(
            (last - (WIDTH - GAP)).abs() < 0.01,
            "the strip is filled: {last}"
        );
    }

    #[test]
    fn a_crash_is_drawn_where_it_was() {
        let mut run = run(20, 0, StepStatus::Committed);
        run.strip.set(5, StepStatus::Crashed, 1);
        let cells = Cells::of(&run, 60);
        let place = cells.edges(4).0;
        assert!(
            cells
                .path(Cell::Crashed)
                .starts_with(&format!("M{place:.1} 0"))
        );
    }

    #[test]
    fn the_strip_says_its_proportions_in_words() {
        let said = in_words(&run(47, 5, StepStatus::Crashed));
        assert_eq!(
            said,
            "46 committed, step 47 crashed mid-flight, 5 announced"
        );
    }
}
