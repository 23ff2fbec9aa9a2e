//! Steps by their number, their key and their place.

use super::{StepRow, step_columns as columns};
use crate::{
    domain::{RunId, StepKey},
    store::{
        Error,
        engine::{Connection, Param, params},
    },
};

/// The columns of a step, of those that the rest of the statement chooses.
macro_rules! steps {
    ($which:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM steps WHERE run = $1 AND ",
            $which
        )
    };
}

impl StepRow {
    /// A damaged step is nothing to act on.
    async fn one(
        conn: &mut dyn Connection,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Option<Self>, Error> {
        let Some(mut row) = conn.fetch_one(sql, params).await? else {
            return Ok(None);
        };
        Self::read(&mut row)?.undamaged().map(Some)
    }

    /// Damaged ones too: they are shown as such.
    async fn all(
        conn: &mut dyn Connection,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Self>, Error> {
        let rows = conn.fetch(sql, params).await?;
        rows.into_iter()
            .map(|mut row| Self::read(&mut row))
            .collect()
    }

    pub async fn load(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Self>, Error> {
        Self::one(conn, steps!("seq = $2"), params![run.as_str(), seq]).await
    }

    pub async fn by_key(
        conn: &mut dyn Connection,
        run: &RunId,
        key: &StepKey,
    ) -> Result<Option<Self>, Error> {
        let sql = steps!("key = $2 AND status <> 'superseded'");
        Self::one(conn, sql, params![run.as_str(), key.as_str()]).await
    }

    /// The newest step before this one that counts.
    pub async fn last_before(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Self>, Error> {
        let sql = steps!("seq < $2 AND status <> 'superseded' ORDER BY seq DESC LIMIT 1");
        Self::one(conn, sql, params![run.as_str(), seq]).await
    }

    /// Steps that are neither settled nor failed: what a lease's end has to look at.
    pub async fn open(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Self>, Error> {
        let sql = steps!("status IN ('running', 'crashed', 'waiting') ORDER BY seq");
        let found = Self::all(conn, sql, params![run.as_str()]).await?;
        found.into_iter().map(Self::undamaged).collect()
    }

    pub async fn page(
        conn: &mut dyn Connection,
        run: &RunId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = steps!("seq > $2 ORDER BY seq LIMIT $3");
        Self::all(conn, sql, params![run.as_str(), after, limit]).await
    }

    /// The steps from `first` to `last`.
    pub async fn between(
        conn: &mut dyn Connection,
        run: &RunId,
        first: i64,
        last: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = steps!("seq >= $2 AND seq <= $3 ORDER BY seq");
        Self::all(conn, sql, params![run.as_str(), first, last]).await
    }
}
