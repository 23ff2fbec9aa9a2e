//! Servers say that they are alive, so that a deploy is not taken for a crash.

use async_trait::async_trait;

use crate::domain::Time;
use crate::store::{Error, engine::params, tx::Tx, writer::Command};

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

/// A server that comes with no other alive gives leases that were live at the last tick one more term. It ticks in the
/// same transaction: if it is killed right after, the next server still finds its tick.
pub struct Grace {
    pub server: String,
    /// Servers whose last tick lies before this are gone.
    pub forget_before: Time,
}

#[async_trait]
impl Command for Grace {
    /// How many leases live on.
    type Answer = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64, Error> {
        let sql = "SELECT MAX(ticked_at) FROM servers";
        let last = tx.conn().fetch_one(sql, params![]).await?;
        let last = last.map(|mut row| row.opt_time()).transpose()?.flatten();
        let lived = match last {
            Some(last) => extend(tx, last).await?,
            None => 0,
        };
        let sql = "DELETE FROM servers WHERE ticked_at < $1";
        tx.conn().execute(sql, params![self.forget_before]).await?;
        let server = self.server.clone();
        Tick { server }.apply(tx).await?;
        Ok(lived)
    }
}

/// One more term for leases that had not ended at `last`.
async fn extend(tx: &mut Tx, last: Time) -> Result<u64, Error> {
    tx.flush_runs().await?;
    let now = tx.now;
    let sql = "SELECT id FROM runs WHERE expires_at > $2 AND expires_at < $1 + ttl_ms * 1000";
    let mut lived = 0;
    for mut row in tx.conn().fetch(sql, params![now, last]).await? {
        match tx.stored_run(&row.word()?).await {
            Ok(Some(mut run)) => {
                run.expires_at = Some(now.plus_ms(run.ttl_ms));
                tx.save(&run);
                lived += 1;
            }
            Err(error) if error.spoils_transaction() => return Err(error),
            // A damaged run's lease gets no further term: no command can act on the run.
            Ok(None) | Err(_) => {}
        }
    }
    Ok(lived)
}
