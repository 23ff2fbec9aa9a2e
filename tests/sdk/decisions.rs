//! Every way out of a crash inside an effect, with a process that is really killed and effects counted outside the
//! store: what the operator chose is what happens, and nothing before it is executed again.

use serde_json::{Value, json};
use step47::{
    client::{Client, DecisionKind},
    domain::{
        RunStatus,
        rules::plan::PlanAction,
        wire::protocol::{Choice, Decide},
    },
};

use crate::{
    process::{Agent, executed},
    server::Server,
};

const CHARGE: i64 = 47;

fn args(effects: &str) -> [&str; 6] {
    [
        "--speed",
        "500",
        "--ttl-ms",
        "4000",
        "--effects-file",
        effects,
    ]
}

fn effects_of(server: &Server, run: &str) -> String {
    server
        .folder
        .path()
        .join(format!("{run}.effects"))
        .to_str()
        .unwrap()
        .to_owned()
}

fn charges(server: &Server, run: &str) -> Vec<String> {
    let told = std::fs::read_to_string(effects_of(server, run)).unwrap_or_default();
    told.lines().map(str::to_owned).collect()
}

async fn decide(operator: &Client, run: &str, body: Decide) -> step47::domain::RunDetail {
    let id = run.parse().unwrap();
    let version = operator.run(&id).await.unwrap().run.version;
    let body = Decide {
        if_version: Some(version),
        reason: Some("I looked".into()),
        ..body
    };
    operator.decide(&id, &body).await.unwrap().run
}

/// Resumes on the plan as it is now; the one decision that it misses is this.
async fn resume(operator: &Client, run: &str, choice: Option<Choice>) {
    let plan = operator.plan(&run.parse().unwrap()).await.unwrap();
    assert_eq!(plan.count(PlanAction::Decide), i64::from(choice.is_some()));
    assert_eq!(plan.from, Some(CHARGE));
    let body = Decide {
        choices: choice.into_iter().collect(),
        plan: Some(plan.hash),
        ..Decide::new(DecisionKind::Resume)
    };
    let resumed = decide(operator, run, body).await;
    assert_eq!(resumed.run.status, RunStatus::Ready);
}

/// An agent is killed inside the charge, and its run is held.
async fn killed(server: &Server, run: &str) {
    let effects = effects_of(server, run);
    let dying = [&args(&effects)[..], &["--die-at", "47"]].concat();
    Agent::start(server, run, &dying).was_killed().await;
    server.until_status(run, RunStatus::Crashed).await;
}

/// Another process takes the run to its end.
async fn goes_on(server: &Server, run: &str) -> Value {
    let effects = effects_of(server, run);
    let ended = Agent::start(server, run, &args(&effects)).ended().await;
    assert_eq!(ended.code, Some(0), "{run}: {}", ended.said);
    let done = server.run(run).await;
    assert_eq!(done.status, RunStatus::Done);
    let counts = executed(server, run);
    let again = counts
        .iter()
        .filter(|(key, n)| **n > 1 && *key != "rates" && !key.starts_with("charge"));
    assert_eq!(
        again.count(),
        0,
        "steps before the crash are not executed again: {counts:?}"
    );
    let snapshot = server
        .client
        .snapshot(&done.id, done.snapshot)
        .await
        .unwrap();
    snapshot.state
}

fn choice(kind: DecisionKind) -> Choice {
    Choice::new(kind, CHARGE)
}

#[tokio::test]
async fn a_retry_charges_again_with_the_key_that_was_chosen() {
    let server = Server::start().await;
    let operator = server.operator().await;
    for (run, new_key) in [("same", false), ("new", true)] {
        killed(&server, run).await;
        let before = charges(&server, run).len();
        resume(
            &operator,
            run,
            Some(Choice {
                new_key,
                ..choice(DecisionKind::Retry)
            }),
        )
        .await;
        goes_on(&server, run).await;
        let after = charges(&server, run);
        let key = if new_key {
            format!("{run}:47:2")
        } else {
            format!("{run}:47")
        };
        let own: Vec<_> = after[before..]
            .iter()
            .filter(|it| it.starts_with(&format!("{run}:47")))
            .collect();
        assert_eq!(own, [&key], "exactly one, with this key");
    }
}

#[tokio::test]
async fn what_happened_or_is_skipped_is_not_charged_again() {
    let server = Server::start().await;
    let operator = server.operator().await;
    for (run, kind) in [
        ("happened", DecisionKind::Commit),
        ("skipped", DecisionKind::Skip),
    ] {
        killed(&server, run).await;
        let before = charges(&server, run).len();
        let result = json!({"id": "ch_by_hand", "amount": 124_900, "currency": "EUR", "status": "succeeded"});
        let given = Choice {
            result: Some(result),
            ..choice(kind)
        };
        resume(&operator, run, Some(given)).await;
        let state = goes_on(&server, run).await;
        let own = charges(&server, run)[before..]
            .iter()
            .filter(|it| it.contains(":47"))
            .count();
        assert_eq!(own, 0, "{run}");
        assert!(
            state.to_string().contains("ch_by_hand"),
            "the given result is folded in: {run}"
        );
    }
}

#[tokio::test]
async fn an_edited_state_reaches_the_agent() {
    let server = Server::start().await;
    let operator = server.operator().await;
    killed(&server, "edited").await;
    let patch = serde_json::from_value(json!([{"op": "add", "path": "/note", "value": "by hand"}]))
        .unwrap();
    let edit = Decide {
        patch: Some(patch),
        ..Decide::new(DecisionKind::Edit)
    };
    decide(&operator, "edited", edit).await;
    resume(&operator, "edited", Some(choice(DecisionKind::Retry))).await;
    let state = goes_on(&server, "edited").await;
    assert_eq!(
        state["note"], "by hand",
        "it was kept through the rest of the run"
    );
}

#[tokio::test]
async fn a_rewind_and_a_fork_run_the_charge_as_a_new_one() {
    let server = Server::start().await;
    let operator = server.operator().await;
    killed(&server, "back").await;
    let rewind = Decide {
        step: Some(CHARGE),
        again: vec![CHARGE],
        ..Decide::new(DecisionKind::Rewind)
    };
    let rewound = decide(&operator, "back", rewind).await;
    assert_eq!(rewound.run.committed, 46);
    let body = Decide::new(DecisionKind::Resume);
    decide(&operator, "back", body).await;
    let before = charges(&server, "back").len();
    goes_on(&server, "back").await;
    let own = charges(&server, "back")[before..].to_vec();
    assert_eq!(
        own.iter().filter(|it| *it == "back:48").count(),
        1,
        "a new step, a new key: {own:?}"
    );

    killed(&server, "origin").await;
    let fork = Decide {
        step: Some(CHARGE),
        again: vec![CHARGE],
        new_run_id: Some("forked".parse().unwrap()),
        ..Decide::new(DecisionKind::Fork)
    };
    let forked = decide(&operator, "origin", fork).await;
    assert_eq!(
        (forked.run.status, forked.run.committed),
        (RunStatus::Ready, 46)
    );
    goes_on(&server, "forked").await;
    assert_eq!(
        charges(&server, "forked")
            .iter()
            .filter(|it| *it == "forked:47")
            .count(),
        1
    );
    assert_eq!(
        server.run("origin").await.status,
        RunStatus::Crashed,
        "the origin is as it was"
    );
}
