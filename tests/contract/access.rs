//! Who may do what: agent = reads and agent writes, viewer = reads, operator = reads and decisions, admin = all.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Api, Engine, Server, both_engines, unique};

const READS: &[&str] = &[
    "/v1/runs",
    "/v1/runs/{}",
    "/v1/runs/{}/steps",
    "/v1/runs/{}/steps/1",
    "/v1/runs/{}/snapshots/0",
    "/v1/events?after=0",
];

/// Every agent write, with a body that would be accepted from an agent.
fn writes(run: &str, epoch: i64) -> Vec<(String, Value)> {
    let error = json!({"kind": "k", "message": "m"});
    let to = |path: &str| format!("/v1/runs/{run}/{path}");
    vec![
        (
            "/v1/runs".into(),
            json!({"agent": "intruder", "id": format!("{run}-intruder")}),
        ),
        (to("lease"), json!({"worker": "w", "takeover": true})),
        (
            "/v1/claims".into(),
            json!({"worker": "w", "agents": ["tests"]}),
        ),
        (to("heartbeat"), json!({"epoch": epoch})),
        (
            to("steps"),
            json!({"epoch": epoch, "key": "two", "name": "two"}),
        ),
        (
            to("steps/1/progress"),
            json!({"epoch": epoch, "attempt": 1, "partial": 1}),
        ),
        (
            to("steps/1/commit"),
            json!({"epoch": epoch, "attempt": 1, "state": 1}),
        ),
        (
            to("steps/1/fail"),
            json!({"epoch": epoch, "attempt": 1, "error": error}),
        ),
        (to("release"), json!({"epoch": epoch})),
        (to("finish"), json!({"epoch": epoch, "outcome": "done"})),
    ]
}

fn decision(run: &str) -> (String, Value) {
    (
        format!("/v1/runs/{run}/decisions"),
        json!({"kind": "pause"}),
    )
}

/// A run with a step in flight, in a store of its own where nothing else can be claimed.
async fn ground(on: Engine) -> (Server, String, i64) {
    let server = Server::start(on).await;
    let agent = server.api().agent(json!({})).await;
    agent.executes("one", json!({})).await;
    (server, agent.run, agent.epoch)
}

async fn reads_all(api: &Api, run: &str) {
    for path in READS {
        api.get(&path.replace("{}", run)).await.is(200);
    }
}

async fn each_role_may_do_what_the_protocol_says_and_no_more(on: Engine) {
    let (server, run, epoch) = ground(on).await;
    let admin = server.api();
    let before = admin.facts(&run).await;
    for (role, may_write, may_decide) in [
        ("viewer", false, false),
        ("operator", false, true),
        ("agent", true, false),
    ] {
        let api = server.api_as(role, &unique(role)).await;
        reads_all(&api, &run).await;
        if !may_write {
            for (path, body) in writes(&run, epoch) {
                api.post(&path, body).await.refused(403, "forbidden");
            }
        }
        let (path, body) = decision(&run);
        if !may_decide {
            api.post(&path, body).await.refused(403, "forbidden");
        }
        assert_eq!(admin.facts(&run).await, before, "{role}");
    }
    let agent = server.api_as("agent", "worker").await;
    let mut worker = admin
        .lease(&agent.create(json!({})).await, json!({}))
        .await
        .through(&agent);
    worker.does("one", json!({"state": 1})).await;
    worker = worker.again().await;
    worker.finish(json!({})).await.is(200);
    let operator = server.api_as("operator", "ops").await;
    let decided = operator
        .decide(&run, json!({"kind": "pause"}))
        .await
        .is(200);
    assert_eq!(
        decided["decision"]["author"], "ops",
        "an audit trail that holds"
    );
}

async fn no_token_opens_nothing(on: Engine) {
    let (server, run, epoch) = ground(on).await;
    let admin = server.api();
    let before = admin.facts(&run).await;
    let valid = server.store.token("agent", "valid").await.unwrap();
    let mut intruders = vec![admin.without_token()];
    for token in [
        "",
        "wrong",
        "null",
        &valid[1..],
        &format!("{valid}x"),
        &valid.to_uppercase(),
        &"x".repeat(10_000),
    ] {
        intruders.push(admin.with_token(token));
    }
    for api in intruders {
        for path in READS {
            api.get(&path.replace("{}", &run))
                .await
                .refused(401, "unauthorized");
        }
        for (path, body) in writes(&run, epoch).into_iter().chain([decision(&run)]) {
            api.post(&path, body).await.refused(401, "unauthorized");
        }
        api.get("/v1/runs/nobody")
            .await
            .refused(401, "unauthorized");
        api.post_bytes("/v1/runs", b"not json".to_vec())
            .await
            .refused(401, "unauthorized");
    }
    assert_eq!(admin.facts(&run).await, before);
}

async fn only_a_bearer_token_is_a_token(on: Engine) {
    let (server, _, _) = ground(on).await;
    let token = server.store.token("admin", "other").await.unwrap();
    let bare = server.api().without_token();
    for value in [
        token.clone(),
        format!("Basic {token}"),
        format!("Bearer{token}"),
        "Bearer".into(),
        "Bearer ".into(),
    ] {
        let request = bare
            .request(Method::GET, "/v1/runs")
            .header("authorization", &value);
        let answer = Answer::try_to(request, "GET /v1/runs".into())
            .await
            .unwrap();
        answer.refused(401, "unauthorized");
    }
    bare.get(&format!("/v1/runs?token={token}")).await.refusal();
    bare.get(&format!("/v1/runs?access_token={token}"))
        .await
        .refusal();
}

async fn a_revoked_token_is_worth_nothing(on: Engine) {
    let (server, run, _) = ground(on).await;
    let name = unique("gone");
    let token = server.store.token("agent", &name).await.unwrap();
    let api = server.api().with_token(&token);
    api.get(&format!("/v1/runs/{run}")).await.is(200);
    let listed = server.store.command(&["token", "list"]).await;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains(&name), "{listed}");
    assert!(!listed.contains(&token), "a token is shown once");
    let revoked = server.store.command(&["token", "revoke", &name]).await;
    assert!(revoked.status.success(), "{revoked:?}");
    crate::support::eventually("the token is refused", async || {
        (api.get(&format!("/v1/runs/{run}")).await.status == 401).then_some(())
    })
    .await;
    api.post("/v1/runs", json!({"agent": "a"}))
        .await
        .refused(401, "unauthorized");
}

async fn tokens_are_long_random_and_alone_on_stdout(on: Engine) {
    let server = Server::start(on).await;
    let a = server.store.token("agent", "a").await.unwrap();
    let b = server.store.token("agent", "b").await.unwrap();
    assert_ne!(a, b);
    assert!(a.len() >= 43, "256 bits: {} characters", a.len());
    let bad = server
        .store
        .command(&["token", "create", "--role", "king", "--name", "k"])
        .await;
    assert!(!bad.status.success() && bad.stdout.is_empty(), "{bad:?}");
    let twice = server
        .store
        .command(&["token", "create", "--role", "agent", "--name", "a"])
        .await;
    assert!(twice.status.code().is_some());
    server.api().with_token(&a).get("/v1/runs").await.is(200);
}

/// Only who may decide may order many, each order needs a reason, and one run that is refused stops no other.
async fn many_runs_are_paused_by_one_order_of_an_operator(on: Engine) {
    let server = Server::start(on).await;
    let agent = server.api();
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(agent.create(json!({})).await);
    }
    let seen = |run: &String, version: i64| json!([run, version]);
    let order = |reason: &str| {
        let runs = json!([seen(&runs[0], 1), seen(&runs[1], 99), seen(&runs[2], 1)]);
        json!({"order": {"kind": "pause", "reason": reason, "runs": runs}})
    };
    let many = "/api/runs/decide_many";
    for role in ["viewer", "agent"] {
        let api = server.api_as(role, role).await;
        let refused = api.post(many, order("deploy")).await;
        refused.refused(403, "forbidden");
    }
    let operator = server.api_as("operator", "ana").await;
    operator
        .post(many, order(" "))
        .await
        .refused(422, "invalid");
    for run in &runs {
        assert_eq!(agent.run(run).await["status"], "pending");
    }
    let decided = operator.post(many, order("deploy")).await.is(200);
    assert_eq!(decided[0]["refused"], Value::Null, "{decided}");
    assert!(decided[1]["refused"].is_string(), "{decided}");
    let mut statuses = Vec::new();
    for run in &runs {
        statuses.push(agent.run(run).await["status"].clone());
    }
    assert_eq!(statuses, ["paused", "pending", "paused"]);
}

both_engines!(
    many_runs_are_paused_by_one_order_of_an_operator,
    each_role_may_do_what_the_protocol_says_and_no_more,
    no_token_opens_nothing,
    only_a_bearer_token_is_a_token,
    a_revoked_token_is_worth_nothing,
    tokens_are_long_random_and_alone_on_stdout,
);
