//! A transaction's connection that counts what is executed by it, so that it is known whether a command has written.

use async_trait::async_trait;
use std::borrow::Cow;

use crate::{
    domain::Time,
    store::{
        Error,
        engine::{Connection, Param, Row, Transaction},
    },
};

pub struct Counted {
    conn: Box<dyn Transaction>,
    statements: u64,
}

impl Counted {
    pub fn new(conn: Box<dyn Transaction>) -> Self {
        Self {
            conn,
            statements: 0,
        }
    }

    /// When the transaction took the counter row.
    pub fn began(&self) -> Time {
        self.conn.began()
    }

    pub fn statements(&self) -> u64 {
        self.statements
    }

    /// The same connection for what earlier commands of the group left to be written: not counted.
    pub fn for_the_group(&mut self) -> &mut dyn Connection {
        &mut *self.conn
    }

    pub fn into_inner(self) -> Box<dyn Transaction> {
        self.conn
    }
}

#[async_trait]
impl Connection for Counted {
    async fn execute_built(
        &mut self,
        sql: Cow<'static, str>,
        params: Vec<Param>,
    ) -> Result<u64, Error> {
        self.statements += 1;
        self.conn.execute_built(sql, params).await
    }

    async fn fetch_built(
        &mut self,
        sql: Cow<'static, str>,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, Error> {
        self.conn.fetch_built(sql, params).await
    }

    async fn now(&mut self) -> Result<Time, Error> {
        self.conn.now().await
    }
}
