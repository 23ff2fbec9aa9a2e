//! What a fork copies from its origin: each row is held against its seal before the copy gets one of its own.

use super::{
    PAGE,
    run::{ATTEMPTS_MISSING, STEPS, step_of},
};
use crate::store::{
    Error,
    engine::{Connection, Param, params},
    rows::{RunRow, announced, attempt},
    seal::Table,
    tables,
};

/// The steps of a run before this one, their attempts, and what the run announced, referred to and is found by.
pub async fn sound(conn: &mut dyn Connection, run: &RunRow, before: i64) -> Result<(), Error> {
    steps(conn, run, before).await?;
    let earlier = |key: &[Param]| matches!(key, [_, Param::Int(Some(seq)), _] if *seq < before);
    rows(conn, run, &attempt::TABLE, earlier).await?;
    beside_steps(conn, run).await
}

/// What the run announced, referred to and is found by.
pub async fn beside_steps(conn: &mut dyn Connection, run: &RunRow) -> Result<(), Error> {
    rows(conn, run, &announced::TABLE, |_| true).await?;
    rows(conn, run, &tables::REFS, |_| true).await?;
    let sql = "SELECT ord, term, seal FROM terms WHERE ord = $1";
    for row in conn.fetch(sql, params![run.ord]).await? {
        tables::TERMS.opened(row)?;
    }
    Ok(())
}

/// Each step is there, with all its attempts, and as it was written.
async fn steps(conn: &mut dyn Connection, run: &RunRow, before: i64) -> Result<(), Error> {
    let damaged =
        |seq: i64, why: String| Error::damaged(format!("step {seq} of run {}: {why}", run.id));
    let mut last = 0;
    while last + 1 < before {
        let page = params![run.id.as_str(), last, PAGE.min(before - 1 - last)];
        let found = conn.fetch(STEPS, page).await?;
        if found.is_empty() {
            return Err(damaged(last + 1, "it is missing".into()));
        }
        for row in found {
            let next = last + 1;
            match step_of(run, row) {
                Ok(seq) if seq == next => last = seq,
                Ok(_) => return Err(damaged(next, "it is missing".into())),
                Err(Error::Damaged(why)) => return Err(damaged(next, why)),
                Err(error) => return Err(error),
            }
        }
    }
    let up_to = params![run.id.as_str(), before - 1];
    match conn.fetch_one(ATTEMPTS_MISSING, up_to).await? {
        Some(mut row) => Err(damaged(row.int()?, "an attempt is missing".into())),
        None => Ok(()),
    }
}

/// One step with all that lies in it.
pub async fn step(conn: &mut dyn Connection, run: &RunRow, seq: i64) -> Result<(), Error> {
    let found = conn
        .fetch_one(STEPS, params![run.id.as_str(), seq - 1, 1i64])
        .await?;
    match found.map(|row| step_of(run, row)).transpose()? {
        Some(found) if found == seq => Ok(()),
        _ => Err(Error::damaged(format!(
            "step {seq} of run {}: it is missing",
            run.id
        ))),
    }
}

/// One attempt with all that lies in it.
pub async fn attempt(
    conn: &mut dyn Connection,
    run: &RunRow,
    seq: i64,
    attempt: i64,
) -> Result<(), Error> {
    let before = params![run.id.as_str(), seq, attempt - 1];
    let found = attempt::TABLE.page(conn, Some(&run.id), &before, 1).await?;
    found
        .into_iter()
        .try_for_each(|row| attempt::TABLE.sound(row.rest()))
}

/// The rows of a run whose key is wanted; they come in the order of their keys, the wanted ones first.
async fn rows(
    conn: &mut dyn Connection,
    run: &RunRow,
    table: &'static Table,
    wanted: impl Fn(&[Param]) -> bool,
) -> Result<(), Error> {
    let mut after = Vec::new();
    loop {
        let found = table.page(conn, Some(&run.id), &after, PAGE).await?;
        let more = found.len() as i64 == PAGE;
        for row in found {
            let values = row.rest();
            after = table.key_of(&values);
            if !wanted(&after) {
                return Ok(());
            }
            table.sound(values)?;
        }
        if !more {
            return Ok(());
        }
    }
}
