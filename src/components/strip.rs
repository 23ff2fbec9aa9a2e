//! A run in one line: how much of it is committed, where it is, what is announced. It shows proportions of steps,
//! not of time.

use leptos::prelude::*;

use super::glyph::Shape;
use crate::domain::{Run, StepStatus, words};

const WIDTH: f64 = 230.0;
const HEIGHT: f64 = 12.0;
const GAP: f64 = 1.6;
/// The cell where the run is stays wide enough to show its shape.
const AT_MIN: f64 = 11.0;
/// Shorter runs don't fill the strip.
const CELLS_MIN: i64 = 12;

/// Cells by what they show, left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cells {
    committed: i64,
    /// Begun and settled otherwise: skipped, failed before, superseded.
    other: i64,
    at: Option<StepStatus>,
    announced: i64,
}

impl Cells {
    /// Runs with more than `cells_max` steps put several into one cell.
    fn of(run: &Run, cells_max: i64) -> Self {
        let at = run.at.as_ref().map(|at| at.status);
        let at = at.filter(|status| *status != StepStatus::Committed);
        let here = i64::from(at.is_some());
        let other = (run.steps - run.committed - here).max(0);
        let rest = run.committed + other + run.announced;
        let room = cells_max - here;
        // What is there at all keeps at least one cell.
        let fit = |n: i64| match rest > room {
            true => (n * room / rest).max(n.min(1)),
            false => n,
        };
        let (other, announced) = (fit(other), fit(run.announced));
        let committed = match rest > room {
            true => (room - other - announced).max(run.committed.min(1)),
            false => run.committed,
        };
        Self {
            committed,
            other,
            at,
            announced,
        }
    }

    fn total(&self) -> i64 {
        self.at_place() + i64::from(self.at.is_some()) + self.announced
    }

    /// Cells left of the one where the run is.
    fn at_place(&self) -> i64 {
        self.committed + self.other
    }

    /// Where a cell begins and where it ends, the gap after it left out.
    fn edges(&self, cell: i64) -> (f64, f64) {
        let cells = self.total().max(CELLS_MIN) as f64;
        let even = WIDTH / cells;
        let (pitch, wide) = match self.at {
            Some(_) if even < AT_MIN => ((WIDTH - AT_MIN) / (cells - 1.0), AT_MIN),
            _ => (even, even),
        };
        let begin = |cell: i64| match self.at {
            Some(_) if cell > self.at_place() => (cell - 1) as f64 * pitch + wide,
            _ => cell as f64 * pitch,
        };
        (begin(cell), begin(cell + 1) - GAP)
    }

    /// The path of `count` cells after the first `skip`, each shrunk by `inset` on all sides.
    fn path(&self, skip: i64, count: i64, inset: f64) -> String {
        let height = HEIGHT - 2.0 * inset;
        (skip..skip + count)
            .map(|cell| {
                let (left, right) = self.edges(cell);
                let (x, width) = (left + inset, right - left - 2.0 * inset);
                format!("M{x:.1} {inset}h{width:.1}v{height}h-{width:.1}z")
            })
            .collect()
    }

    /// The cell where the run is: filled, but a hatched frame when crashed.
    fn at_path(&self) -> String {
        let place = self.at_place();
        match self.at {
            None => String::new(),
            Some(StepStatus::Crashed) => {
                let (left, right) = self.edges(place);
                let (width, height) = (right - left - 2.4, HEIGHT - 2.4);
                let frame = format!(
                    "M{:.1} 1.2v{height:.1}h{width:.1}v-{height:.1}z",
                    left + 1.2
                );
                let stroke = |from: f64, to: f64| {
                    format!(
                        "M{from:.1} {HEIGHT}L{to:.1} 0h2L{:.1} {HEIGHT}z",
                        from + 2.0
                    )
                };
                let middle = (left + right) / 2.0;
                self.path(place, 1, 0.0)
                    + &frame
                    + &stroke(left, middle)
                    + &stroke(middle - 2.0, right - 2.0)
            }
            Some(_) => self.path(place, 1, 0.0),
        }
    }
}

/// What the strip shows: "46 committed, step 47 crashed mid-flight, 5 announced".
pub fn in_words(run: &Run) -> String {
    let mut parts = vec![format!("{} committed", words::number(run.committed))];
    if let Some(at) = run
        .at
        .as_ref()
        .filter(|at| at.status != StepStatus::Committed)
    {
        parts.push(format!(
            "step {} {}",
            words::number(at.seq),
            words::step_status(at.status)
        ));
    }
    let here = i64::from(parts.len() > 1);
    let other = run.steps - run.committed - here;
    if other > 0 {
        parts.push(format!("{} not committed", words::number(other)));
    }
    if run.announced > 0 {
        parts.push(format!("{} announced", words::number(run.announced)));
    }
    parts.join(", ")
}

#[component]
pub fn Strip(
    #[prop(into)] run: Signal<Run>,
    #[prop(default = 40)] cells_max: i64,
) -> impl IntoView {
    let cells = Memo::new(move |_| run.with(|run| Cells::of(run, cells_max)));
    let draw = move |path: fn(&Cells) -> String| move || cells.with(path);
    let at_tone = move || {
        cells.with(|cells| {
            let tone = cells.at.map_or("", |status| Shape::from(status).tone());
            format!("strip-at {tone}")
        })
    };
    view! {
        <svg
            class="strip"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="xMinYMid"
            role="img"
            aria-label=move || run.with(in_words)
        >
            <path class="strip-committed" d=draw(|it| it.path(0, it.committed, 0.0))/>
            <path class="strip-other" d=draw(|it| it.path(it.committed, it.other, 0.5))/>
            <path class=at_tone d=draw(Cells::at_path)/>
            <path class="strip-announced" d=draw(|it| it.path(it.total() - it.announced, it.announced, 0.5))/>
        </svg>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{run::At, sample};

    fn run(steps: i64, committed: i64, announced: i64, at: StepStatus) -> Run {
        let at = At {
            seq: steps,
            name: "x".into(),
            status: at,
        };
        Run {
            steps,
            committed,
            announced,
            at: Some(at),
            ..sample::run("a")
        }
    }

    #[test]
    fn a_short_run_has_a_cell_per_step() {
        let cells = Cells::of(&run(7, 6, 5, StepStatus::Crashed), 40);
        let wanted = Cells {
            committed: 6,
            other: 0,
            at: Some(StepStatus::Crashed),
            announced: 5,
        };
        assert_eq!(cells, wanted);
    }

    #[test]
    fn a_long_run_keeps_the_place_it_is_at_and_what_is_announced() {
        let cells = Cells::of(&run(8_204, 8_203, 3, StepStatus::Running), 40);
        assert_eq!(cells.at, Some(StepStatus::Running));
        assert_eq!(cells.announced, 1);
        assert_eq!(cells.total(), 40);
        let last = cells.edges(39).1;
        assert!(
            (last - (WIDTH - GAP)).abs() < 0.01,
            "the strip is filled: {last}"
        );
    }

    #[test]
    fn the_strip_says_its_proportions_in_words() {
        let said = in_words(&run(47, 46, 5, StepStatus::Crashed));
        assert_eq!(
            said,
            "46 committed, step 47 crashed mid-flight, 5 announced"
        );
    }
}
