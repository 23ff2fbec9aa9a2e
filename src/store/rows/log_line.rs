//! The table `log_lines`: what attempts wrote while they worked, bounded per attempt.

use super::super::{
    engine::{Connection, params},
    seal::Table,
};
use crate::{
    domain::{
        LogLine, RunId, Time,
        wire::protocol::{LOG_LINES_MAX, NewLogLine},
    },
    store::{Error, rows::AttemptRow},
};

pub static TABLE: Table = Table {
    name: "log_lines",
    key: "run, seq, attempt, n",
    columns: "run, seq, attempt, n, at, level, message",
    earlier: &[],
    sealed: &[],
    checked: &[],
};

/// Appends lines and lets the oldest go; counts them on the attempt.
pub async fn append_log(
    conn: &mut dyn Connection,
    run: &RunId,
    attempt: &mut AttemptRow,
    at: Time,
    lines: &[NewLogLine],
) -> Result<(), Error> {
    for line in lines {
        attempt.log_lines += 1;
        let values = params![
            run.as_str(),
            attempt.seq,
            attempt.attempt,
            attempt.log_lines,
            at,
            line.level.as_str(),
            line.message.as_str(),
        ];
        TABLE.insert(conn, values).await?;
    }
    let oldest = attempt.log_lines - LOG_LINES_MAX as i64;
    if oldest > 0 && !lines.is_empty() {
        let sql = "DELETE FROM log_lines WHERE run = $1 AND seq = $2 AND attempt = $3 AND n <= $4";
        conn.execute(
            sql,
            params![run.as_str(), attempt.seq, attempt.attempt, oldest],
        )
        .await?;
    }
    Ok(())
}

/// The newest lines of a step over all its attempts, oldest first.
pub async fn read_log(
    conn: &mut dyn Connection,
    run: &RunId,
    seq: i64,
) -> Result<Vec<LogLine>, Error> {
    let sql = "SELECT run, seq, attempt, n, at, level, message, seal FROM log_lines WHERE run = $1 AND seq = $2 \
         ORDER BY attempt DESC, n DESC LIMIT $3";
    let rows = conn
        .fetch(sql, params![run.as_str(), seq, LOG_LINES_MAX as i64])
        .await?;
    rows.into_iter()
        .rev()
        .map(|row| {
            let mut row = TABLE.open(row)?;
            let (_, _) = (row.text()?, row.int()?);
            let (attempt, _) = (row.int()?, row.int()?);
            Ok(LogLine {
                attempt,
                at: row.time()?,
                level: row.text()?,
                message: row.text()?,
            })
        })
        .collect()
}
