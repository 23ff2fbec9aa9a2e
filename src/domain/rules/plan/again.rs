//! What of the past may happen again by a plan, in words: the one sentence about it, wherever the plan is summed up.

use super::{Plan, PlanAction};
use crate::domain::views::words;

impl Plan {
    /// "nothing recorded is executed again", unless steps are executed or effects that were rewound past may happen again.
    pub fn executed_again(&self) -> String {
        let executed = self.count(PlanAction::Execute) + self.count(PlanAction::Check);
        let executed = match executed {
            0 => None,
            1 => Some("1 recorded step is executed".to_owned()),
            n => Some(format!("{} recorded steps are executed", words::number(n))),
        };
        let effects = match self.not_undone.len() + self.left_behind.len() {
            0 => None,
            1 => Some("1 effect that is not undone may happen again".to_owned()),
            n => Some(format!("{n} effects that are not undone may happen again")),
        };
        match (executed, effects) {
            (None, None) => "nothing recorded is executed again".into(),
            (Some(said), None) | (None, Some(said)) => said,
            (Some(executed), Some(effects)) => format!("{executed}; {effects}"),
        }
    }
}
