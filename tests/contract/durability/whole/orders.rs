//! Every command that changes a run, and a run on which it has all to meet that it can.

use serde_json::{Value, json};

use crate::support::{Agent, Answer, Api, merged, unique};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// Of a run that is there already: a new one reads nothing.
    CreateAgain,
    Heartbeat,
    Begin,
    BeginAnnounced,
    BeginAgain,
    BeginReplay,
    Commit,
    CommitThenBegin,
    CommitThenAgain,
    CommitThenReplay,
    CommitTagged,
    Save,
    SaveTagged,
    SaveAgain,
    Fail,
    FailWithPatch,
    Progress,
    Finish,
    Release,
    Takeover,
    Lease,
    Claim,
    Retry,
    Commits,
    Skip,
    SkipAnnounced,
    Resume,
    ResumeWithState,
    Edit,
    Rewind,
    Fork,
    ForkFromBefore,
    Pause,
    Cancel,
    Note,
    Pin,
    /// "I'm on it", which is no claim of a worker.
    Claimed,
    Acknowledge,
    Approve,
    Reject,
    Answered,
}

use Order::*;

pub const AGENTS: &[Order] = &[
    CreateAgain,
    Heartbeat,
    Begin,
    BeginAnnounced,
    BeginAgain,
    BeginReplay,
    Commit,
    CommitThenBegin,
    CommitThenAgain,
    CommitThenReplay,
    CommitTagged,
    Save,
    SaveTagged,
    SaveAgain,
    Fail,
    FailWithPatch,
    Progress,
    Finish,
    Release,
    Takeover,
    Lease,
    Claim,
];

pub const OPERATORS: &[Order] = &[
    Retry,
    Commits,
    Skip,
    SkipAnnounced,
    Resume,
    ResumeWithState,
    Edit,
    Rewind,
    Fork,
    ForkFromBefore,
    Pause,
    Cancel,
    Note,
    Pin,
    Claimed,
    Acknowledge,
    Approve,
    Reject,
    Answered,
];

/// A run as an order finds it.
pub struct Scene {
    pub agent: Agent,
    /// The name of its agent, which no other run has.
    name: String,
    version: Value,
}

/// The term of every lease: none ends meanwhile, which would be a change, and nobody's order.
const LONG: i64 = 3_600_000;

/// What a run is made from, and has to be made from again.
fn origin(agent: &str) -> Value {
    json!({"agent": agent, "input": {"month": "2026-10"}, "state": {"n": 0}})
}

fn refs() -> Value {
    json!([{"uri": "file:a", "hash": "1"}])
}

/// A checkpoint between steps that has a name.
fn tagged(id: &str) -> Value {
    json!({"state": {"n": 1}, "tag": {"id": id, "meta": {"k": 1}}})
}

impl Order {
    /// A leased run: one step committed, one that failed and may be tried again, one in flight or at a gate. Then what
    /// the order needs.
    pub async fn scene(self, api: &Api) -> Scene {
        let name = unique("agent");
        let plan = json!([{"name": "load"}, {"name": "later"}, {"name": "last"}]);
        let more = json!({"title": "Reconcile", "state_schema": {"type": "object"}, "plan": plan,
            "on_crash": if self == Takeover { "resume" } else { "hold" }});
        let run = api.create(merged(origin(&name), more)).await;
        let agent = api.lease(&run, json!({"ttl_ms": LONG})).await;
        let load = agent.executes("load", json!({"refs": refs()})).await;
        let body = json!({"result": {"found": 1}, "state": {"n": 1}, "tag": {"id": "loaded"}});
        agent.commit(load, 1, body).await.is(200);
        let flaky = json!({"retry": {"max_attempts": 3, "backoff_ms": 1}});
        let flaky = agent.executes("flaky", flaky).await;
        let log = json!([{"level": "info", "message": "half way"}]);
        let progress = json!({"partial": {"half": true}, "log": log});
        agent.progress(flaky, 1, progress).await.is(204);
        agent.fail(flaky, 1, json!({})).await.is(200);
        let between = agent.fenced(tagged("between"));
        api.post(&agent.path("snapshots"), between).await.is(200);
        match self {
            Approve | Reject | Answered => {
                let gate = json!({"kind": "gate", "gate": {"title": "Go on?"}});
                agent.begin("ask", gate).await.is(200);
                agent.release(json!({})).await.is(200);
            }
            Finish => {}
            Lease | Claim => {
                agent.release(json!({})).await.is(200);
            }
            _ => {
                let pay = json!({"effect": {"target": "bank"}, "refs": refs()});
                let pay = match self {
                    // A step that needs no operator, so that the run can be handed on.
                    Takeover => agent.executes("pay", json!({})).await,
                    _ => agent.executes("pay", pay).await,
                };
                assert_eq!(pay, 3);
            }
        }
        if self.is_of_crashed() {
            agent.release(json!({})).await.is(200);
        }
        let version = api.run(&agent.run).await["version"].clone();
        Scene {
            agent,
            name,
            version,
        }
    }

    fn is_of_crashed(self) -> bool {
        OPERATORS.contains(&self) && !matches!(self, Approve | Reject | Answered | Pause)
    }

    /// A claim passes a damaged run by, and says that there is no other.
    pub fn met_damage(self, answer: &Answer) -> bool {
        match self {
            Claim => answer.status == 204,
            _ => (answer.status, answer.code()) == (500, "corrupt".to_owned()),
        }
    }

    pub async fn send(self, api: &Api, scene: &Scene) -> Answer {
        let agent = &scene.agent;
        let commit = |more: Value| async move {
            let mut body = json!({"result": {"paid": 7}, "patch": [{"op": "replace", "path": "/n", "value": 2}]});
            if !more.is_null() {
                body["next"] = more;
            }
            agent.commit(3, 1, body).await
        };
        let save = |body: Value| async move {
            let body = agent.fenced(body);
            api.post(&agent.path("snapshots"), body).await
        };
        match self {
            CreateAgain => {
                let id = json!({"id": agent.run});
                api.post("/v1/runs", merged(origin(&scene.name), id)).await
            }
            Heartbeat => agent.heartbeat(json!({})).await,
            Begin => agent.begin("new", json!({"refs": refs()})).await,
            BeginAnnounced => agent.begin("later", json!({"refs": refs()})).await,
            BeginAgain => agent.begin("flaky", json!({"refs": refs()})).await,
            BeginReplay => agent.begin("load", json!({"refs": refs()})).await,
            Commit => commit(Value::Null).await,
            CommitThenBegin => commit(json!({"key": "k", "name": "later", "refs": refs()})).await,
            CommitThenAgain => {
                commit(json!({"key": "flaky", "name": "flaky", "refs": refs()})).await
            }
            CommitThenReplay => {
                commit(json!({"key": "load", "name": "load", "refs": refs()})).await
            }
            CommitTagged => {
                agent
                    .commit(3, 1, json!({"result": 7, "tag": {"id": "paid"}}))
                    .await
            }
            Save => save(json!({"state": {"n": 8}})).await,
            SaveTagged => save(tagged("another")).await,
            SaveAgain => save(tagged("between")).await,
            Fail => agent.fail(3, 1, json!({"effect": "none"})).await,
            FailWithPatch => {
                let patch = json!([{"op": "add", "path": "/tried", "value": true}]);
                agent
                    .fail(3, 1, json!({"effect": "none", "patch": patch}))
                    .await
            }
            Progress => {
                let log = json!([{"level": "info", "message": "paying"}]);
                agent
                    .progress(3, 1, json!({"partial": 1, "log": log}))
                    .await
            }
            Finish => agent.finish(json!({"result": {"total": 7}})).await,
            Release => agent.release(json!({})).await,
            Takeover => {
                let body = json!({"worker": agent.worker, "takeover": true, "ttl_ms": LONG});
                api.post(&agent.path("lease"), body).await
            }
            Lease => {
                let body = json!({"worker": "w", "ttl_ms": LONG});
                api.post(&agent.path("lease"), body).await
            }
            Claim => {
                let body = json!({"worker": "w", "agents": [scene.name], "ttl_ms": LONG});
                api.post("/v1/claims", body).await
            }
            _ => {
                let mut body = self.decision();
                body["reason"] = json!("to know");
                body["if_version"] = scene.version.clone();
                api.decide(&agent.run, body).await
            }
        }
    }

    fn decision(self) -> Value {
        let retry = json!({"kind": "retry", "step": 3, "new_key": true});
        match self {
            Retry => retry,
            Commits => json!({"kind": "commit", "step": 3, "result": 7, "state": {"n": 3}}),
            Skip => json!({"kind": "skip", "step": 3, "result": 7}),
            SkipAnnounced => json!({"kind": "skip", "step": 4, "result": 7}),
            Resume => json!({"kind": "resume", "choices": [retry]}),
            ResumeWithState => {
                let commit = json!({"kind": "commit", "step": 3, "result": 7, "state": {"n": 3}});
                json!({"kind": "resume", "choices": [commit]})
            }
            Edit => json!({"kind": "edit", "state": {"n": 9}}),
            Rewind => json!({"kind": "rewind", "step": 2, "again": [3]}),
            Fork => json!({"kind": "fork", "again": [3]}),
            // Step 2 is left behind: damaged, it has to be named as an effect that may have happened.
            ForkFromBefore => json!({"kind": "fork", "step": 2, "again": [2, 3]}),
            Pause => json!({"kind": "pause"}),
            Cancel => json!({"kind": "cancel"}),
            Pin => json!({"kind": "pin"}),
            Claimed => json!({"kind": "claim"}),
            Acknowledge => json!({"kind": "acknowledge"}),
            Approve => json!({"kind": "approve", "step": 3}),
            Reject => json!({"kind": "reject", "step": 3}),
            Answered => json!({"kind": "answer", "step": 3, "result": "yes"}),
            _ => json!({"kind": "note", "text": "looked at it"}),
        }
    }
}
