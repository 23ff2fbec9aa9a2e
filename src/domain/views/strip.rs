//! A run's steps in short: a bounded row of cells, kept with the run and changed as its steps change, so that a
//! list shows where each run broke without reading a step.
//!
//! Each cell stands for the same number of steps; when there are too many cells, neighbours merge. A step that is
//! not settled is remembered by its number and laid over its cell, so a cell is right again when the step settles.

use serde::{Deserialize, Serialize};

use crate::domain::nouns::status::StepStatus;

/// Most cells of a strip; half of them right after neighbours merged.
pub const CELLS_MAX: usize = 48;
/// Most steps that are remembered one by one.
const OPEN_MAX: usize = 24;

/// What a cell shows; of several steps the worst, which is the last here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Superseded,
    Committed,
    Skipped,
    /// Committed after more than one attempt.
    Retried,
    Running,
    Waiting,
    Failed,
    Crashed,
}

impl Cell {
    pub const ALL: [Self; 8] = [
        Self::Superseded,
        Self::Committed,
        Self::Skipped,
        Self::Retried,
        Self::Running,
        Self::Waiting,
        Self::Failed,
        Self::Crashed,
    ];

    fn letter(self) -> char {
        match self {
            Self::Superseded => 'z',
            Self::Committed => '.',
            Self::Skipped => 's',
            Self::Retried => 'r',
            Self::Running => '>',
            Self::Waiting => 'w',
            Self::Failed => 'f',
            Self::Crashed => 'x',
        }
    }

    fn of_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.letter() == letter)
    }

    fn of(status: StepStatus, tries: i64) -> Self {
        match status {
            StepStatus::Committed if tries > 1 => Self::Retried,
            StepStatus::Committed => Self::Committed,
            StepStatus::Skipped => Self::Skipped,
            StepStatus::Superseded => Self::Superseded,
            StepStatus::Waiting => Self::Waiting,
            StepStatus::Failed => Self::Failed,
            StepStatus::Crashed => Self::Crashed,
            StepStatus::Running | StepStatus::Pending => Self::Running,
        }
    }

    fn settled(self) -> bool {
        self <= Self::Retried
    }
}

/// Kept as text: `2;..r....;17x 19>` are cells of two steps each, step 17 crashed and step 19 running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Strip {
    /// Steps in a cell.
    per: i64,
    cells: Vec<Cell>,
    /// Steps that are not settled.
    open: Vec<(i64, Cell)>,
}

impl Default for Strip {
    fn default() -> Self {
        Self {
            per: 1,
            cells: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl Strip {
    /// Nothing is known of any step.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// A step, numbered from 1, became this.
    pub fn set(&mut self, seq: i64, status: StepStatus, tries: i64) {
        if seq < 1 {
            return;
        }
        while (seq - 1) / self.per >= CELLS_MAX as i64 {
            self.merge();
        }
        let place = self.place(seq);
        if self.cells.len() <= place {
            self.cells.resize(place + 1, Cell::Committed);
        }
        self.open.retain(|(it, _)| *it != seq);
        let cell = Cell::of(status, tries);
        if cell.settled() {
            self.mark(place, cell);
            return;
        }
        if self.per == 1 {
            self.cells[place] = Cell::Committed;
        }
        self.open.push((seq, cell));
        if self.open.len() > OPEN_MAX {
            // The oldest failed step is the least likely to change, so it is the one to forget.
            let oldest = self.open.iter().position(|(_, it)| *it == Cell::Failed);
            let (seq, cell) = self.open.remove(oldest.unwrap_or(0));
            self.mark(self.place(seq), cell);
        }
    }

    fn place(&self, seq: i64) -> usize {
        usize::try_from((seq - 1) / self.per).unwrap_or(0)
    }

    fn mark(&mut self, place: usize, cell: Cell) {
        let one = self.per == 1;
        if let Some(kept) = self.cells.get_mut(place) {
            *kept = match one {
                true => cell,
                false => cell.max(*kept),
            };
        }
    }

    fn merge(&mut self) {
        self.per *= 2;
        self.cells = self
            .cells
            .chunks(2)
            .map(|pair| pair.iter().copied().max().unwrap_or(Cell::Committed))
            .collect();
    }

    /// Steps in a cell.
    pub fn per(&self) -> i64 {
        self.per
    }

    /// How many steps are this, as far as the strip tells: of settled ones that share a cell it does not.
    pub fn count(&self, status: StepStatus) -> i64 {
        let cell = Cell::of(status, 1);
        let alone: &[Cell] = match self.per {
            1 => &self.cells,
            _ => &[],
        };
        let open = self.open.iter().map(|(_, it)| it);
        open.chain(alone).filter(|it| **it == cell).count() as i64
    }

    /// Each cell at its worst.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = self.cells.clone();
        for (seq, open) in &self.open {
            if let Some(cell) = cells.get_mut(self.place(*seq)) {
                *cell = (*open).max(*cell);
            }
        }
        cells
    }
}

impl From<Strip> for String {
    fn from(strip: Strip) -> Self {
        if strip.cells.is_empty() {
            return String::new();
        }
        let cells: String = strip.cells.iter().map(|cell| cell.letter()).collect();
        let open: Vec<_> = strip
            .open
            .iter()
            .map(|(seq, cell)| format!("{seq}{}", cell.letter()))
            .collect();
        format!("{};{cells};{}", strip.per, open.join(" "))
    }
}

/// A strip is a picture, not a record: text that is none is an empty strip.
impl From<String> for Strip {
    fn from(text: String) -> Self {
        read(&text).unwrap_or_default()
    }
}

fn read(text: &str) -> Option<Strip> {
    let mut parts = text.split(';');
    let per = parts.next()?.parse().ok().filter(|per| *per > 0)?;
    let cells = parts.next()?.chars().map(Cell::of_letter).collect();
    let open = parts.next()?.split_whitespace().map(|step| {
        let (last, letter) = step.char_indices().last()?;
        Some((step[..last].parse().ok()?, Cell::of_letter(letter)?))
    });
    let cells: Option<Vec<_>> = cells;
    Some(Strip {
        per,
        cells: cells.filter(|cells| cells.len() <= CELLS_MAX)?,
        open: open.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use StepStatus::{Committed, Crashed, Failed, Running, Skipped};

    /// Steps 1…n in turn, each begun and committed.
    fn worked(n: i64) -> Strip {
        let mut strip = Strip::default();
        for seq in 1..=n {
            strip.set(seq, Running, 1);
            strip.set(seq, Committed, 1);
        }
        strip
    }

    #[test]
    fn a_short_run_has_a_cell_per_step_with_the_crash_at_its_place() {
        let mut strip = worked(4);
        strip.set(2, Skipped, 1);
        strip.set(5, Crashed, 1);
        let wanted = [
            Cell::Committed,
            Cell::Skipped,
            Cell::Committed,
            Cell::Committed,
            Cell::Crashed,
        ];
        assert_eq!(strip.cells(), wanted);
        strip.set(5, Running, 2);
        strip.set(5, Committed, 2);
        assert_eq!(strip.cells()[4], Cell::Retried);
    }

    #[test]
    fn a_long_run_stays_bounded_and_shows_a_crash_until_it_is_settled() {
        let mut strip = worked(10_000);
        strip.set(10_001, Crashed, 1);
        strip.set(10_002, Committed, 1);
        assert!(strip.cells().len() <= CELLS_MAX, "{strip:?}");
        assert_eq!(strip.cells().last(), Some(&Cell::Crashed));
        assert!(String::from(strip.clone()).len() < 100);
        strip.set(10_001, Committed, 2);
        assert_eq!(strip.cells().last(), Some(&Cell::Retried));
    }

    #[test]
    fn ten_thousand_failures_are_remembered_where_they_were() {
        let mut strip = worked(100);
        for seq in 101..=10_100 {
            strip.set(seq, Failed, 3);
        }
        assert!(String::from(strip.clone()).len() < 400);
        let (calm, failed): (Vec<_>, Vec<_>) = strip
            .cells()
            .into_iter()
            .partition(|it| *it != Cell::Failed);
        assert!(failed.len() > 20 && calm.len() <= 1, "{strip:?}");
    }

    #[test]
    fn every_status_is_in_the_text_of_a_strip() {
        for &status in StepStatus::ALL {
            let mut strip = worked(3);
            strip.set(4, status, 1);
            assert_eq!(Strip::from(String::from(strip.clone())), strip, "{status}");
        }
    }

    #[test]
    fn text_gives_back_the_strip_it_was_made_from() {
        let mut strip = worked(100);
        strip.set(40, Skipped, 1);
        strip.set(101, Running, 1);
        let text = String::from(strip.clone());
        assert_eq!(Strip::from(text), strip);
        assert_eq!(Strip::from("what is this".to_owned()), Strip::default());
    }
}
