//! What may be decided next: what is offered is what the server accepts.

use serde_json::{Value, json};

use super::{aftermath::rewound, crashed};
use crate::support::{Api, Engine, both_engines, merged};
use step47::domain::{DecisionKind, Run, StepStatus, rules::offer::Standing};

/// A run of each status, fresh for each decision about it.
async fn standing(api: &Api, status: &str) -> String {
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?"}});
    match status {
        "pending" => api.create(json!({})).await,
        "running" => {
            let agent = api.agent(json!({})).await;
            agent.does("one", json!({})).await;
            agent.run
        }
        "waiting" => {
            let agent = api.agent(json!({})).await;
            agent.does("one", json!({})).await;
            agent.begin("ask", gate).await.is(200);
            agent.release(json!({})).await.is(200);
            agent.run
        }
        "crashed" => crashed(api, 1).await.0.run,
        "held at a gate" => {
            let agent = api.agent(json!({})).await;
            agent.does("one", json!({})).await;
            agent.begin("ask", gate).await.is(200);
            agent.run
        }
        "cancelled at a gate" => {
            let agent = api.agent(json!({})).await;
            agent.does("one", json!({})).await;
            agent.begin("ask", gate).await.is(200);
            agent.release(json!({})).await.is(200);
            let cancel = json!({"kind": "cancel"});
            api.decide(&agent.run, cancel).await.is(200);
            agent.run
        }
        "failed" => {
            let agent = api.agent(json!({})).await;
            agent.does("one", json!({})).await;
            agent.finish(json!({"outcome": "failed"})).await.is(200);
            agent.run
        }
        "done" => {
            let agent = api.agent(json!({})).await;
            agent.does("one", json!({})).await;
            agent.finish(json!({})).await.is(200);
            agent.run
        }
        other => {
            let agent = api.agent(json!({})).await;
            agent.does("one", json!({})).await;
            agent.release(json!({})).await.is(200);
            match other {
                "paused" => api
                    .decide(&agent.run, json!({"kind": "pause"}))
                    .await
                    .is(200),
                "cancelled" => api
                    .decide(&agent.run, json!({"kind": "cancel"}))
                    .await
                    .is(200),
                _ => json!(null),
            };
            agent.run
        }
    }
}

/// The body of a decision that nothing but the run's standing can stand in the way of.
fn body(kind: DecisionKind, run: &Run) -> Value {
    let body = json!({"kind": kind, "reason": "I looked"});
    let more = match kind {
        DecisionKind::Edit => json!({"patch": [{"op": "add", "path": "/x", "value": 1}]}),
        DecisionKind::Rewind => json!({"step": 1, "again": [1, 2]}),
        DecisionKind::Fork => json!({"again": [1, 2]}),
        DecisionKind::Note => json!({"text": "seen"}),
        DecisionKind::Commit | DecisionKind::Answer => {
            json!({"step": run.at.as_ref().map(|at| at.seq), "result": 1})
        }
        DecisionKind::Resume => json!({"choices": match run.effects_unknown {
            true => json!([{"kind": "skip", "step": 2}]),
            false => json!([]),
        }}),
        _ => json!({"step": run.at.as_ref().map(|at| at.seq)}),
    };
    let about_run = matches!(
        kind,
        DecisionKind::Pause
            | DecisionKind::Cancel
            | DecisionKind::Pin
            | DecisionKind::Claim
            | DecisionKind::Acknowledge
    );
    match about_run {
        true => body,
        false => merged(body, more),
    }
}

async fn what_is_offered_is_what_the_server_accepts(on: Engine) {
    let api = on.shared().await;
    let statuses = [
        ("pending", "pending"),
        ("running", "running"),
        ("held at a gate", "running"),
        ("waiting", "waiting"),
        ("paused", "paused"),
        ("crashed", "crashed"),
        ("failed", "failed"),
        ("ready", "ready"),
        ("done", "done"),
        ("cancelled", "cancelled"),
        ("cancelled at a gate", "cancelled"),
    ];
    use DecisionKind::*;
    let kinds = [
        Retry,
        Commit,
        Skip,
        Approve,
        Reject,
        Answer,
        Edit,
        Rewind,
        Fork,
        Resume,
        Pause,
        Cancel,
        Note,
        Pin,
        Claim,
        Acknowledge,
    ];
    for (stands, status) in statuses {
        for kind in kinds {
            let id = standing(&api, stands).await;
            let found = api.run(&id).await;
            assert_eq!(found["status"], status, "{stands}");
            let run: Run = serde_json::from_value(found).expect("a run");
            let about_step = matches!(kind, Retry | Commit | Skip | Approve | Reject | Answer);
            let step = run.at.as_ref().map(|at| at.status).filter(|_| about_step);
            if about_step && step.is_none() || kind == Rewind && run.steps == 0 {
                continue;
            }
            let offer = Standing::of(&run).offer(kind, step);
            let order = match offer.needs_version {
                true => merged(body(kind, &run), json!({"if_version": run.version})),
                false => body(kind, &run),
            };
            let answer = api.decide(&id, order.clone()).await;
            let said = format!("{stands} {kind} {step:?}: {order} → {}", answer.text);
            match offer.refused {
                None => assert_eq!(answer.status, 200, "{said}"),
                Some(why) => {
                    let problem = answer.refused(409, "decision_refused");
                    assert_eq!(problem["why"], why, "{said}");
                    assert!(!offer.helps, "{said}");
                }
            }
            if offer.needs_version {
                let id = standing(&api, stands).await;
                let bare = api.decide(&id, body(kind, &run)).await;
                assert_eq!(bare.code(), "invalid", "{said}: {}", bare.text);
            }
        }
    }
    assert!(Standing::of(&run_of(&api).await).offers(Skip, Some(StepStatus::Waiting)));
}

async fn nothing_is_offered_about_a_step_that_was_rewound_past(on: Engine) {
    let api = on.shared().await;
    let agent = rewound(&api).await;
    let run: Run = serde_json::from_value(api.run(&agent.run).await).expect("a run");
    use DecisionKind::*;
    for kind in [Retry, Commit, Skip, Approve, Reject, Answer, Rewind, Fork] {
        let offer = Standing::of(&run).offer(kind, Some(StepStatus::Superseded));
        let why = offer.refused.unwrap_or_else(|| panic!("{kind} is offered"));
        let mut order = json!({"kind": kind, "step": 3, "reason": "I looked"});
        if offer.needs_version {
            order["if_version"] = json!(run.version);
        }
        if matches!(kind, Commit | Answer) {
            order["result"] = json!(1);
        }
        let answer = api.decide(&agent.run, order).await;
        assert_eq!(answer.refused(409, "decision_refused")["why"], why);
    }
}

/// A run that waits at a gate.
async fn run_of(api: &Api) -> Run {
    let id = standing(api, "waiting").await;
    serde_json::from_value(api.run(&id).await).expect("a run")
}

both_engines!(
    what_is_offered_is_what_the_server_accepts,
    nothing_is_offered_about_a_step_that_was_rewound_past,
);
