//! One worker with its lease: writes carry its epoch, and answers are what the wire said.

use serde_json::{Value, json};

use super::{Answer, Api, merged};

#[derive(Clone)]
pub struct Agent {
    pub api: Api,
    pub run: String,
    pub epoch: i64,
    pub worker: String,
    /// What the lease was answered with.
    pub lease: Value,
}

impl Agent {
    pub fn new(api: &Api, worker: &str, lease: Value) -> Self {
        Self {
            api: api.clone(),
            run: lease["run"]["id"].as_str().expect("a run").to_owned(),
            epoch: lease["epoch"].as_i64().expect("an epoch"),
            worker: worker.to_owned(),
            lease,
        }
    }

    /// The same worker through another server, or after a restart.
    pub fn through(&self, api: &Api) -> Self {
        Self {
            api: api.clone(),
            ..self.clone()
        }
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/v1/runs/{}/{rest}", self.run)
    }

    pub fn at(&self, seq: i64, rest: &str) -> String {
        format!("/v1/runs/{}/steps/{seq}/{rest}", self.run)
    }

    /// `body` with this lease's epoch.
    pub fn fenced(&self, body: Value) -> Value {
        merged(json!({"epoch": self.epoch}), body)
    }

    async fn write(&self, path: &str, body: Value) -> Answer {
        self.api.post(path, self.fenced(body)).await
    }

    pub async fn heartbeat(&self, body: Value) -> Answer {
        self.write(&self.path("heartbeat"), body).await
    }

    /// Begins a step named like its key.
    pub async fn begin(&self, key: &str, more: Value) -> Answer {
        let body = merged(json!({"key": key, "name": key}), more);
        self.write(&self.path("steps"), body).await
    }

    pub async fn commit(&self, seq: i64, attempt: i64, more: Value) -> Answer {
        let body = merged(json!({"attempt": attempt}), more);
        self.write(&self.at(seq, "commit"), body).await
    }

    pub async fn fail(&self, seq: i64, attempt: i64, more: Value) -> Answer {
        let error = json!({"kind": "Timeout", "message": "no answer in 30 s"});
        let body = merged(json!({"attempt": attempt, "error": error}), more);
        self.write(&self.at(seq, "fail"), body).await
    }

    pub async fn progress(&self, seq: i64, attempt: i64, more: Value) -> Answer {
        let body = merged(json!({"attempt": attempt}), more);
        self.write(&self.at(seq, "progress"), body).await
    }

    pub async fn finish(&self, more: Value) -> Answer {
        let body = merged(json!({"outcome": "done"}), more);
        self.write(&self.path("finish"), body).await
    }

    pub async fn release(&self, more: Value) -> Answer {
        self.write(&self.path("release"), more).await
    }

    /// Begins a new step and asserts that it is to be executed; gives its seq.
    pub async fn executes(&self, key: &str, more: Value) -> i64 {
        let begun = self.begin(key, more).await.is(200);
        assert_eq!(begun["outcome"], "execute", "{begun}");
        begun["seq"].as_i64().expect("a seq")
    }

    /// Begins a step and commits it with this body; gives its seq and the commit's answer.
    pub async fn does(&self, key: &str, commit: Value) -> (i64, Value) {
        let seq = self.executes(key, json!({})).await;
        (seq, self.commit(seq, 1, commit).await.is(200))
    }

    /// Gives the lease back and takes a new one.
    pub async fn again(&self) -> Self {
        self.release(json!({})).await.is(200);
        self.api.lease(&self.run, json!({})).await
    }

    /// This worker's process died: another takes its place at once.
    pub async fn dies(&self) -> Self {
        let body = json!({"worker": self.worker, "takeover": true});
        self.api.lease(&self.run, body).await
    }

    pub async fn status(&self) -> String {
        self.api.status(&self.run).await
    }

    pub async fn facts(&self) -> Value {
        self.api.facts(&self.run).await
    }
}
