//! One page of a list: walks a source until the page is full or the walk's budget is spent, and says where to go on.

use super::{
    super::{Error, engine::Connection, rows::RunRow},
    index_range::{self, IndexRange, IndexRanges, OF_AUTHOR, OF_KEY, OF_OWNER, OF_RUN, OF_TERM},
    search::Search,
    source::Source,
};
use crate::domain::{
    Problem, RunQuery,
    views::{search::mentioned, terms::of_worker},
};

/// Rows that one request reads at most, beyond those that it answers.
const BUDGET: i64 = 2_000;
/// Rows read at a time where not every row fits.
const STRIDE: i64 = 200;
/// Places of an index of words or keys that one request looks at.
const PLACES_MAX: usize = 500;

pub struct Page {
    pub runs: Vec<RunRow>,
    pub next: Option<String>,
}

/// How far a walk came.
pub struct Walked {
    pub runs: Vec<RunRow>,
    /// Where the walk goes on; none at its end.
    pub on: Option<i64>,
}

impl Page {
    pub async fn read(conn: &mut dyn Connection, query: &RunQuery) -> Result<Self, Error> {
        let text = query.q.as_deref().map(str::trim).unwrap_or_default();
        if let Some(key) = &query.key {
            let ranges = key_ranges(conn, key).await?;
            return Self::of_ranges(conn, query, ranges, text).await;
        }
        if let Some(owner) = &query.owner {
            let ranges = vec![
                IndexRange::new(OF_AUTHOR, owner),
                IndexRange::new(OF_OWNER, owner),
            ];
            return Self::of_ranges(conn, query, IndexRanges(ranges), text).await;
        }
        if let Some(worker) = &query.worker {
            let ranges = vec![IndexRange::new(OF_TERM, &of_worker(worker))];
            return Self::of_ranges(conn, query, IndexRanges(ranges), text).await;
        }
        match text.is_empty() {
            true => {
                let walked = scan(conn, query, cursor(query)?, &|_| true).await?;
                Ok(walked.into())
            }
            false => Search::of(conn, query, text).await,
        }
    }

    async fn of_ranges(
        conn: &mut dyn Connection,
        query: &RunQuery,
        ranges: IndexRanges,
        text: &str,
    ) -> Result<Self, Error> {
        let mut ranges = ranges.before(cursor(query)?);
        let mut runs = Vec::new();
        let mut on = None;
        let places = ranges
            .next(conn, PLACES_MAX.max(query.limit as usize) + 1)
            .await?;
        let more = places.len() > PLACES_MAX.max(query.limit as usize);
        for run in index_range::at(conn, &places).await? {
            if runs.len() as i64 == query.limit {
                return Ok(Walked { runs, on }.into());
            }
            on = Some(run.ord);
            let named = mentioned(run.id.as_str(), run.title.as_deref(), text);
            if named && query.fits(&run.to_run()) && worked(conn, &run, query).await? {
                runs.push(run);
            }
        }
        let on = on.filter(|_| more);
        Ok(Walked { runs, on }.into())
    }
}

impl From<Walked> for Page {
    fn from(walked: Walked) -> Self {
        Self {
            runs: walked.runs,
            next: walked.on.map(|on| on.to_string()),
        }
    }
}

fn cursor(query: &RunQuery) -> Result<i64, Error> {
    match &query.cursor {
        None => Ok(i64::MAX),
        Some(cursor) => cursor.parse().map_err(|_| foreign_cursor()),
    }
}

pub fn foreign_cursor() -> Error {
    Problem::invalid("cursor", "is not a cursor that this server gave").into()
}

/// Runs of the query's source that fit and that `also` admits, up to the query's limit.
pub async fn scan(
    conn: &mut dyn Connection,
    query: &RunQuery,
    mut before: i64,
    also: &(dyn Fn(&RunRow) -> bool + Sync),
) -> Result<Walked, Error> {
    let source = Source::of(query)?;
    let (mut runs, mut read) = (Vec::new(), 0);
    loop {
        let stride = (query.limit + 1).max(if read == 0 { 0 } else { STRIDE });
        let rows = source.fetch(conn, before, stride).await?;
        let end = (rows.len() as i64) < stride;
        read += rows.len() as i64;
        for run in RunRow::listed(rows)? {
            if !query.fits(&run.to_run()) || !also(&run) {
                before = run.ord;
                continue;
            }
            if runs.len() as i64 == query.limit {
                return Ok(Walked {
                    runs,
                    on: Some(before),
                });
            }
            before = run.ord;
            runs.push(run);
        }
        if end || read >= BUDGET {
            let on = (!end).then_some(before);
            return Ok(Walked { runs, on });
        }
    }
}

/// Whether the worker that is asked for, if any, began a step of the run.
async fn worked(conn: &mut dyn Connection, run: &RunRow, query: &RunQuery) -> Result<bool, Error> {
    let Some(worker) = &query.worker else {
        return Ok(true);
    };
    let mut of = IndexRanges(vec![IndexRange::new(OF_TERM, &of_worker(worker))]);
    of = of.before(run.ord + 1);
    Ok(of.next(conn, 1).await?.first() == Some(&run.ord))
}

/// Runs with a step of this key, and the run whose step gave this key to its provider.
async fn key_ranges(conn: &mut dyn Connection, key: &str) -> Result<IndexRanges, Error> {
    let mut ranges = vec![IndexRange::new(OF_KEY, key)];
    if let Some(step) = super::found::by_provider_key(conn, key).await? {
        ranges.push(IndexRange::new(OF_RUN, step.0.as_str()));
    }
    Ok(IndexRanges(ranges))
}
