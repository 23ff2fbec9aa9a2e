//! Free text. Words of titles, ids, step names and errors are found by their beginning through an index, a step's
//! key whole; parts of words only in titles and ids, walked newest first. Both go on where the page before ended.

use super::{
    super::{
        Error,
        engine::{Connection, params},
        rows::RunRow,
    },
    index_range::{self, IndexRange, IndexRanges, OF_KEY, OF_TERM},
    walk::{self, Page, foreign_cursor},
};
use crate::domain::{
    RunQuery,
    views::{
        search::mentioned,
        terms::{past, terms},
    },
};

/// A beginning that more words than this share is too short for the index.
const WORDS_MAX: usize = 64;
/// Words of a search that count.
const ASKED_MAX: usize = 6;
/// Places of the index that one request looks at.
const PLACES_MAX: usize = 300;

pub const NEXT_TERM: &str =
    "SELECT term FROM terms WHERE term > $1 AND term < $2 ORDER BY term LIMIT 1";
pub const FIRST_TERM: &str =
    "SELECT term FROM terms WHERE term >= $1 AND term < $2 ORDER BY term LIMIT 1";
pub const HAS_TERM: &str =
    "SELECT ord FROM terms WHERE ord = $1 AND term >= $2 AND term < $3 LIMIT 1";
pub const HAS_KEY: &str = "SELECT ord FROM steps WHERE key = $2 AND ord = $1 LIMIT 1";

pub struct Search<'a> {
    query: &'a RunQuery,
    text: &'a str,
}

/// The word that leads through the index: the one with the fewest indexed words that begin with it.
struct Lead {
    term: String,
    ranges: IndexRanges,
}

impl<'a> Search<'a> {
    pub async fn of(
        conn: &mut dyn Connection,
        query: &'a RunQuery,
        text: &'a str,
    ) -> Result<Page, Error> {
        let search = Self { query, text };
        let (indexed, walked) = search.places()?;
        let lead = search.lead(conn).await?;
        let term = lead.as_ref().map(|lead| lead.term.clone());
        let (mut runs, indexed) = match lead {
            Some(lead) if indexed > 0 => search.follow(conn, lead, indexed).await?,
            _ => (Vec::new(), 0),
        };
        let by_part = match walked {
            0 => None,
            before => {
                let only_by_part = |run: &RunRow| {
                    mentioned(run.id.as_str(), run.title.as_deref(), text)
                        && !leads_to(term.as_deref(), run)
                };
                Some(walk::scan(conn, query, before, &only_by_part).await?)
            }
        };
        let mut walked = by_part.as_ref().and_then(|it| it.on).unwrap_or(0);
        let mut indexed = indexed;
        let parts: Vec<i64> = by_part
            .iter()
            .flat_map(|it| &it.runs)
            .map(|run| run.ord)
            .collect();
        runs.extend(by_part.into_iter().flat_map(|it| it.runs));
        runs.sort_by_key(|run| std::cmp::Reverse(run.ord));
        // Runs beyond the page's limit come on the next page.
        for left in runs
            .split_off(runs.len().min(query.limit as usize))
            .iter()
            .rev()
        {
            match parts.contains(&left.ord) {
                true => walked = left.ord + 1,
                false => indexed = left.ord + 1,
            }
        }
        let next = (indexed > 0 || walked > 0).then(|| format!("{indexed}.{walked}"));
        Ok(Page { runs, next })
    }

    /// Where index and walk go on; 0 is their end.
    fn places(&self) -> Result<(i64, i64), Error> {
        let Some(cursor) = &self.query.cursor else {
            return Ok((i64::MAX, i64::MAX));
        };
        let read = |text: &str| text.parse().map_err(|_| foreign_cursor());
        let (indexed, walked) = cursor.split_once('.').ok_or_else(foreign_cursor)?;
        Ok((read(indexed)?, read(walked)?))
    }

    fn asked(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace().take(ASKED_MAX)
    }

    async fn lead(&self, conn: &mut dyn Connection) -> Result<Option<Lead>, Error> {
        let mut best: Option<(usize, String, &str, Vec<String>)> = None;
        for word in self.asked() {
            let mut terms = terms(word);
            terms.sort_by_key(|term| std::cmp::Reverse(term.len()));
            for term in terms.iter().take(2) {
                let found = beginning_with(conn, term).await?;
                let n = found.len();
                if n <= WORDS_MAX {
                    if best.as_ref().is_none_or(|(least, ..)| n < *least) {
                        best = Some((n, term.clone(), word, found));
                    }
                    break;
                }
            }
        }
        Ok(best.map(|(_, term, word, found)| {
            let mut ranges: Vec<_> = found
                .iter()
                .map(|term| IndexRange::new(OF_TERM, term))
                .collect();
            ranges.push(IndexRange::new(OF_KEY, word));
            Lead {
                term,
                ranges: IndexRanges(ranges),
            }
        }))
    }

    /// Runs that the index leads to and that have all the words, and where to go on.
    async fn follow(
        &self,
        conn: &mut dyn Connection,
        lead: Lead,
        before: i64,
    ) -> Result<(Vec<RunRow>, i64), Error> {
        let wanted = self.query.limit as usize;
        let mut ranges = lead.ranges.before(before);
        let (mut runs, mut looked, mut on) = (Vec::new(), 0, before);
        loop {
            let places = ranges.next(conn, index_range::PLACES).await?;
            let end = places.len() < index_range::PLACES;
            looked += places.len();
            for run in index_range::at(conn, &places).await? {
                on = run.ord;
                if self.query.fits(&run.to_run()) && self.has_all(conn, &run).await? {
                    runs.push(run);
                    if runs.len() == wanted {
                        return Ok((runs, on));
                    }
                }
            }
            match (end, looked >= PLACES_MAX.max(wanted)) {
                (true, _) => return Ok((runs, 0)),
                (false, true) => return Ok((runs, on)),
                (false, false) => {}
            }
        }
    }

    async fn has_all(&self, conn: &mut dyn Connection, run: &RunRow) -> Result<bool, Error> {
        for word in self.asked() {
            let named = mentioned(run.id.as_str(), run.title.as_deref(), word);
            if !named && !has_terms(conn, run, word).await? && !has_key(conn, run, word).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The index finds this run by its title or id already.
fn leads_to(term: Option<&str>, run: &RunRow) -> bool {
    let Some(term) = term else { return false };
    let title = run.title.as_deref().unwrap_or_default();
    let begins = |text: &str| terms(text).iter().any(|it| it.starts_with(term));
    begins(title) || begins(run.id.as_str()) || begins(run.id.short())
}

/// The words that begin so; one more than [`WORDS_MAX`] if there are too many.
async fn beginning_with(conn: &mut dyn Connection, term: &str) -> Result<Vec<String>, Error> {
    let end = past(term);
    let mut found: Vec<String> = Vec::new();
    while found.len() <= WORDS_MAX {
        let (sql, from) = match found.last() {
            None => (FIRST_TERM, term),
            Some(last) => (NEXT_TERM, last.as_str()),
        };
        match conn.fetch_one(sql, params![from, end.as_str()]).await? {
            Some(mut row) => found.push(row.text()?),
            None => break,
        }
    }
    Ok(found)
}

async fn has_terms(conn: &mut dyn Connection, run: &RunRow, word: &str) -> Result<bool, Error> {
    let asked = terms(word);
    for term in &asked {
        let params = params![run.ord, term.as_str(), past(term)];
        if conn.fetch_one(HAS_TERM, params).await?.is_none() {
            return Ok(false);
        }
    }
    Ok(!asked.is_empty())
}

async fn has_key(conn: &mut dyn Connection, run: &RunRow, key: &str) -> Result<bool, Error> {
    Ok(conn
        .fetch_one(HAS_KEY, params![run.ord, key])
        .await?
        .is_some())
}
