//! Steps as lists show them: one whose row cannot be found or read stands there by its number, as damaged.

use super::StepRow;
use crate::{
    domain::{
        Epoch, Hash, Kind, Recovery, RunId, StepKey, StepStatus, Time, nouns::step::RetryRule,
        rules::begin::BeginOutcome, views::words,
    },
    store::{Error, engine::Row},
};

impl StepRow {
    /// The steps of these rows. One without a readable number is left to verification.
    pub fn listed(rows: Vec<Row>) -> Result<Vec<Self>, Error> {
        let mut steps = Vec::with_capacity(rows.len());
        for mut row in rows {
            let mut first = row.ahead(2);
            match Self::read(&mut row) {
                Err(error) if error.is_damage() => match (first.word(), first.int()) {
                    (Ok(run), Ok(seq)) => steps.push(Self::unreadable(run, seq)?),
                    _ => tracing::warn!(%error, "a step without a readable number is not listed"),
                },
                read => steps.push(read?),
            }
        }
        Ok(steps)
    }

    pub(super) fn unreadable(run: RunId, seq: i64) -> Result<Self, Error> {
        let key: StepKey = seq.to_string().try_into().map_err(Error::Damaged)?;
        Ok(Self {
            run,
            seq,
            key,
            name: words::DAMAGED.to_owned(),
            kind: Kind::default(),
            tool: None,
            input_hash: Hash::default(),
            effect: None,
            recovery: Recovery::Ask,
            retry: RetryRule {
                max_attempts: 1,
                backoff_ms: 0,
            },
            refs: Vec::new(),
            status: StepStatus::Crashed,
            attempts: 0,
            failures: 0,
            generation: 1,
            told: BeginOutcome::Stop,
            epoch: Epoch(0),
            unknown: true,
            given: false,
            decision: None,
            snapshot: None,
            retry_at: None,
            cost_usd: None,
            state_change: None,
            begun_at: Time(0),
            ended_at: None,
            keyed_at: None,
            damaged: true,
            last: None,
        })
    }
}
