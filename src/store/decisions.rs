//! Decisions about one run: made by the one write path, and read newest first.

use super::{
    Error, Store,
    commands::Decision as Command,
    engine::{Connection, Param, params},
    rows::decision::DecisionRow,
    seal,
    table::Declared as _,
};
use crate::domain::{
    Principal, Problem, RunId,
    rules::decision::{Decision, DecisionPage},
    wire::protocol::{Decide, DecideAnswer},
};

impl Store {
    pub async fn decide(
        &self,
        run: RunId,
        author: Principal,
        body: Decide,
    ) -> Result<DecideAnswer, Problem> {
        let (kind, step) = (body.kind, body.step);
        let command = Command::new(run.clone(), author.clone(), body);
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
            let newest = "WHERE run = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
            let mut decisions = some(&mut *conn, newest, params).await?;
            let more = decisions.len() as i64 > limit;
            decisions.truncate(limit as usize);
            let next = decisions.last().filter(|_| more).map(|it| it.id);
            Ok(DecisionPage { decisions, next })
        };
        read.await.map_err(Error::problem)
    }
}

/// The decisions that the rest of the statement chooses.
pub(super) async fn some(
    conn: &mut dyn Connection,
    rest: &'static str,
    params: Vec<Param>,
) -> Result<Vec<Decision>, Error> {
    let rows = DecisionRow::select(conn, rest, params).await?;
    rows.into_iter().map(decision).collect()
}

/// The same for a picture of them, without damaged ones.
pub(super) async fn shown(
    conn: &mut dyn Connection,
    rest: &'static str,
    params: Vec<Param>,
) -> Result<Vec<Decision>, Error> {
    let rows = DecisionRow::sound_ones(conn, rest, params).await?;
    rows.into_iter().map(decision).collect()
}

fn decision(row: DecisionRow) -> Result<Decision, Error> {
    Ok(Decision {
        text: seal::open::<Decide>(&row.body)?.text,
        id: row.id,
        kind: row.kind,
        author: row.author,
        reason: row.reason,
        step: row.step,
        version: row.version,
        at: row.at,
        snapshot: row.snapshot,
        new_run: row.new_run,
    })
}
