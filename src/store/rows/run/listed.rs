//! Runs as lists show them: one whose row cannot even be read stands there by its id, as damaged.

use super::RunRow;
use crate::{
    domain::{Epoch, Hash, RunId, RunStatus, Time, views::words},
    store::{Error, engine::Row},
};

impl RunRow {
    /// The runs of these rows. One without a readable id is left to verification.
    pub fn listed(rows: Vec<Row>) -> Result<Vec<Self>, Error> {
        let mut runs = Vec::with_capacity(rows.len());
        for mut row in rows {
            let mut first = row.ahead(2);
            match Self::read(&mut row) {
                Err(error) if error.is_damage() => match (first.word(), first.int()) {
                    (Ok(id), Ok(ord)) => runs.push(Self::unreadable(id, ord)),
                    _ => tracing::warn!(%error, "a run without a readable id is not listed"),
                },
                read => runs.push(read?),
            }
        }
        Ok(runs)
    }

    fn unreadable(id: RunId, ord: i64) -> Self {
        Self {
            id,
            ord,
            agent: String::new(),
            title: Some(words::DAMAGED.to_owned()),
            status: RunStatus::Failed,
            version: 0,
            code_version: None,
            model: None,
            labels: Default::default(),
            links: Vec::new(),
            parent: None,
            forked_at: None,
            origin: Hash::default(),
            on_crash: Default::default(),
            max_recoveries: 0,
            recoveries: 0,
            runnable_at: None,
            worker: None,
            epoch: Epoch(0),
            ttl_ms: 0,
            expires_at: None,
            heartbeat_at: None,
            signal: None,
            snapshot: 0,
            hash: Hash::default(),
            steps: 0,
            committed: 0,
            announced: 0,
            at: None,
            error_kind: None,
            effects_unknown: false,
            acknowledged: false,
            looking: None,
            busy_us: 0,
            strip: Default::default(),
            usage: Default::default(),
            created_at: Time(0),
            updated_at: Time(0),
            started_at: None,
            finished_at: None,
            damaged: true,
        }
    }
}
