//! Places of runs from several indexes at once, newest first: each range is one walk down an index.

use std::collections::VecDeque;

use super::super::{
    Error,
    engine::{Connection, Param, params},
    rows::{RunRow, run_columns},
};

/// Places read from one range at a time.
const READ: i64 = 64;

pub const OF_TERM: &str =
    "SELECT ord FROM terms WHERE term = $2 AND ord < $1 ORDER BY ord DESC LIMIT 64";
pub const OF_KEY: &str =
    "SELECT DISTINCT ord FROM steps WHERE key = $2 AND ord < $1 ORDER BY ord DESC LIMIT 64";
pub const OF_AUTHOR: &str =
    "SELECT ord FROM decided WHERE author = $2 AND ord < $1 ORDER BY ord DESC LIMIT 64";
pub const OF_OWNER: &str = "SELECT ord FROM run_labels WHERE key = 'owner' AND value = $2 AND ord < $1 \
     ORDER BY ord DESC LIMIT 64";

pub const OF_RUN: &str =
    "SELECT ord FROM runs WHERE id = $2 AND ord < $1 ORDER BY ord DESC LIMIT 64";

/// Thirty-two at once; unused places are -1.
pub const BY_PLACE: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE ord IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
     $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32)"
);
pub const PLACES: usize = 32;

pub struct IndexRange {
    sql: &'static str,
    of: String,
    read: VecDeque<i64>,
    before: i64,
    dry: bool,
}

impl IndexRange {
    pub fn new(sql: &'static str, of: &str) -> Self {
        Self {
            sql,
            of: of.to_owned(),
            read: VecDeque::new(),
            before: i64::MAX,
            dry: false,
        }
    }

    async fn fill(&mut self, conn: &mut dyn Connection) -> Result<(), Error> {
        if !self.read.is_empty() || self.dry {
            return Ok(());
        }
        let rows = conn
            .fetch(self.sql, params![self.before, self.of.as_str()])
            .await?;
        self.dry = (rows.len() as i64) < READ;
        for mut row in rows {
            self.read.push_back(row.int()?);
        }
        self.before = self.read.back().copied().unwrap_or(self.before);
        Ok(())
    }
}

/// All ranges together, each place once.
pub struct IndexRanges(pub Vec<IndexRange>);

impl IndexRanges {
    pub fn before(mut self, before: i64) -> Self {
        self.0.iter_mut().for_each(|range| range.before = before);
        self
    }

    /// The next places; fewer than `limit` only where there are no more.
    pub async fn next(
        &mut self,
        conn: &mut dyn Connection,
        limit: usize,
    ) -> Result<Vec<i64>, Error> {
        let mut places = Vec::new();
        while places.len() < limit {
            for range in &mut self.0 {
                range.fill(conn).await?;
            }
            let Some(place) = self.0.iter().filter_map(|range| range.read.front()).max() else {
                break;
            };
            let place = *place;
            for range in &mut self.0 {
                if range.read.front() == Some(&place) {
                    range.read.pop_front();
                }
            }
            places.push(place);
        }
        Ok(places)
    }
}

/// The runs at these places, newest first.
pub async fn at(conn: &mut dyn Connection, places: &[i64]) -> Result<Vec<RunRow>, Error> {
    let mut runs = Vec::with_capacity(places.len());
    for some in places.chunks(PLACES) {
        let padded = some.iter().copied().chain(std::iter::repeat(-1));
        let params: Vec<Param> = padded.take(PLACES).map(Param::from).collect();
        runs.extend(RunRow::listed(conn.fetch(BY_PLACE, params).await?)?);
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.ord));
    Ok(runs)
}
