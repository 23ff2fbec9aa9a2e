//! The table `events`.

use serde_json::Value;

use crate::{
    domain::{Event, EventKind, Hash, RunId, Time},
    store::{Error, bulk::Bulk, engine::Row, table::table},
};

table! {
    /// An event as it is stored; its hash, the newest link of the chain, stands where other tables have their seal.
    pub struct EventRow in events by (id), listed by event_columns, chained;

    since 1 {
        id: i64,            once;
        run: RunId,         once;
        seq: Option<i64>,   once;
        kind: EventKind,    once;
        at: Time,           once;
        data: Value,        once;
    }
}
pub(in crate::store) use event_columns;

/// Events, each with the hash of the one before it: the link between them can be checked.
macro_rules! linked_events {
    ($which:literal) => {
        concat!(
            "SELECT ",
            $crate::store::rows::event::event_columns!(),
            ", (SELECT p.hash FROM events p WHERE p.id = events.id - 1) FROM events WHERE ",
            $which
        )
    };
}
pub(in crate::store) use linked_events;

pub static INSERT: Bulk = Bulk::insert(&TABLE, &[]);

impl EventRow {
    /// An event and its hash.
    pub fn read(row: &mut Row) -> Result<(Event, Hash), Error> {
        Ok((Self::fields(row)?.into(), row.hash()?))
    }
}

impl From<Event> for EventRow {
    fn from(event: Event) -> Self {
        let Event {
            id,
            run,
            seq,
            kind,
            at,
            data,
        } = event;
        Self {
            id,
            run,
            seq,
            kind,
            at,
            data,
        }
    }
}

impl From<EventRow> for Event {
    fn from(row: EventRow) -> Self {
        let EventRow {
            id,
            run,
            seq,
            kind,
            at,
            data,
        } = row;
        Self {
            id,
            run,
            seq,
            kind,
            at,
            data,
        }
    }
}
