//! Many rows by one statement: a transaction keeps what it will write and sends it table by table at its end.
//!
//! On PostgreSQL each statement is a round trip, and a group of commands would pay for each of its rows.

use std::borrow::Cow;

use super::{
    engine::{Connection, Param},
    error::Error,
};

/// A statement around `VALUES (…), (…)`. Both engines name the columns of VALUES `column1`, `column2`, ….
pub struct Bulk {
    pub before: &'static str,
    pub columns: usize,
    pub after: &'static str,
}

/// Rows in one statement; smaller rests go in powers of two, so that few statements are prepared.
const ROWS: usize = 32;

impl Bulk {
    fn sql(&self, rows: usize) -> String {
        let mut sql = String::from(self.before);
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..self.columns {
                let comma = if column == 0 { "" } else { ", " };
                sql.push_str(&format!("{comma}${}", row * self.columns + column + 1));
            }
            sql.push(')');
        }
        sql.push_str(self.after);
        sql
    }

    pub async fn execute(
        &self,
        conn: &mut dyn Connection,
        rows: Vec<Vec<Param>>,
    ) -> Result<(), Error> {
        let mut rest = rows.into_iter();
        while rest.len() > 0 {
            let rows = match rest.len() {
                left if left >= ROWS => ROWS,
                left => 1 << left.ilog2(),
            };
            let params = rest.by_ref().take(rows).flatten().collect();
            conn.execute_built(Cow::Owned(self.sql(rows)), params)
                .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_over_all_rows() {
        let bulk = Bulk {
            before: "INSERT INTO t (a, b) VALUES ",
            columns: 2,
            after: "",
        };
        assert_eq!(
            bulk.sql(2),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)"
        );
    }
}
