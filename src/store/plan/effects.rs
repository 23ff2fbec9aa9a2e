//! What steps did outside, which neither a rewind nor a fork undoes.

use super::{NOTABLE_MAX, facts};
use crate::{
    domain::{
        Time,
        rules::plan::{LeftBehind, left_behind},
    },
    store::{
        Error,
        engine::{Connection, params},
        rows::{RunRow, StepRow, step_columns},
    },
};

const EFFECTS: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM steps WHERE run = $1 AND seq >= $2 AND effect IS NOT NULL ORDER BY seq LIMIT $3"
);
const BEYOND: &str = "SELECT CAST(SUM(a.ended_at - a.begun_at) AS BIGINT), SUM(s.cost_usd) FROM attempts a \
     JOIN steps s ON s.run = a.run AND s.seq = a.seq WHERE a.run = $1 AND a.seq >= $2 AND a.outcome = 'committed' \
     AND s.status = 'committed' AND s.decision IS NULL";

/// The effects from this step on that are not undone.
pub(in crate::store) async fn effects_from(
    conn: &mut dyn Connection,
    run: &RunRow,
    from: i64,
    now: Time,
) -> Result<Vec<LeftBehind>, Error> {
    let params = params![run.id.as_str(), from, NOTABLE_MAX];
    let rows = StepRow::all(conn, EFFECTS, params).await?;
    let (damaged, sound): (Vec<_>, Vec<_>) = rows.iter().partition(|step| step.damaged);
    let steps: Vec<_> = sound.iter().map(|step| facts(&run.id, step)).collect();
    let mut left = left_behind(&steps, now);
    left.extend(damaged.iter().map(|step| LeftBehind::damaged(step.seq)));
    left.sort_by_key(|it| it.seq);
    Ok(left)
}

/// What a fork from before this step does not share: later effects, and earlier ones that are open.
pub(in crate::store) async fn effects_not_shared(
    conn: &mut dyn Connection,
    run: &RunRow,
    from: i64,
    now: Time,
) -> Result<Vec<LeftBehind>, Error> {
    let open = StepRow::open_listed(conn, &run.id).await?;
    let before = open.into_iter().filter(|step| step.seq < from);
    let before = before.map(|step| Ok(facts(&run.id, &step.undamaged()?)));
    let before = before.collect::<Result<Vec<_>, Error>>()?;
    let mut left = left_behind(&before, now);
    left.extend(effects_from(conn, run, from, now).await?);
    Ok(left)
}

/// What committed steps from this one on took, in microseconds, and cost.
pub(in crate::store) async fn beyond(
    conn: &mut dyn Connection,
    run: &RunRow,
    from: i64,
) -> Result<(i64, Option<f64>), Error> {
    let row = conn
        .fetch_one(BEYOND, params![run.id.as_str(), from])
        .await?;
    let mut row = row.ok_or_else(|| Error::damaged("a sum is missing"))?;
    Ok((row.opt_int()?.unwrap_or(0), row.opt_real()?))
}
