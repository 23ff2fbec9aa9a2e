//! Servers say that they are alive, so that a deploy is not taken for a crash.

use async_trait::async_trait;

use crate::store::{Error, engine::params, tx::Tx, writer::Command};

/// A server that has not ticked for this long is not alive.
const ALIVE_MS: i64 = 5_000;

/// This server is alive.
pub struct Tick {
    pub server: String,
}

#[async_trait]
impl Command for Tick {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        let sql = "INSERT INTO servers (id, ticked_at) VALUES ($1, $2) \
             ON CONFLICT (id) DO UPDATE SET ticked_at = excluded.ticked_at";
        let now = tx.now;
        tx.conn()
            .execute(sql, params![self.server.as_str(), now])
            .await?;
        Ok(())
    }
}

/// A server that starts with no other alive gives leases that were live at the last tick one more term.
pub struct Grace {
    pub server: String,
}

#[async_trait]
impl Command for Grace {
    /// How many leases live on.
    type Answer = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64, Error> {
        let sql = "SELECT MAX(ticked_at) FROM servers WHERE id <> $1";
        let other = tx
            .conn()
            .fetch_one(sql, params![self.server.as_str()])
            .await?;
        let other = other.map(|mut row| row.opt_time()).transpose()?.flatten();
        let sql = "SELECT MAX(ticked_at) FROM servers";
        let last = tx.conn().fetch_one(sql, params![]).await?;
        let last = last.map(|mut row| row.opt_time()).transpose()?.flatten();
        let alone = other.is_none_or(|at| tx.now.ms_since(at) > ALIVE_MS);
        let Some(last) = last.filter(|_| alone) else {
            return Ok(0);
        };
        tx.release_runs().await?;
        let now = tx.now;
        let sql = "UPDATE runs SET expires_at = $1 + ttl_ms * 1000 WHERE expires_at > $2 \
             AND expires_at < $1 + ttl_ms * 1000";
        let lived = tx.conn().execute(sql, params![now, last]).await?;
        let sql = "DELETE FROM servers WHERE ticked_at < $1";
        tx.conn()
            .execute(sql, params![now.plus_ms(-ALIVE_MS)])
            .await?;
        Ok(lived)
    }
}
