//! A tag that comes with a request that makes a snapshot, or names the current one.

use serde_json::{Value, json};

use super::new_state::NewState;
use crate::{
    domain::{Code, Hash, Problem, wire::protocol::Tag},
    store::{
        Error,
        rows::{
            RunRow,
            tag::{self, TagRow},
            text,
        },
        tx::Tx,
    },
};

/// What the request says of the snapshot: a repeat with the same tag must say the same.
pub fn fingerprint(state: &NewState, tag: &Tag) -> Hash {
    Hash::of(&json!([state.fingerprint(), tag.meta]))
}

/// The tag already names a snapshot that has another content or was made by another request.
pub fn taken(by: &TagRow) -> Problem {
    let detail = format!(
        "tag {:?} names snapshot {} already, with another content",
        by.id, by.snapshot
    );
    Problem::new(Code::TagConflict, detail).with("snapshot", by.snapshot)
}

/// Refuses a name that is taken.
pub async fn free(tx: &mut Tx, run: &RunRow, tag: Option<&Tag>) -> Result<(), Error> {
    let Some(tag) = tag else { return Ok(()) };
    match TagRow::named(tx.conn(), &run.id, tag).await? {
        Some(known) => Err(taken(&known).into()),
        None => Ok(()),
    }
}

/// Names the run's current snapshot, by the event that is emitted next. Adds the name to the data of that event.
pub fn name(
    tx: &mut Tx,
    run: &RunRow,
    (tag, seq, body): (Option<&Tag>, Option<i64>, Hash),
    data: &mut Value,
) {
    let Some(tag) = tag else { return };
    data["tag"] = json!({"space": tag.space, "id": tag.id});
    let row = TagRow {
        run: run.id.clone(),
        n: tx.next_event(),
        space: tag.space.clone(),
        id: tag.id.clone(),
        name: tag::name(&tag.space, &tag.id),
        snapshot: run.snapshot,
        hash: run.hash,
        seq,
        created_at: tx.now,
        meta: tag.meta.as_ref().map(text),
        body,
        hidden: false,
    };
    tx.later(&run.id, &tag::INSERT, tag::INSERT.row(row.values(), vec![]));
}
