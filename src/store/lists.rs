//! Lists of runs: each page walks one index in the list's own order and reads a bounded number of rows, however
//! many runs there are.

mod found;
mod index_range;
mod needs;
#[cfg(test)]
mod query_plans;
mod search;
mod source;
mod walk;

use super::{Error, Store, engine::params, rows::RunRow};
use crate::domain::{
    Problem, RunQuery, RunStatus,
    views::counts::{COUNT_MAX, Counts},
    wire::protocol::RunPage,
};
use walk::Page;

/// Agents that are counted, by name.
const AGENTS_MAX: usize = 50;

const COUNT_IN_NEED: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE needs IS NOT NULL LIMIT $1) AS counted";
const COUNT_STATUS: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE status = $1 LIMIT $2) AS counted";
const COUNT_AT_GATE: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE status = 'running' AND at_status = 'waiting' \
     LIMIT $1) AS counted";
const COUNT_AGENT: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE agent = $1 LIMIT $2) AS counted";
const NEXT_AGENT: &str = "SELECT agent FROM runs WHERE agent > $1 ORDER BY agent LIMIT 1";

impl Store {
    pub async fn runs(&self, query: &RunQuery) -> Result<RunPage, Problem> {
        self.read_runs(query).await.map_err(Error::problem)
    }

    async fn read_runs(&self, query: &RunQuery) -> Result<RunPage, Error> {
        let mut conn = self.engine.read().await?;
        let now = conn.now().await?;
        let mut page = Page::read(&mut *conn, query).await?;
        drop(conn);
        let overdue: Vec<_> = page
            .runs
            .iter()
            .filter(|run| run.overdue(now))
            .map(|run| run.id.clone())
            .collect();
        if !overdue.is_empty() {
            match self.reap(overdue).await {
                // While nothing can be written, a lease that ran out cannot be ended: the runs are shown as they are stored.
                Err(error) if error.trouble().is_some() => {}
                done => done?,
            }
            let mut conn = self.engine.read().await?;
            page = Page::read(&mut *conn, query).await?;
        }
        Ok(RunPage {
            runs: page.runs.iter().map(RunRow::to_run).collect(),
            next: page.next,
        })
    }

    /// How many runs there are of each status and agent, counted no further than anyone reads.
    pub async fn counts(&self) -> Result<Counts, Problem> {
        self.read_counts().await.map_err(Error::problem)
    }

    async fn read_counts(&self) -> Result<Counts, Error> {
        let mut conn = self.engine.read().await?;
        let mut counts = Counts::default();
        for status in RunStatus::ALL {
            let row = conn
                .fetch_one(COUNT_STATUS, params![status.as_str(), COUNT_MAX])
                .await?;
            let n = row.map(|mut row| row.int()).transpose()?.unwrap_or(0);
            let held = match status {
                RunStatus::Waiting => {
                    let row = conn.fetch_one(COUNT_AT_GATE, params![COUNT_MAX]).await?;
                    row.map(|mut row| row.int()).transpose()?.unwrap_or(0)
                }
                _ => 0,
            };
            counts.by_status.push((*status, (n + held).min(COUNT_MAX)));
        }
        let row = conn.fetch_one(COUNT_IN_NEED, params![COUNT_MAX]).await?;
        counts.in_need = row.map(|mut row| row.int()).transpose()?.unwrap_or(0);
        let mut last = String::new();
        while counts.by_agent.len() < AGENTS_MAX {
            let row = conn.fetch_one(NEXT_AGENT, params![last.as_str()]).await?;
            let Some(agent) = row.map(|mut row| row.text()).transpose()? else {
                break;
            };
            let row = conn
                .fetch_one(COUNT_AGENT, params![agent.as_str(), COUNT_MAX])
                .await?;
            let n = row.map(|mut row| row.int()).transpose()?.unwrap_or(0);
            counts.by_agent.push((agent.clone(), n));
            last = agent;
        }
        Ok(counts)
    }
}
