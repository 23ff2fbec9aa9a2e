//! Decisions about one run: made by the one write path, and read newest first.

use super::{
    Error, Store,
    commands::Decision as Command,
    engine::{Row, params},
};
use crate::domain::{
    Principal, Problem, RunId,
    decision::{Decision, DecisionPage},
    protocol::{Decide, DecideAnswer},
};

pub(super) const OF_RUN: &str = "SELECT id, kind, author, reason, step, version, at, snapshot, new_run, body \
     FROM decisions WHERE run = $1 AND id < $2 ORDER BY id DESC LIMIT $3";

impl Store {
    pub async fn decide(
        &self,
        run: RunId,
        author: Principal,
        body: Decide,
    ) -> Result<DecideAnswer, Problem> {
        let (kind, step) = (body.kind, body.step);
        let command = Command {
            run: run.clone(),
            author: author.clone(),
            body,
        };
        let decided = self.write(command).await.map_err(Error::problem);
        if let Err(problem) = &decided {
            self.refused_decision(&author, &run, kind, step, problem)
                .await;
        }
        decided
    }

    pub async fn decisions(
        &self,
        run: &RunId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<DecisionPage, Problem> {
        let read = async {
            let (mut conn, _) = self.find(run).await?;
            let params = params![run.as_str(), before.unwrap_or(i64::MAX), limit + 1];
            let rows = conn.fetch(OF_RUN, params).await?;
            let mut decisions = rows
                .into_iter()
                .map(decision)
                .collect::<Result<Vec<_>, _>>()?;
            let more = decisions.len() as i64 > limit;
            decisions.truncate(limit as usize);
            let next = decisions.last().filter(|_| more).map(|it| it.id);
            Ok(DecisionPage { decisions, next })
        };
        read.await.map_err(Error::problem)
    }
}

fn decision(mut row: Row) -> Result<Decision, Error> {
    Ok(Decision {
        id: row.int()?,
        kind: row.word()?,
        author: row.text()?,
        reason: row.opt_text()?,
        step: row.opt_int()?,
        version: row.int()?,
        at: row.time()?,
        snapshot: row.opt_int()?,
        new_run: row.opt_word()?,
        text: row.opt_sealed::<Decide>()?.and_then(|body| body.text),
    })
}
