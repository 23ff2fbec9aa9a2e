//! When a token or a session was last used. Each server writes it for many at once, at most once a minute for each: see
//! `server/auth/seen`.

use async_trait::async_trait;
use std::collections::HashMap;

use super::{
    super::{
        Command, Error, Store,
        engine::{Connection, Param, params},
        rows::seen::SeenRow,
        table::Declared as _,
        tables,
        tx::Tx,
    },
    sessions::sound,
};
use crate::domain::{Hash, Time, nouns::lifetime::Lifetime};

/// How long a session may be idle, where the settings do not say.
pub const SESSION_IDLE: Lifetime = Lifetime(12 * 3_600_000);

/// What was used, and how many milliseconds ago.
struct Saw(Vec<(Hash, i64)>);

#[async_trait]
impl Command for Saw {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        for (hash, ms_ago) in &self.0 {
            let at = tx.now.plus_ms(-ms_ago);
            let known = vec![("at", at.into())];
            match tables::SEEN.amend(tx.conn(), params![*hash], known).await {
                Ok(true) => {}
                Ok(false) => {
                    let row = SeenRow { hash: *hash, at };
                    row.insert(tx.conn()).await?;
                }
                // A damaged row stays as it is, so that verification names it; the other rows are written.
                Err(error) if error.is_damage() => {
                    tracing::error!(%error, "when it was last used is damaged");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// When each of these was last used, as far as that is known.
pub(super) async fn last_seen(
    conn: &mut dyn Connection,
    hashes: impl Iterator<Item = Hash>,
) -> Result<HashMap<Hash, Time>, Error> {
    let hashes: Vec<Param> = hashes.map(Param::from).collect();
    let seen = sound::<SeenRow>(conn, "hash", hashes).await?;
    Ok(seen.into_iter().map(|row| (row.hash, row.at)).collect())
}

/// When this was last used; a damaged row is an error, and so lets nobody in.
pub(super) async fn seen(conn: &mut dyn Connection, hash: Hash) -> Result<Option<Time>, Error> {
    let rows = SeenRow::select(conn, "WHERE hash = $1", params![hash]).await?;
    Ok(rows.first().map(|row| row.at))
}

impl Store {
    /// Writes down what was used, each with how many milliseconds ago that was.
    pub async fn saw(&self, used: Vec<(Hash, i64)>) -> Result<(), Error> {
        self.write(Saw(used)).await
    }

    /// Whether a session was idle for too long. Earlier versions did not record when a session was used: such a session
    /// can only be idle after its first recorded use.
    pub(super) fn is_idle(&self, seen: Option<Time>, now: Time) -> bool {
        seen.is_some_and(|at| at.plus_ms(self.session_idle.0) <= now)
    }
}
