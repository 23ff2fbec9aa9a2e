//! Runs as lists show them: one whose row cannot even be read stands there by its id, as damaged.

use super::{NewRun, RunRow};
use crate::{
    domain::{Hash, RunId, RunStatus, Time, views::words},
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
            title: Some(words::DAMAGED.to_owned()),
            damaged: true,
            ..Self::blank(NewRun {
                id,
                ord,
                status: RunStatus::Failed,
                version: 0,
                parent: None,
                forked_at: None,
                snapshot: 0,
                hash: Hash::default(),
                steps: 0,
                created_at: Time(0),
                updated_at: Time(0),
            })
        }
    }
}
