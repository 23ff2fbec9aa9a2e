//! Steps by their number, their key and their place.

use super::{StepRow, step_columns as columns};
use crate::{
    domain::{RunId, StepKey},
    store::{
        Error,
        engine::{Connection, Row, params},
    },
};

impl StepRow {
    /// A damaged step is nothing to act on.
    fn sound(row: Option<Row>) -> Result<Option<Self>, Error> {
        let step = row.map(|mut row| Self::read(&mut row)).transpose()?;
        step.map(Self::undamaged).transpose()
    }

    pub async fn load(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Self>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM steps WHERE run = $1 AND seq = $2"
        );
        Self::sound(conn.fetch_one(sql, params![run.as_str(), seq]).await?)
    }

    pub async fn by_key(
        conn: &mut dyn Connection,
        run: &RunId,
        key: &StepKey,
    ) -> Result<Option<Self>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM steps WHERE run = $1 AND key = $2 AND status <> 'superseded'"
        );
        Self::sound(
            conn.fetch_one(sql, params![run.as_str(), key.as_str()])
                .await?,
        )
    }

    /// The newest step before this one that counts.
    pub async fn last_before(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Self>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM steps WHERE run = $1 AND seq < $2 AND status <> 'superseded' ORDER BY seq DESC LIMIT 1"
        );
        Self::sound(conn.fetch_one(sql, params![run.as_str(), seq]).await?)
    }

    /// Steps that are neither settled nor failed: what a lease's end has to look at.
    pub async fn open(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Self>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM steps WHERE run = $1 AND status IN ('running', 'crashed', 'waiting') ORDER BY seq"
        );
        let rows = conn.fetch(sql, params![run.as_str()]).await?;
        rows.into_iter()
            .filter_map(|row| Self::sound(Some(row)).transpose())
            .collect()
    }

    pub async fn page(
        conn: &mut dyn Connection,
        run: &RunId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM steps WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3"
        );
        let rows = conn.fetch(sql, params![run.as_str(), after, limit]).await?;
        rows.into_iter()
            .map(|mut row| Self::read(&mut row))
            .collect()
    }

    /// The steps from `first` to `last`.
    pub async fn between(
        conn: &mut dyn Connection,
        run: &RunId,
        first: i64,
        last: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM steps WHERE run = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq"
        );
        let rows = conn.fetch(sql, params![run.as_str(), first, last]).await?;
        rows.into_iter()
            .map(|mut row| Self::read(&mut row))
            .collect()
    }
}
