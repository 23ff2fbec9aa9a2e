//! Where a list's runs come from: the one index that fits the filters best, newest run first. What the index does
//! not answer is checked row by row.

use super::super::{
    Error,
    engine::{Connection, Param, Row, params},
    rows::run_columns,
};
use crate::domain::{Problem, RunQuery, RunStatus, rules::needs::Alike};

/// The index of costly runs begins here.
const COSTLY: i64 = 20;

/// One statement: its own parameters come after `$1`, where to go on, and `$2`, how many.
pub struct Source {
    pub sql: &'static str,
    own: Vec<Param>,
}

macro_rules! newest_first {
    ($filter:literal) => {
        concat!(
            "SELECT ",
            run_columns!(),
            " FROM runs WHERE ",
            $filter,
            " AND ord < $1 ORDER BY ord DESC LIMIT $2"
        )
    };
}

pub const ALL: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE ord < $1 ORDER BY ord DESC LIMIT $2"
);
pub const BY_STATUS: &str = newest_first!("status = $3");
pub const BY_AGENT: &str = newest_first!("agent = $3");
pub const BY_AGENT_AND_STATUS: &str = newest_first!("agent = $3 AND status = $4");
/// Also those at an open gate that a worker still holds: two walks of an index, each ended by the limit.
macro_rules! waiting_newest_first {
    ($filter:literal) => {
        concat!(
            "SELECT ",
            run_columns!(),
            " FROM runs WHERE ord IN (SELECT ord FROM (SELECT ord FROM runs WHERE ",
            $filter,
            "status = 'waiting' AND ord < $1 ORDER BY ord DESC LIMIT $2) AS free \
             UNION ALL SELECT ord FROM (SELECT ord FROM runs WHERE ",
            $filter,
            "status = 'running' AND at_status = 'waiting' AND ord < $1 ORDER BY ord DESC LIMIT $2) AS leased) \
             ORDER BY ord DESC LIMIT $2"
        )
    };
}

pub const WAITING: &str = waiting_newest_first!("");
pub const WAITING_BY_AGENT: &str = waiting_newest_first!("agent = $3 AND ");
pub const BY_CAUSE: &str = newest_first!("cause = $3");
pub const BY_COST: &str = newest_first!("cost_usd > 20");
pub const BY_LABEL: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE ord IN (SELECT l.ord FROM run_labels l WHERE l.key = $3 AND l.value = $4 \
     AND l.ord < $1 ORDER BY l.ord DESC LIMIT $2) ORDER BY ord DESC"
);

impl Source {
    pub fn of(query: &RunQuery) -> Result<Self, Error> {
        let label = query.label.as_deref().map(|label| {
            label
                .split_once(':')
                .ok_or_else(|| Problem::invalid("label", "must be key:value"))
        });
        let label = label.transpose()?;
        let costly = query.over_usd.is_some_and(|usd| usd >= COSTLY);
        let source = |sql, own| Ok(Self { sql, own });
        if let Some(alike) = Alike::asked(query) {
            return source(BY_CAUSE, params![alike.id()]);
        }
        match (label, &query.agent, query.status) {
            (Some((key, value)), _, _) => source(BY_LABEL, params![key, value]),
            (None, Some(agent), Some(RunStatus::Waiting)) => {
                source(WAITING_BY_AGENT, params![agent.as_str()])
            }
            (None, Some(agent), Some(status)) => source(
                BY_AGENT_AND_STATUS,
                params![agent.as_str(), status.as_str()],
            ),
            _ if costly => source(BY_COST, params![]),
            (None, Some(agent), None) => source(BY_AGENT, params![agent.as_str()]),
            (None, None, Some(RunStatus::Waiting)) => source(WAITING, params![]),
            (None, None, Some(status)) => source(BY_STATUS, params![status.as_str()]),
            (None, None, None) => source(ALL, params![]),
        }
    }

    /// The rows of the next `limit` runs before `before`.
    pub async fn fetch(
        &self,
        conn: &mut dyn Connection,
        before: i64,
        limit: i64,
    ) -> Result<Vec<Row>, Error> {
        let mut params = params![before, limit];
        params.extend(self.own.iter().cloned());
        conn.fetch(self.sql, params).await
    }
}
