//! A run as it is written: once when it is created, then what changes.

use super::{RunRow, TABLE};
use crate::{
    domain::Signal,
    store::{
        Error,
        bulk::Bulk,
        content::Content,
        engine::{Connection, Param, params},
        rows::text,
    },
};

pub static UPDATE: Bulk = Bulk {
    before: "UPDATE runs SET status = v.column2, version = v.column3, code_version = v.column4, \
         model = v.column5, recoveries = v.column6, runnable_at = v.column7, worker = v.column8, \
         epoch = v.column9, ttl_ms = v.column10, expires_at = v.column11, heartbeat_at = v.column12, \
         signal = v.column13, snapshot = v.column14, hash = v.column15, steps = v.column16, \
         committed = v.column17, announced = v.column18, at_seq = v.column19, at_name = v.column20, \
         at_status = v.column21, input_tokens = v.column22, output_tokens = v.column23, \
         cost_usd = v.column24, updated_at = v.column25, started_at = v.column26, \
         finished_at = v.column27, error_kind = v.column28, effects_unknown = v.column29, \
         strip = v.column30, needs = v.column31, cause = v.column32, acknowledged = v.column33, \
         looking_by = v.column34, looking_until = v.column35, busy_us = v.column36, \
         seal = v.column37 FROM (VALUES ",
    columns: 37,
    after: ") AS v WHERE runs.id = v.column1",
};

impl RunRow {
    pub async fn insert(
        &self,
        conn: &mut dyn Connection,
        input: &Content,
        state_schema: Option<&Content>,
    ) -> Result<(), Error> {
        let sql = "INSERT INTO runs (id, ord, agent, title, status, version, code_version, model, labels, links, \
             parent_run, parent_seq, input, origin, state_schema, on_crash, max_recoveries, recoveries, epoch, \
             ttl_ms, snapshot, hash, steps, committed, announced, created_at, updated_at, forked_at, seal) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
             $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)";
        conn.execute(
            sql,
            params![
                self.id.as_str(),
                self.ord,
                self.agent.as_str(),
                self.title.as_deref(),
                self.status.as_str(),
                self.version,
                self.code_version.as_deref(),
                self.model.as_deref(),
                text(&self.labels),
                text(&self.links),
                self.parent.as_ref().map(|p| p.run.as_str()),
                self.parent.as_ref().map(|p| p.seq),
                input.sealed(),
                self.origin,
                state_schema.map(Content::sealed),
                self.on_crash.as_str(),
                self.max_recoveries,
                self.recoveries,
                self.epoch.0,
                self.ttl_ms,
                self.snapshot,
                self.hash,
                self.steps,
                self.committed,
                self.announced,
                self.created_at,
                self.updated_at,
                self.forked_at,
                TABLE.seal(&self.values()),
            ],
        )
        .await?;
        let label = "INSERT INTO run_labels (run, key, value, ord) VALUES ($1, $2, $3, $4)";
        for (key, value) in &self.labels {
            conn.execute(
                label,
                params![self.id.as_str(), key.as_str(), value.as_str(), self.ord],
            )
            .await?;
        }
        Ok(())
    }

    /// What changes in a run's life, for [`UPDATE`]; its origin never does.
    pub fn updated(&self) -> Vec<Param> {
        let at = self.at.as_ref();
        params![
            self.id.as_str(),
            self.status.as_str(),
            self.version,
            self.code_version.as_deref(),
            self.model.as_deref(),
            self.recoveries,
            self.runnable_at,
            self.worker.as_deref(),
            self.epoch.0,
            self.ttl_ms,
            self.expires_at,
            self.heartbeat_at,
            self.signal.map(Signal::as_str),
            self.snapshot,
            self.hash,
            self.steps,
            self.committed,
            self.announced,
            at.map(|a| a.seq),
            at.map(|a| a.name.as_str()),
            at.map(|a| a.status.as_str()),
            self.usage.input_tokens,
            self.usage.output_tokens,
            self.usage.cost_usd,
            self.updated_at,
            self.started_at,
            self.finished_at,
            self.error_kind.as_deref(),
            self.effects_unknown,
            String::from(self.strip.clone()),
            self.needs(),
            self.cause(),
            self.acknowledged,
            self.looking.as_ref().map(|it| it.by.as_str()),
            self.looking.as_ref().map(|it| it.until),
            self.busy_us,
            TABLE.seal(&self.values()),
        ]
    }
}
