//! The table `log_lines`: what attempts wrote while they worked, bounded per attempt.

use super::super::{
    engine::{Connection, params},
    table::{Declared as _, table},
};
use crate::{
    domain::{
        LogLine, RunId, Time,
        wire::protocol::{LOG_LINES_MAX, NewLogLine},
    },
    store::{Error, rows::AttemptRow},
};

table! {
    /// A line as it is stored.
    pub struct LogLineRow in log_lines by (run, seq, attempt, n), listed by columns, stays;

    since 7 {
        run: RunId,      once;
        seq: i64,        once;
        attempt: i64,    once;
        n: i64,          once;
        at: Time,        once;
        level: String,   once;
        message: String, once;
    }
}

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
        let row = LogLineRow {
            run: run.clone(),
            seq: attempt.seq,
            attempt: attempt.attempt,
            n: attempt.log_lines,
            at,
            level: line.level.as_str().to_owned(),
            message: line.message.clone(),
        };
        row.insert(conn).await?;
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
    let newest = "WHERE run = $1 AND seq = $2 ORDER BY attempt DESC, n DESC LIMIT $3";
    let params = params![run.as_str(), seq, LOG_LINES_MAX as i64];
    let rows = LogLineRow::select(conn, newest, params).await?;
    let line = |row: LogLineRow| LogLine {
        attempt: row.attempt,
        at: row.at,
        level: row.level,
        message: row.message,
    };
    Ok(rows.into_iter().rev().map(line).collect())
}
