//! Tags, newest first: a walk down one index, bounded by rows and by bytes.

use super::{
    Error, Store,
    engine::{Connection, params},
    rows::tag::{TagRow, name, tag_columns},
    seal::sound,
    snapshots,
    table::Declared as _,
};
use crate::domain::{
    Problem, RunId,
    tree::Tree,
    wire::protocol::{TagName, TagPage, TagQuery, Tagged},
};

/// Rows that one request reads at most where not every row fits.
const BUDGET: usize = 2_000;
/// Rows read at a time: each may hold a megabyte.
const STRIDE: i64 = 32;
/// Bytes of `meta` and states in one answer. The first tag is always there.
const BYTES_MAX: usize = 16 << 20;
/// Tags named beside a snapshot.
const NAMES_MAX: i64 = 50;

pub const OF_RUN: &str = concat!(
    "SELECT ",
    tag_columns!(),
    " FROM tags WHERE run = $1 AND hidden = 0 AND n < $2 ORDER BY n DESC LIMIT $3"
);
pub const NAMED: &str = concat!(
    "SELECT ",
    tag_columns!(),
    " FROM tags WHERE run = $1 AND name = $2 AND hidden = 0"
);
/// A fork's tags have the numbers that they had in its origin: the run tells them apart.
pub const ALL: &str = concat!(
    "SELECT ",
    tag_columns!(),
    " FROM tags WHERE hidden = 0 AND (n, run) < ($1, $2) ORDER BY n DESC, run DESC LIMIT $3"
);
pub const OF_SNAPSHOT: &str = concat!(
    "SELECT ",
    tag_columns!(),
    " FROM tags WHERE run = $1 AND snapshot = $2 AND hidden = 0 ORDER BY n DESC LIMIT $3"
);

impl Store {
    pub async fn tags(&self, query: &TagQuery) -> Result<TagPage, Problem> {
        let read = async {
            let mut conn = match &query.run {
                Some(run) => self.find(run).await?.0,
                None => self.engine.read().await?,
            };
            Walk::of(query)?.page(&mut *conn).await
        };
        read.await.map_err(Error::problem)
    }
}

/// The newest tags of a snapshot, by name. What is damaged is left out; verification names it.
pub async fn names(
    conn: &mut dyn Connection,
    run: &RunId,
    snapshot: i64,
) -> Result<Vec<TagName>, Error> {
    let of = params![run.as_str(), snapshot, NAMES_MAX];
    let rows = conn.fetch(OF_SNAPSHOT, of).await?;
    let rows = rows.into_iter().map(TagRow::opened).filter_map(sound);
    let named = rows.map(|TagRow { space, id, .. }| TagName { space, id });
    Ok(named.collect())
}

struct Walk<'a> {
    query: &'a TagQuery,
    wanted: Vec<(String, Tree)>,
    /// The last tag that was seen: its number and its run.
    place: (i64, String),
}

impl<'a> Walk<'a> {
    fn of(query: &'a TagQuery) -> Result<Self, Problem> {
        let wanted = query.wanted()?.into_iter();
        Ok(Self {
            query,
            wanted: wanted
                .map(|(field, value)| (field, Tree::from(value)))
                .collect(),
            place: query.place()?,
        })
    }

    async fn page(mut self, conn: &mut dyn Connection) -> Result<TagPage, Error> {
        let (mut tags, mut bytes, mut seen) = (Vec::new(), 0, 0);
        loop {
            let rows = self.rows(conn).await?;
            let over = (rows.len() as i64) < STRIDE;
            seen += rows.len();
            for row in rows {
                let place = (row.n, row.run.to_string());
                let size = row.meta.as_ref().map_or(0, String::len);
                let tag = row.shown()?;
                if self.fits(&tag) {
                    // A state is read only once it is known that there is room for one more tag.
                    let full = tags.len() as i64 == self.query.limit || bytes + size > BYTES_MAX;
                    if full && !tags.is_empty() {
                        return Ok(self.so_far(tags));
                    }
                    let tag = self.filled(conn, tag).await?;
                    bytes += size + tag.state.as_ref().map_or(0, |it| it.to_string().len());
                    tags.push(tag);
                }
                self.place = place;
            }
            match () {
                () if over => return Ok(TagPage { tags, next: None }),
                () if seen >= BUDGET => return Ok(self.so_far(tags)),
                () => {}
            }
        }
    }

    fn so_far(self, tags: Vec<Tagged>) -> TagPage {
        let (n, run) = self.place;
        let next = match self.query.run {
            Some(_) => n.to_string(),
            None => format!("{n}@{run}"),
        };
        TagPage {
            tags,
            next: Some(next),
        }
    }

    /// The next rows. A damaged one refuses the request: the program would take an older tag for the newest.
    async fn rows(&self, conn: &mut dyn Connection) -> Result<Vec<TagRow>, Error> {
        let (n, run) = &self.place;
        let Some(of) = &self.query.run else {
            let rows = conn.fetch(ALL, params![*n, run.as_str(), STRIDE]).await?;
            return rows.into_iter().map(TagRow::opened).collect();
        };
        let rows = match (&self.query.space, &self.query.id) {
            (Some(space), Some(id)) => {
                let mut rows = conn
                    .fetch(NAMED, params![of.as_str(), name(space, id)])
                    .await?;
                rows.truncate(1);
                rows
            }
            _ => conn.fetch(OF_RUN, params![of.as_str(), *n, STRIDE]).await?,
        };
        rows.into_iter().map(TagRow::opened).collect()
    }

    fn fits(&self, tag: &Tagged) -> bool {
        let query = self.query;
        let said =
            |field: &Option<String>, value: &str| field.as_deref().is_none_or(|it| it == value);
        let has = |(field, value): &(String, Tree)| {
            let said = tag.meta.get(field);
            said.is_some_and(|said| value.equals(said))
        };
        said(&query.space, &tag.space)
            && said(&query.id, &tag.id)
            && (tag.n, tag.run.as_str()) < (self.place.0, self.place.1.as_str())
            && self.wanted.iter().all(has)
    }

    async fn filled(&self, conn: &mut dyn Connection, tag: Tagged) -> Result<Tagged, Error> {
        if !self.query.full {
            return Ok(tag);
        }
        let state = snapshots::read(conn, &tag.run, tag.snapshot).await?.state;
        Ok(Tagged {
            state: Some(state),
            ..tag
        })
    }
}
