//! The table `tags`: names that programs gave to snapshots.

use serde_json::{Map, Value, json};

use crate::{
    domain::{
        Hash, RunId, Time,
        wire::protocol::{Tag, Tagged},
    },
    store::{
        Error,
        bulk::Bulk,
        engine::{Connection, params, read_json},
        table::{Declared as _, table},
    },
};

table! {
    /// A tag as it is stored. A fork has those of the snapshots that it shares.
    pub struct TagRow in tags by (run, n), listed by tag_columns, (forked by TagInFork);

    since 11 {
        run: RunId,             once,    given;
        /// The event that it came with: by it tags are listed, newest first.
        n: i64,                 once,    copied;
        space: String,          once,    copied;
        id: String,             once,    copied;
        /// Hash of `space` and `id`, which may be too long for an index.
        name: Hash,             once,    copied;
        snapshot: i64,          once,    copied;
        /// Of that snapshot.
        hash: Hash,             once,    copied;
        /// The step that was committed with it.
        seq: Option<i64>,       once,    copied;
        created_at: Time,       once,    copied;
        meta: Option<String>,   once,    copied;
        /// What the request said, as a hash: a repeat is known by it.
        body: Hash,             once,    copied;
        /// Rewound past: its name is free again.
        hidden: bool,           changes, copied;
    }
}
pub(in crate::store) use tag_columns;

pub static INSERT: Bulk = Bulk::insert(&TABLE, &[]);
/// A tag of a fork.
pub static COPY: Bulk = Bulk::copy(&TABLE);

impl TagRow {
    /// The tag that counts under this name.
    pub async fn named(
        conn: &mut dyn Connection,
        run: &RunId,
        tag: &Tag,
    ) -> Result<Option<Self>, Error> {
        let this = "WHERE run = $1 AND name = $2 AND hidden = 0";
        let name = params![run.as_str(), name(&tag.space, &tag.id)];
        let found = Self::select(conn, this, name).await?;
        Ok(found.into_iter().next())
    }

    /// The tags that a rewind to before step `to` leaves behind, by their numbers; `base` is the snapshot that it goes back to.
    /// A damaged one refuses the rewind: it would get a new seal.
    pub async fn left_behind(
        conn: &mut dyn Connection,
        run: &RunId,
        (base, to): (i64, i64),
    ) -> Result<Vec<i64>, Error> {
        let these = "WHERE run = $1 AND (snapshot > $2 OR seq >= $3) AND hidden = 0";
        let found = Self::select(conn, these, params![run.as_str(), base, to]).await?;
        Ok(found.into_iter().map(|it| it.n).collect())
    }

    pub async fn hide(conn: &mut dyn Connection, run: &RunId, tags: &[i64]) -> Result<(), Error> {
        for n in tags {
            let key = params![run.as_str(), *n];
            TABLE
                .amend(conn, key, vec![("hidden", true.into())])
                .await?;
        }
        Ok(())
    }

    pub fn shown(self) -> Result<Tagged, Error> {
        Ok(Tagged {
            run: self.run,
            space: self.space,
            id: self.id,
            n: self.n,
            snapshot: self.snapshot,
            seq: self.seq,
            meta: match self.meta {
                Some(meta) => read_json(&meta)?,
                None => Map::<String, Value>::new(),
            },
            created_at: self.created_at,
            state: None,
        })
    }
}

/// By what a tag is found in its run.
pub fn name(space: &str, id: &str) -> Hash {
    Hash::of(&json!([space, id]))
}
