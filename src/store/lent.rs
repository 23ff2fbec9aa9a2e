//! A pool's connection for the time of one transaction. It goes back to the pool only if the transaction ended well.
//!
//! After an error nobody knows what a connection is in the middle of: SQLite ends a transaction by itself when the disk
//! is full, and a driver that still counts it refuses the next one for ever. Such a connection is closed, and the
//! next transaction gets a new one.

use sqlx::{Database, Executor, Pool, pool::PoolConnection};
use std::ops::{Deref, DerefMut};

pub struct Lent<DB: Database> {
    conn: PoolConnection<DB>,
    /// Not committed: the connection may be in any state.
    open: bool,
}

impl<DB: Database> Lent<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    pub async fn begin(pool: &Pool<DB>, statement: &'static str) -> Result<Self, sqlx::Error> {
        let conn = pool.acquire().await?;
        let mut lent = Self { conn, open: true };
        lent.conn.execute(statement).await?;
        Ok(lent)
    }

    pub async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.conn.execute("COMMIT").await?;
        self.open = false;
        Ok(())
    }

    /// Rolls back, so that locks are free at once, and closes the connection: it may still be in the failed transaction.
    pub async fn rollback(mut self) {
        if let Err(error) = self.conn.execute("ROLLBACK").await {
            tracing::debug!(%error, "rolled back by closing the connection");
        }
    }
}

impl<DB: Database> Deref for Lent<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        &self.conn
    }
}

impl<DB: Database> DerefMut for Lent<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        &mut self.conn
    }
}

impl<DB: Database> Drop for Lent<DB> {
    fn drop(&mut self) {
        if self.open {
            self.conn.close_on_drop();
        }
    }
}
