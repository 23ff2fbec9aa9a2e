//! The table `announced`: steps that a plan named, each until it begins.

use super::{
    super::{
        engine::{Connection, params},
        seal::Table,
    },
    opt_text,
};
use crate::{
    domain::{RunId, StepStatus, protocol::PlannedStep, run::Announced},
    store::Error,
};

pub static TABLE: Table = Table {
    name: "announced",
    key: "run, idx",
    columns: "run, idx, key, name, kind, tool, effect, seq, skipped",
    sealed: &[],
    checked: &[],
};

pub struct Announcements;

impl Announcements {
    pub async fn insert(
        conn: &mut dyn Connection,
        run: &RunId,
        plan: &[PlannedStep],
    ) -> Result<(), Error> {
        for (idx, step) in (0i64..).zip(plan) {
            let values = params![
                run.as_str(),
                idx,
                step.key.as_ref().map(|key| key.as_str()),
                step.name.as_str(),
                step.kind.as_str(),
                step.tool.as_deref(),
                opt_text(step.effect.as_ref()),
                None::<i64>,
                None::<String>,
            ];
            TABLE.insert(conn, values).await?;
        }
        Ok(())
    }

    /// A step begins: the first open announcement of its key, else of its name, is met. Answers whether one was.
    pub async fn met(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
        key: &str,
        name: &str,
    ) -> Result<bool, Error> {
        let sql = "SELECT idx FROM announced \
             WHERE run = $1 AND seq IS NULL AND (key = $2 OR (key IS NULL AND name = $3)) \
             ORDER BY CASE WHEN key IS NULL THEN 1 ELSE 0 END, idx LIMIT 1";
        let row = conn
            .fetch_one(sql, params![run.as_str(), key, name])
            .await?;
        let Some(mut row) = row else { return Ok(false) };
        let idx = row.int()?;
        TABLE
            .amend(conn, params![run.as_str(), idx], vec![("seq", seq.into())])
            .await
    }

    pub async fn of(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Announced>, Error> {
        let sql = "SELECT a.run, a.idx, a.key, a.name, a.kind, a.tool, a.effect, a.seq, a.skipped, a.seal, s.status \
             FROM announced a LEFT JOIN steps s ON s.run = a.run AND s.seq = a.seq \
             WHERE a.run = $1 ORDER BY a.idx";
        let rows = conn.fetch(sql, params![run.as_str()]).await?;
        rows.into_iter()
            .map(|mut row| {
                row.begin_seal(&TABLE);
                let (_, idx) = (row.text()?, row.int()?);
                let mut announced = Announced {
                    key: row
                        .opt_text()?
                        .map(|key| key.try_into().map_err(Error::Damaged))
                        .transpose()?,
                    name: row.text()?,
                    kind: row.word()?,
                    tool: row.opt_text()?,
                    effect: row.opt_json()?,
                    seq: row.opt_int()?,
                    status: StepStatus::Pending,
                };
                let skipped = row.opt_text()?;
                if !row.end_seal()? {
                    return Err(Error::damaged(format!("announcement {idx} of run {run}")));
                }
                announced.status = match (row.opt_word()?, skipped) {
                    (Some(status), _) => status,
                    (None, Some(_)) => StepStatus::Skipped,
                    (None, None) => StepStatus::Pending,
                };
                Ok(announced)
            })
            .collect()
    }
}
