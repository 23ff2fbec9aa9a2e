//! The table `announced`: steps that a plan named, each until it begins.

use super::{
    super::engine::{Connection, params},
    opt_text,
};
use crate::{
    domain::{RunId, StepStatus, protocol::PlannedStep, run::Announced},
    store::Error,
};

pub struct Announcements;

impl Announcements {
    pub async fn insert(
        conn: &mut dyn Connection,
        run: &RunId,
        plan: &[PlannedStep],
    ) -> Result<(), Error> {
        let sql = "INSERT INTO announced (run, idx, key, name, kind, tool, effect) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)";
        for (idx, step) in (0i64..).zip(plan) {
            conn.execute(
                sql,
                params![
                    run.as_str(),
                    idx,
                    step.key.as_ref().map(|key| key.as_str()),
                    step.name.as_str(),
                    step.kind.as_str(),
                    step.tool.as_deref(),
                    opt_text(step.effect.as_ref()),
                ],
            )
            .await?;
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
        let sql = "UPDATE announced SET seq = $2 WHERE run = $1 AND idx = (SELECT idx FROM announced \
             WHERE run = $1 AND seq IS NULL AND (key = $3 OR (key IS NULL AND name = $4)) \
             ORDER BY CASE WHEN key IS NULL THEN 1 ELSE 0 END, idx LIMIT 1)";
        Ok(conn
            .execute(sql, params![run.as_str(), seq, key, name])
            .await?
            > 0)
    }

    pub async fn of(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Announced>, Error> {
        let sql = "SELECT a.key, a.name, a.kind, a.tool, a.effect, a.seq, s.status, a.skipped FROM announced a \
             LEFT JOIN steps s ON s.run = a.run AND s.seq = a.seq WHERE a.run = $1 ORDER BY a.idx";
        let rows = conn.fetch(sql, params![run.as_str()]).await?;
        rows.into_iter()
            .map(|mut row| {
                Ok(Announced {
                    key: row
                        .opt_text()?
                        .map(|key| key.try_into().map_err(Error::Damaged))
                        .transpose()?,
                    name: row.text()?,
                    kind: row.word()?,
                    tool: row.opt_text()?,
                    effect: row.opt_json()?,
                    seq: row.opt_int()?,
                    status: match (row.opt_word()?, row.opt_text()?) {
                        (Some(status), _) => status,
                        (None, Some(_)) => StepStatus::Skipped,
                        (None, None) => StepStatus::Pending,
                    },
                })
            })
            .collect()
    }
}
