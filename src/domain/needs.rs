//! What waits for a person: single runs, and groups of runs that stopped for one cause.

use serde::{Deserialize, Serialize};

use super::{
    run::Run,
    status::{RunStatus, StepStatus},
    time::Time,
};

/// Single runs at the top of the list.
pub const ROWS_ON_TOP: usize = 5;
/// From this many runs on, one cause is one line.
const GROUP_MIN: usize = 3;

/// What the top of the list shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NeedsYou {
    pub runs: Vec<Run>,
    pub causes: Vec<Cause>,
    /// Single runs that found no place.
    pub more: i64,
}

/// Several runs that stopped at the same step of the same code, in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    pub agent: String,
    pub code_version: Option<String>,
    pub status: RunStatus,
    pub step: String,
    pub runs: i64,
    /// The newest activity among them.
    pub newest: Time,
    /// What they cost together; absent if unknown for any of them.
    pub cost_usd: Option<f64>,
}

impl NeedsYou {
    /// Groups `runs`, which come in the order they shall be seen; at most `rows_max` stay single.
    pub fn of(runs: Vec<Run>, rows_max: usize) -> Self {
        let mut seen = Self::default();
        let mut singles = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            let alike = |other: &&Run| cause(run).is_some() && cause(run) == cause(other);
            let group: Vec<&Run> = runs.iter().filter(alike).collect();
            match group.len() >= GROUP_MIN {
                true if runs[..index].iter().any(|earlier| alike(&earlier)) => {}
                true => seen.causes.push(Cause::of(&group)),
                false => singles.push(run.clone()),
            }
        }
        seen.more = singles.len().saturating_sub(rows_max) as i64;
        singles.truncate(rows_max);
        seen.runs = singles;
        seen
    }
}

impl Cause {
    fn of(group: &[&Run]) -> Self {
        let first = group[0];
        Self {
            agent: first.agent.clone(),
            code_version: first.code_version.clone(),
            status: first.status,
            step: first
                .at
                .as_ref()
                .map_or(String::new(), |at| at.name.clone()),
            runs: group.len() as i64,
            newest: group
                .iter()
                .map(|run| run.updated_at)
                .max()
                .unwrap_or_default(),
            cost_usd: group.iter().map(|run| run.usage.cost_usd).sum(),
        }
    }
}

type Alike<'a> = (&'a str, Option<&'a str>, RunStatus, &'a str, StepStatus);

/// What makes runs alike. Each open question is its own: a person answers one at a time.
fn cause(run: &Run) -> Option<Alike<'_>> {
    let at = run.at.as_ref()?;
    let version = run.code_version.as_deref();
    (run.status != RunStatus::Waiting).then_some((
        run.agent.as_str(),
        version,
        run.status,
        at.name.as_str(),
        at.status,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{run::At, sample};

    fn stopped(id: &str, status: RunStatus, step: &str) -> Run {
        let at_status = match status {
            RunStatus::Crashed => StepStatus::Crashed,
            _ => StepStatus::Waiting,
        };
        Run {
            status,
            at: Some(At {
                seq: 4,
                name: step.into(),
                status: at_status,
            }),
            ..sample::run(id)
        }
    }

    #[test]
    fn three_runs_with_one_cause_become_one_line() {
        let crashed = |id| stopped(id, RunStatus::Crashed, "embed_query");
        let needs = NeedsYou::of(vec![crashed("a"), crashed("b"), crashed("c")], ROWS_ON_TOP);
        assert!(needs.runs.is_empty());
        assert_eq!(needs.causes.len(), 1);
        assert_eq!(needs.causes[0].runs, 3);
        assert_eq!(
            needs.causes[0].cost_usd, None,
            "unknown costs are not summed as zero"
        );
    }

    #[test]
    fn questions_stay_single_and_the_rest_is_counted() {
        let waiting = |n: i32| stopped(&format!("w{n}"), RunStatus::Waiting, "approve");
        let needs = NeedsYou::of((0..8).map(waiting).collect(), ROWS_ON_TOP);
        assert_eq!(
            (needs.runs.len(), needs.more, needs.causes.len()),
            (5, 3, 0)
        );
    }

    #[test]
    fn another_step_is_another_cause() {
        let crashed = |id, step| stopped(id, RunStatus::Crashed, step);
        let needs = NeedsYou::of(
            vec![crashed("a", "x"), crashed("b", "x"), crashed("c", "y")],
            ROWS_ON_TOP,
        );
        assert_eq!((needs.runs.len(), needs.causes.len()), (3, 0));
    }
}
