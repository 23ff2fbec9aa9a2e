//! Are the results that a resumed run will hear still what was committed?

use serde_json::Value;
use std::collections::BTreeSet;

use super::NOTABLE_MAX;
use crate::{
    domain::{
        Hash, StepStatus,
        rules::plan::{Checked, StepFacts},
    },
    store::{
        Error,
        engine::{Connection, params, read_json},
        rows::{RunRow, StepRow, step_columns},
    },
};

/// Replayed results that are checked against their hashes at most, in steps and in bytes.
const CHECKED_MAX: i64 = 500;
const CHECKED_BYTES: usize = 8 << 20;
const STRIDE: i64 = 50;

const RESULTS: &str = concat!(
    "SELECT result, result_hash, ",
    step_columns!(),
    " FROM steps WHERE run = $1 AND seq >= $2 AND seq <= $3"
);

/// Checks the newest steps that will be replayed, 500 of them or 8 MiB; with those that are known as damaged.
pub(super) async fn checked(
    conn: &mut dyn Connection,
    run: &RunRow,
    steps: &[StepFacts],
    damaged: Vec<i64>,
) -> Result<Checked, Error> {
    let mut found = Checked {
        of: run.committed,
        damaged,
        ..Checked::default()
    };
    // Steps that the index of notable ones does not know of.
    let mut unknown = Vec::new();
    let (mut last, mut bytes) = (run.steps, 0);
    while last > (run.steps - CHECKED_MAX).max(0) && bytes < CHECKED_BYTES {
        let first = (last - STRIDE).max(0) + 1;
        let rows = conn
            .fetch(RESULTS, params![run.id.as_str(), first, last])
            .await?;
        let mut missing: BTreeSet<i64> = (first..=last).collect();
        last = first - 1;
        for mut row in rows {
            let result = row.opt_text().and_then(|text| Ok((text, row.opt_hash()?)));
            for step in StepRow::listed(vec![row])? {
                missing.remove(&step.seq);
                let known = |it: &StepFacts| it.seq == step.seq;
                if is_notable(&step) && !step.damaged && !steps.iter().any(known) {
                    unknown.push(step.seq);
                }
                if !step.damaged && step.status != StepStatus::Committed {
                    continue;
                }
                match &result {
                    Ok((text, hash)) if !step.damaged && matches(text.as_deref(), *hash) => {
                        found.good += 1;
                    }
                    _ => found.damaged.push(step.seq),
                }
                bytes += result
                    .as_ref()
                    .map_or(0, |(text, _)| text.as_ref().map_or(0, String::len));
            }
        }
        found.damaged.extend(missing);
    }
    // The index is not blamed if its list was cut, or if the run has changed since it was read.
    if !unknown.is_empty() && (steps.len() as i64) < NOTABLE_MAX {
        let now = RunRow::load(conn, &run.id).await?;
        let still = |now: &RunRow| (now.version, now.updated_at) == (run.version, run.updated_at);
        if now.as_ref().is_some_and(still) {
            found.damaged.extend(unknown);
        }
    }
    found.damaged.sort_unstable();
    found.damaged.dedup();
    Ok(found)
}

/// What [`super::NOTABLE`] finds.
fn is_notable(step: &StepRow) -> bool {
    match step.status {
        StepStatus::Committed => step.given || step.decision.is_some(),
        status => status.is_notable(),
    }
}

/// A stored result is what its hash says.
fn matches(result: Option<&str>, hash: Option<Hash>) -> bool {
    match result.map(read_json::<Value>) {
        None => hash.is_none(),
        Some(Ok(value)) => hash == Some(Hash::of(&value)),
        Some(Err(_)) => false,
    }
}
