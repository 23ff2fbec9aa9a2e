//! What a fork copies from its origin: each row is held against its seal before the copy gets one of its own.

use super::{
    PAGE,
    run::{ATTEMPTS_MISSING, step_of, steps_page},
};
use crate::store::{
    Error,
    engine::{Connection, Param, params},
    rows::{RunRow, announced, attempt, reference, tag, term::TermRow},
    table::{Declared as _, Table},
};

/// The steps of a run before this one, their attempts, and what the run announced, referred to, tagged and is found by.
pub async fn sound(conn: &mut dyn Connection, run: &RunRow, before: i64) -> Result<(), Error> {
    steps(conn, run, before).await?;
    let earlier = |key: &[Param]| matches!(key, [_, Param::Int(Some(seq)), _] if *seq < before);
    rows(conn, run, &attempt::TABLE, Vec::new(), earlier).await?;
    rows(conn, run, &announced::TABLE, Vec::new(), |_| true).await?;
    rows(conn, run, &reference::TABLE, Vec::new(), |_| true).await?;
    rows(conn, run, &tag::TABLE, Vec::new(), |_| true).await?;
    TermRow::select(conn, "WHERE ord = $1", params![run.ord]).await?;
    Ok(())
}

/// Each step is there, with all its attempts, and as it was written.
async fn steps(conn: &mut dyn Connection, run: &RunRow, before: i64) -> Result<(), Error> {
    let damaged =
        |seq: i64, why: String| Error::damaged(format!("step {seq} of run {}: {why}", run.id));
    let mut last = 0;
    while last + 1 < before {
        let found = steps_page(conn, &run.id, last, PAGE.min(before - 1 - last)).await?;
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

/// One step with its attempts, and all that lies in them.
pub async fn step(conn: &mut dyn Connection, run: &RunRow, seq: i64) -> Result<(), Error> {
    let found = steps_page(conn, &run.id, seq - 1, 1).await?.into_iter();
    match found.map(|row| step_of(run, row)).next().transpose()? {
        Some(found) if found == seq => {}
        _ => {
            let place = format!("step {seq} of run {}: it is missing", run.id);
            return Err(Error::damaged(place));
        }
    }
    let first = params![run.id.as_str(), seq, 0i64];
    let of_step = |key: &[Param]| matches!(key, [_, Param::Int(Some(of)), _] if *of == seq);
    rows(conn, run, &attempt::TABLE, first, of_step).await
}

/// The rows of a run after this key whose own key is wanted; they come in the order of their keys, the wanted ones first.
async fn rows(
    conn: &mut dyn Connection,
    run: &RunRow,
    table: &'static Table,
    mut after: Vec<Param>,
    wanted: impl Fn(&[Param]) -> bool,
) -> Result<(), Error> {
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
