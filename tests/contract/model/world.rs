//! The real side: a store on one engine, driven by the commands that the server uses.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use step47::{
    domain::{
        DecisionKind, Epoch, Hash, Problem, Role, RunId, StepStatus,
        nouns::access::{Caller, Principal},
        rules::begin::BeginOutcome,
        wire::protocol::{
            CommitStep, CreateRun, Decide, FailStep, FinishRun, Heartbeat, LeaseRun, NextStep,
            ReleaseRun,
        },
    },
    store::{
        Error, Store,
        commands::{
            Beat, Begin, Commit, Create, Decision, Fail, Finish, Key, Lease, Once, Reap, Release,
        },
    },
};
use tempfile::TempDir;

use super::{
    ops::{Kind, Op},
    reference::{Reference, Seen, State},
};
use crate::support::{Engine, administer, database};

const NAMES: [&str; 4] = ["plain", "charge", "look", "gate"];

pub struct World {
    store: Store,
    numbers: AtomicUsize,
    url: String,
    _home: TempDir,
}

/// One run on its way through a sequence.
pub struct Case {
    pub run: RunId,
    /// The last decision that was taken, and the key it was sent with.
    last: Option<(String, Decide)>,
    /// The run that a fork made, or would have made.
    pub fork: RunId,
}

fn body<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a body of the protocol")
}

fn code<T>(answer: Result<T, Error>, outcome: impl FnOnce(T) -> String) -> String {
    match answer.map_err(Error::problem) {
        Ok(answer) => outcome(answer),
        Err(Problem { code, detail, .. }) => match code.status() {
            500.. => panic!("{}: {detail}", code.as_str()),
            _ => code.as_str().to_owned(),
        },
    }
}

impl World {
    pub async fn open(engine: Engine) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let url = engine.fresh_store(home.path()).await.expect("a store");
        Self {
            store: Store::open(&url).await.expect("a store"),
            numbers: AtomicUsize::new(0),
            url,
            _home: home,
        }
    }

    pub async fn close(self) {
        self.store.close().await;
        if self.url.starts_with("postgres") {
            let name = database(&self.url);
            administer(format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }

    /// A number that nobody else has.
    fn next(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn id(&self) -> RunId {
        format!("model-{}", self.next()).parse().expect("an id")
    }

    pub async fn case(&self) -> Case {
        let case = self.case_of(self.id());
        let create = Create::new(case.run.clone(), CreateRun::new("model"));
        self.store.write(create).await.expect("a run");
        case
    }

    pub fn case_of(&self, run: RunId) -> Case {
        Case {
            run,
            last: None,
            fork: self.id(),
        }
    }

    pub async fn play(&self, case: &mut Case, before: &Reference, op: &Op) -> String {
        let run = &case.run;
        let epoch = |stale: bool| Epoch(before.epoch - i64::from(stale));
        match *op {
            Op::Lease { takeover } => {
                let body: LeaseRun =
                    body(json!({"worker": "w", "ttl_ms": 3_600_000, "takeover": takeover}));
                let lease = Lease::new(run.clone(), body);
                code(self.store.write(lease).await, |_| "ok".into())
            }
            Op::Release { stale, pause } => {
                let body = ReleaseRun {
                    epoch: epoch(stale),
                    after_ms: None,
                    pause,
                };
                let release = Release {
                    run: run.clone(),
                    body,
                };
                code(self.store.write(release).await, |_| "ok".into())
            }
            Op::Begin {
                key,
                stale,
                other_name,
            } => {
                let other = other_name && before.of_key(key).is_some();
                let begin = Begin::new(run.clone(), epoch(stale), step(key, other));
                code(self.store.write(begin).await, |begun| {
                    match begun.decision {
                        Some(decision) if begun.outcome == BeginOutcome::Given => {
                            decision.to_string()
                        }
                        _ => begun.outcome.to_string(),
                    }
                })
            }
            Op::Commit { key, stale, value } => {
                let at = before.of_key(key);
                let attempt = at.map_or(1, |at| before.steps[at].attempt);
                // Each commit says something else: none is taken for a repeat of one before.
                let n = self.next();
                let patch = json!([{"op": "add", "path": format!("/k{key}"), "value": value}]);
                let body: CommitStep = body(
                    json!({"epoch": epoch(stale), "attempt": attempt, "result": n, "patch": patch}),
                );
                let commit = Commit::new(run.clone(), seq(at), body);
                let answer = code(self.store.write(commit).await, |_| "ok".into());
                // Over is over, by whichever word.
                answer.replace("commit_conflict", "attempt_over")
            }
            Op::Fail { stale, value } => {
                let at = before.of_key(0);
                let attempt = at.map_or(1, |at| before.steps[at].attempt);
                let n = self.next();
                let error = json!({"kind": "Broken", "message": n.to_string()});
                let patch =
                    value.map(|value| json!([{"op": "add", "path": "/failed", "value": value}]));
                let body: FailStep = body(
                    json!({"epoch": epoch(stale), "attempt": attempt, "error": error, "retryable": false, "patch": patch}),
                );
                let fail = Fail::new(run.clone(), seq(at), body);
                code(self.store.write(fail).await, |_| "ok".into())
            }
            Op::Finish { stale, done } => {
                let outcome = if done { "done" } else { "failed" };
                let n = self.next();
                let body: FinishRun =
                    body(json!({"epoch": epoch(stale), "outcome": outcome, "result": n}));
                let finish = Finish::new(run.clone(), body);
                code(self.store.write(finish).await, |_| "ok".into())
            }
            Op::Expire => {
                // A term that is over when it begins: no wait, and the same each time.
                let body = Heartbeat {
                    epoch: epoch(false),
                    ttl_ms: Some(0),
                };
                let beat = Beat {
                    run: run.clone(),
                    body,
                };
                let beaten = code(self.store.write(beat).await, |_| "ok".into());
                let runs = vec![run.clone()];
                self.store.write(Reap { runs }).await.expect("reaped");
                beaten
            }
            Op::Decide {
                kind,
                key,
                stale,
                new,
            } => {
                let at = before.of_key(key);
                let version = before.version - i64::from(stale);
                let body = match kind {
                    Kind::Fork => Decide {
                        new_run_id: Some(case.fork.clone()),
                        step: at.map(|at| seq(Some(at))),
                        ..decide(kind, before, seq(at), version, new)
                    },
                    _ => decide(kind, before, seq(at), version, new),
                };
                let key = self.next().to_string();
                let told = self.decide(run, &key, &body).await;
                if told == "ok" {
                    case.last = Some((key, body));
                }
                told
            }
            Op::Again => match &case.last {
                Some((key, body)) => self.decide(run, key, body).await,
                None => "nothing".into(),
            },
        }
    }

    async fn decide(&self, run: &RunId, key: &str, body: &Decide) -> String {
        let decision = Decision::new(run.clone(), author(), body.clone());
        let key = Key {
            scope: "model".into(),
            key: key.to_owned(),
            body: Hash::of(&json!(body)),
        };
        let once = Once::new(decision, Some(key));
        code(self.store.write(once).await, |_| "ok".into())
    }

    pub async fn look(&self, run: &RunId) -> Seen {
        let detail = self.store.run(run).await.expect("the run").run;
        let steps = self
            .store
            .steps(run, 0, 1_000)
            .await
            .expect("its steps")
            .steps;
        let state = self
            .store
            .snapshot(run, detail.snapshot)
            .await
            .expect("its state")
            .state;
        let key = |name: &str| NAMES.iter().position(|it| *it == name).expect("a key");
        let seen = steps
            .iter()
            .map(|step| (key(step.key.as_str()), step.status.to_string()));
        let counting = steps
            .iter()
            .filter(|step| step.status != StepStatus::Superseded);
        let committed = counting
            .filter(|step| step.status == StepStatus::Committed)
            .count();
        assert_eq!(detail.committed, committed as i64, "the run's own count");
        let state: State = serde_json::from_value(state).expect("numbers");
        (
            detail.status.to_string(),
            detail.version,
            seen.collect(),
            state,
        )
    }
}

fn author() -> Principal {
    Principal::new(Caller::Person, "ana", Role::Operator)
}

/// A step that does not exist has this number.
fn seq(at: Option<usize>) -> i64 {
    at.map_or(9_999, |at| at as i64 + 1)
}

fn step(key: usize, other_name: bool) -> NextStep {
    let name = if other_name { "another" } else { NAMES[key] };
    body(match key {
        0 => json!({"key": NAMES[0], "name": name}),
        1 => json!({"key": NAMES[1], "name": name, "effect": {"target": "bank"}}),
        2 => {
            json!({"key": NAMES[2], "name": name, "effect": {"target": "mail"}, "recovery": "check"})
        }
        _ => json!({"key": NAMES[3], "name": name, "kind": "gate", "gate": {"title": "?"}}),
    })
}

fn decide(kind: Kind, before: &Reference, seq: i64, version: i64, new: bool) -> Decide {
    let of = |kind| Decide {
        if_version: Some(version),
        reason: Some("because".into()),
        ..Decide::new(kind)
    };
    let about = |kind| Decide {
        step: Some(seq),
        ..of(kind)
    };
    let all = (1..=before.steps.len() as i64).collect();
    match kind {
        Kind::Retry => Decide {
            new_key: new,
            ..about(DecisionKind::Retry)
        },
        Kind::Commit => about(DecisionKind::Commit),
        Kind::Skip => about(DecisionKind::Skip),
        Kind::Approve => about(DecisionKind::Approve),
        Kind::Reject => about(DecisionKind::Reject),
        Kind::Answer => Decide {
            result: Some(json!({"yes": true})),
            ..about(DecisionKind::Answer)
        },
        Kind::Edit => {
            let patch = json!([{"op": "add", "path": "/edit", "value": before.version + 1}]);
            Decide {
                patch: Some(body(patch)),
                ..of(DecisionKind::Edit)
            }
        }
        Kind::Rewind => Decide {
            again: all,
            ..about(DecisionKind::Rewind)
        },
        Kind::Fork => Decide {
            again: all,
            ..of(DecisionKind::Fork)
        },
        Kind::Resume => of(DecisionKind::Resume),
        Kind::Pause => of(DecisionKind::Pause),
        Kind::Cancel => of(DecisionKind::Cancel),
        Kind::Note => Decide {
            text: Some("noted".into()),
            ..of(DecisionKind::Note)
        },
        Kind::Acknowledge => of(DecisionKind::Acknowledge),
    }
}
