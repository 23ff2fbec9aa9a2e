//! The table `announced`: steps that a plan named, each until it begins.

use serde_json::Value;
use std::collections::HashMap;

use super::{
    super::{
        bulk::Bulk,
        engine::{Connection, params},
        fresh::steps_among,
        table::{Declared as _, table},
    },
    RunRow, StepRow,
};
use crate::{
    domain::{
        Effect, Kind, RunId, StepKey, StepStatus, nouns::run::Announced,
        wire::protocol::PlannedStep,
    },
    store::Error,
};

table! {
    /// An announcement as it is stored.
    pub struct AnnouncedRow in announced by (run, idx), listed by columns, (forked by AnnouncedInFork);

    since 7 {
        run: RunId,                 once,  given;
        idx: i64,                   once,  copied;
        key: Option<StepKey>,       once,  copied;
        name: String,               once,  copied;
        kind: Kind,                 once,  copied;
        tool: Option<String>,       once,  copied;
        effect: Option<Effect>,     once,  copied;
        /// The step that met it.
        seq: Option<i64>,           later, given;
        /// The result that an operator gave before it began, behind its hash.
        skipped: Option<String>,    later, copied;
    }
}

/// An announcement of a fork.
pub static COPY: Bulk = Bulk::copy(&TABLE);

impl AnnouncedRow {
    fn shown(self) -> Announced {
        Announced {
            key: self.key,
            name: self.name,
            kind: self.kind,
            tool: self.tool,
            effect: self.effect,
            seq: self.seq,
            status: match self.skipped {
                Some(_) => StepStatus::Skipped,
                None => StepStatus::Pending,
            },
            damaged: false,
        }
    }
}

pub struct Announcements;

/// An announcement that was met; with the result of an operator who skipped it before.
pub struct Met {
    pub skipped: Option<Value>,
}

impl Announcements {
    pub async fn insert(
        conn: &mut dyn Connection,
        run: &RunId,
        plan: &[PlannedStep],
    ) -> Result<(), Error> {
        for (idx, step) in (0i64..).zip(plan) {
            let row = AnnouncedRow {
                run: run.clone(),
                idx,
                key: step.key.clone(),
                name: step.name.clone(),
                kind: step.kind,
                tool: step.tool.clone(),
                effect: step.effect.clone(),
                seq: None,
                skipped: None,
            };
            row.insert(conn).await?;
        }
        Ok(())
    }

    /// A step begins: the first open announcement of its key, else of its name, is met.
    pub async fn met(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
        key: &str,
        name: &str,
    ) -> Result<Option<Met>, Error> {
        let find = "SELECT idx, skipped FROM announced \
             WHERE run = $1 AND seq IS NULL AND (key = $2 OR (key IS NULL AND name = $3)) \
             ORDER BY CASE WHEN key IS NULL THEN 1 ELSE 0 END, idx LIMIT 1";
        let row = conn
            .fetch_one(find, params![run.as_str(), key, name])
            .await?;
        let Some(mut row) = row else { return Ok(None) };
        let (idx, skipped) = (row.int()?, row.opt_sealed()?);
        let key = params![run.as_str(), idx];
        TABLE.amend(conn, key, vec![("seq", seq.into())]).await?;
        Ok(Some(Met { skipped }))
    }

    /// Steps from this one on are rewound past: what announced them is open again. Answers how many.
    pub async fn open_again(
        conn: &mut dyn Connection,
        run: &RunId,
        from: i64,
    ) -> Result<i64, Error> {
        let sql = "SELECT idx FROM announced WHERE run = $1 AND seq >= $2";
        let rows = conn.fetch(sql, params![run.as_str(), from]).await?;
        let count = rows.len() as i64;
        for mut row in rows {
            let key = params![run.as_str(), row.int()?];
            let open = vec![("seq", None::<i64>.into())];
            TABLE.amend(conn, key, open).await?;
        }
        Ok(count)
    }

    /// The nth announcement, counted from 1, that has not begun, and whether it was skipped already.
    pub async fn pending(
        conn: &mut dyn Connection,
        run: &RunId,
        nth: i64,
    ) -> Result<Option<(i64, bool)>, Error> {
        let sql = "SELECT idx, CASE WHEN skipped IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END \
             FROM announced WHERE run = $1 AND seq IS NULL ORDER BY idx LIMIT 1 OFFSET $2";
        let row = conn.fetch_one(sql, params![run.as_str(), nth - 1]).await?;
        row.map(|mut row| Ok((row.int()?, row.flag()?))).transpose()
    }

    /// All of a run's announcements. Its row says how many are open: one that is not found is missed.
    pub async fn of(conn: &mut dyn Connection, run: &RunRow) -> Result<Vec<Announced>, Error> {
        let found = Self::read(conn, &run.id).await?;
        let open = found.iter().filter(|it| it.seq.is_none()).count();
        if open as i64 != run.announced {
            // That is damage only if no step has begun since the run was read.
            let now = RunRow::load(conn, &run.id).await?;
            if now.is_some_and(|now| now.announced == run.announced && now.steps == run.steps) {
                return Err(Error::damaged(format!(
                    "the announced steps of run {}",
                    run.id
                )));
            }
        }
        Ok(found)
    }

    async fn read(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Announced>, Error> {
        let all = "WHERE run = $1 ORDER BY idx";
        let rows = AnnouncedRow::select(conn, all, params![run.as_str()]).await?;
        let mut found: Vec<_> = rows.into_iter().map(AnnouncedRow::shown).collect();
        let begun: Vec<i64> = found.iter().filter_map(|it| it.seq).collect();
        let steps = steps_among(conn, run, &begun).await?;
        let steps: HashMap<i64, StepRow> = steps.into_iter().map(|it| (it.seq, it)).collect();
        for announced in &mut found {
            let Some(seq) = announced.seq else { continue };
            match steps.get(&seq).filter(|step| !step.damaged) {
                Some(step) => announced.status = step.status,
                None => announced.damaged = true,
            }
        }
        Ok(found)
    }
}
