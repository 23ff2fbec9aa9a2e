//! The rows of a run's step list: phases that fold, steps, and what is announced. Rows are counted, not kept: a run
//! of any length has an outline of a few phases.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{run::Announced, step::Step},
    views::timeline::Phase,
};

/// Steps on one page that a list reads.
pub const PAGE: i64 = 50;

/// One row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Row {
    /// The heading of the phase at this index.
    Phase(i64),
    Step(i64),
    /// The announced step at this index.
    Announced(i64),
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outline {
    /// Steps that have begun.
    pub steps: i64,
    pub phases: Vec<Phase>,
    /// By index; a folded phase shows only its heading.
    pub folded: Vec<bool>,
    pub announced: Vec<Announced>,
}

impl Outline {
    /// Folds what is done, except where `at` is.
    pub fn new(steps: i64, phases: Vec<Phase>, announced: Vec<Announced>, at: Option<i64>) -> Self {
        let at = at.unwrap_or(steps);
        let folded = phases
            .iter()
            .map(|phase| phase.reached.is_some() && !(phase.first..=phase.last).contains(&at))
            .collect();
        Self {
            steps,
            phases,
            folded,
            announced,
        }
    }

    fn rows_of(&self, index: usize) -> i64 {
        let phase = &self.phases[index];
        match self.folded.get(index) {
            Some(true) => 1,
            _ => 2 + phase.last - phase.first,
        }
    }

    pub fn len(&self) -> i64 {
        let steps = match self.phases.len() {
            0 => self.steps,
            n => (0..n).map(|index| self.rows_of(index)).sum(),
        };
        steps + self.announced.len() as i64
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row at `index`, counted from 0.
    pub fn row(&self, index: i64) -> Option<Row> {
        let mut left = index;
        if self.phases.is_empty() {
            if (0..self.steps).contains(&left) {
                return Some(Row::Step(left + 1));
            }
            left -= self.steps;
        }
        for (n, phase) in self.phases.iter().enumerate() {
            let rows = self.rows_of(n);
            if (0..rows).contains(&left) {
                return Some(match left {
                    0 => Row::Phase(n as i64),
                    below => Row::Step(phase.first + below - 1),
                });
            }
            left -= rows;
        }
        (0..self.announced.len() as i64)
            .contains(&left)
            .then_some(Row::Announced(left))
    }

    /// Where the step `seq` is; the heading of its phase if that is folded.
    pub fn index_of(&self, seq: i64) -> i64 {
        let mut above = 0;
        for (n, phase) in self.phases.iter().enumerate() {
            if (phase.first..=phase.last).contains(&seq) {
                let below = 1 + seq - phase.first;
                return above + if self.rows_of(n) == 1 { 0 } else { below };
            }
            above += self.rows_of(n);
        }
        match self.phases.is_empty() {
            true => (seq - 1).clamp(0, self.steps),
            false => above,
        }
    }

    /// The rows from `base` on, at most `many`.
    pub fn rows(&self, base: i64, many: i64) -> impl Iterator<Item = Row> {
        (base..base + many).map_while(|index| self.row(index))
    }

    /// Opens or folds the phase at `index`.
    pub fn turn(&mut self, index: i64) {
        if let Some(folded) = self.folded.get_mut(index as usize) {
            *folded = !*folded;
        }
    }

    /// Opens the phase of `seq`.
    pub fn reveal(&mut self, seq: i64) {
        let holds = |phase: &Phase| (phase.first..=phase.last).contains(&seq);
        if let Some(index) = self.phases.iter().position(holds) {
            self.folded[index] = false;
        }
    }

    /// More steps have begun; they belong to the open phase.
    pub fn extend(&mut self, steps: i64) {
        let open = self.phases.last_mut().filter(|it| it.reached.is_none());
        if let Some(open) = open {
            open.last = open.last.max(steps);
        }
        self.steps = self.steps.max(steps);
    }

    /// Steps have begun since the last phase was over: they have no row before their phase is read.
    pub fn lacks_steps(&self) -> bool {
        self.phases.last().is_some_and(|it| it.last < self.steps)
    }

    /// The run went on: more steps, and what is known of phases by now; what was folded by hand stays so. Steps that are known
    /// already stay, if the newer outline was read before they began.
    pub fn grown(&self, newer: &Self) -> Self {
        let mut grown = newer.clone();
        for (index, phase) in newer.phases.iter().enumerate() {
            let same = |it: &Phase| it.first == phase.first;
            if let Some(before) = self.phases.iter().position(same) {
                grown.folded[index] = self.folded[before];
            }
        }
        grown.extend(self.steps);
        grown
    }
}

/// The outline and the steps of the first rows that are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepWindow {
    pub outline: Outline,
    /// The first row that is shown.
    pub base: i64,
    pub steps: Vec<Step>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;

    fn phase(first: i64, last: i64, reached: bool) -> Phase {
        Phase {
            name: None,
            first,
            last,
            from: Time(0),
            reached: reached.then_some(Time(1)),
        }
    }

    fn two_phases() -> Outline {
        Outline::new(
            47,
            vec![phase(1, 19, true), phase(20, 47, false)],
            vec![],
            Some(47),
        )
    }

    #[test]
    fn a_finished_phase_is_one_row_and_the_open_one_lists_its_steps() {
        let outline = two_phases();
        assert_eq!(outline.len(), 1 + 1 + 28);
        assert_eq!(outline.row(0), Some(Row::Phase(0)));
        assert_eq!(outline.row(1), Some(Row::Phase(1)));
        assert_eq!(outline.row(2), Some(Row::Step(20)));
        assert_eq!(outline.row(29), Some(Row::Step(47)));
        assert_eq!(outline.row(30), None);
    }

    #[test]
    fn every_row_is_found_again_by_its_step() {
        let mut outline = two_phases();
        outline.turn(0);
        for index in 0..outline.len() {
            if let Some(Row::Step(seq)) = outline.row(index) {
                assert_eq!(outline.index_of(seq), index);
            }
        }
        outline.turn(0);
        assert_eq!(outline.index_of(7), 0, "a folded step is at its phase");
        outline.reveal(7);
        assert_eq!(outline.index_of(7), 7);
    }

    #[test]
    fn without_milestones_rows_are_steps() {
        let outline = Outline::new(3, vec![], vec![], None);
        assert_eq!(
            outline.rows(1, 9).collect::<Vec<_>>(),
            [Row::Step(2), Row::Step(3)]
        );
        assert_eq!(outline.index_of(3), 2);
    }

    #[test]
    fn what_was_opened_by_hand_stays_open_when_the_run_goes_on() {
        let mut outline = two_phases();
        outline.turn(0);
        let newer = Outline::new(
            60,
            vec![
                phase(1, 19, true),
                phase(20, 52, true),
                phase(53, 60, false),
            ],
            vec![],
            Some(60),
        );
        let grown = outline.grown(&newer);
        assert_eq!(grown.folded, [false, false, false]);
        assert_eq!(grown.steps, 60);
    }

    #[test]
    fn an_outline_that_was_read_before_a_step_began_takes_no_step_away() {
        let mut known = two_phases();
        known.extend(48);
        let grown = known.grown(&two_phases());
        assert_eq!((grown.steps, grown.phases[1].last), (48, 48));
    }

    #[test]
    fn a_step_after_the_last_milestone_has_no_row_until_its_phase_is_read() {
        let mut over = Outline::new(19, vec![phase(1, 19, true)], vec![], None);
        assert!(!over.lacks_steps());
        over.extend(20);
        assert!(over.lacks_steps());
        let read = Outline::new(
            20,
            vec![phase(1, 19, true), phase(20, 20, false)],
            vec![],
            None,
        );
        assert!(!over.grown(&read).lacks_steps());
    }
}
