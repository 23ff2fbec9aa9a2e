//! Copies that lists are read from: each agrees with what it was copied from.

use super::Walk;
use crate::store::{
    Error,
    engine::{Param, Row, params, read_json},
};
use std::collections::BTreeMap;

impl Walk<'_> {
    pub async fn derived(&mut self) -> Result<(), Error> {
        let labels = "SELECT l.key, l.value, l.ord, l.run, r.id, r.labels FROM run_labels l \
             LEFT JOIN runs r ON r.ord = l.ord WHERE (l.key, l.value, l.ord) > ($1, $2, $3) \
             ORDER BY l.key, l.value, l.ord LIMIT 200";
        let first = params!["", "", 0i64];
        self.copies("run_labels", labels, first, label).await?;
        let decided = "SELECT d.author, d.ord, (SELECT COUNT(*) FROM decisions x JOIN runs r ON r.id = x.run \
             WHERE r.ord = d.ord AND x.author = d.author) FROM decided d \
             WHERE (d.author, d.ord) > ($1, $2) ORDER BY d.author, d.ord LIMIT 200";
        self.copies("decided", decided, params!["", 0i64], |mut row| {
            let (_, _) = (row.text()?, row.int()?);
            Ok(row.int()? > 0)
        })
        .await
    }

    async fn copies(
        &mut self,
        table: &str,
        sql: &'static str,
        mut after: Vec<Param>,
        agrees: fn(Row) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let key = after.len();
        loop {
            let rows = match self.conn.fetch(sql, after.clone()).await {
                Ok(rows) => rows,
                Err(error) => return self.trouble(None, &format!("the table {table}"), error),
            };
            let count = rows.len();
            for row in rows {
                let values = row.rest();
                after = values[..key].to_vec();
                let place = format!("the table {table}, row {after:?}");
                match agrees(Row::new(values)) {
                    Ok(true) => {}
                    Ok(false) => {
                        let why = "it is a copy of something that is not there".to_owned();
                        self.damage(None, place, why, None);
                    }
                    Err(error) => self.trouble(None, &place, error)?,
                }
            }
            if count < 200 || self.found.more {
                return Ok(());
            }
        }
    }
}

fn label(mut row: Row) -> Result<bool, Error> {
    let (key, value, _) = (row.text()?, row.text()?, row.int()?);
    let (copied, owner, labels) = (row.text()?, row.opt_text()?, row.opt_text()?);
    let labels: BTreeMap<String, String> = match labels {
        Some(labels) => read_json(&labels)?,
        None => return Ok(false),
    };
    Ok(Some(copied) == owner && labels.get(&key) == Some(&value))
}
