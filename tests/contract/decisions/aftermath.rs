//! What is true after a decision: the keys that went out, what was decided, what is not undone.

use serde_json::{Value, json};

use super::{charge, crashed, decides, resumes};
use crate::support::{Agent, Answer, Api, Cli, Engine, Server, both_engines};

async fn each_attempt_keeps_the_key_that_it_was_given(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let first = api.step(&agent.run, seq).await["idempotency_key"].clone();
    let choice = json!([{"kind": "retry", "step": seq, "new_key": true}]);
    resumes(&api, &agent.run, choice).await;
    let step = api.step(&agent.run, seq).await;
    assert_ne!(step["idempotency_key"], first, "the next one is new");
    assert_eq!(step["attempts"][0]["idempotency_key"], first, "{step}");
    let next = api.lease(&agent.run, json!({})).await;
    let begun = next.begin("charge", charge()).await.is(200);
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["attempts"][0]["idempotency_key"], first, "{step}");
    let second = &step["attempts"][1]["idempotency_key"];
    assert_eq!(*second, begun["idempotency_key"], "{step}");
    next.commit(seq, 2, json!({"result": "paid"})).await.is(200);
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["attempts"][1]["idempotency_key"], *second, "{step}");
}

async fn a_step_carries_what_was_decided_about_it(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let choice = json!([{"kind": "commit", "step": seq, "result": {"id": "ch_1"}}]);
    resumes(&api, &agent.run, choice).await;
    let step = api.step(&agent.run, seq).await;
    let decided = &step["decisions"][0];
    assert_eq!(decided["kind"], "resume", "{step}");
    assert_eq!(decided["author"], step["decisions"][0]["author"]);
    assert_eq!(decided["reason"], "I looked", "{step}");
    assert_eq!(decided["chosen"][0]["kind"], "commit", "{step}");
    assert_eq!(decided["chosen"][0]["result"]["text"], r#"{"id":"ch_1"}"#);
    let other = api.step(&agent.run, 1).await;
    assert_eq!(other["decisions"], Value::Null, "{other}");
}

/// The decision as the console sends it.
async fn console(api: &Api, run: &str, body: Value, key: Option<&str>) -> Answer {
    let order = json!({"run": run, "body": body, "key": key});
    api.post("/api/decisions/decide", order).await
}

async fn a_decision_that_the_console_sends_again_is_taken_once(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let version = api.run(&agent.run).await["version"].clone();
    let body = json!({"kind": "skip", "step": seq, "if_version": version, "reason": "why"});
    let first = console(&api, &agent.run, body.clone(), Some("k1"))
        .await
        .is(200);
    let again = console(&api, &agent.run, body.clone(), Some("k1"))
        .await
        .is(200);
    assert_eq!(again["decision"], first["decision"], "the first answer");
    console(&api, &agent.run, body, None)
        .await
        .refused(409, "version_conflict");
    let other = json!({"kind": "pause", "reason": "another"});
    console(&api, &agent.run, other, Some("k1"))
        .await
        .refused(409, "idempotency_conflict");
}

async fn an_order_for_several_runs_that_is_sent_again_is_taken_once(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    agent.executes("look up", json!({})).await;
    agent.release(json!({})).await.is(200);
    let idle = api.create(json!({})).await;
    for (run, kind, door) in [
        (&agent.run, "resume", "groups/resume"),
        (&idle, "pause", "runs/decide_many"),
    ] {
        let version = api.run(run).await["version"].clone();
        let order = json!({"order": {
            "kind": kind, "reason": "all of them", "key": format!("k {run}"), "runs": [[run, version]],
        }});
        for _ in 0..2 {
            let answer = api
                .post(&format!("/api/{door}"), order.clone())
                .await
                .is(200);
            assert_eq!(answer, json!([{"run": run, "refused": null}]), "{kind}");
        }
        let events = api.events(0, Some(run)).await;
        let made = events.iter().filter(|it| it["kind"] == "decision");
        assert_eq!(made.count(), 1, "{kind}");
    }
}

/// Three steps, the second and the last of them effects, of which the last is unknown; rewound to before the second.
pub async fn rewound(api: &Api) -> Agent {
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    agent.does("one", json!({})).await;
    let seq = agent.executes("mail", charge()).await;
    agent
        .commit(seq, 1, json!({"result": "sent"}))
        .await
        .is(200);
    agent.executes("pay", charge()).await;
    agent.release(json!({})).await.is(200);
    let back = json!({"kind": "rewind", "step": 2, "again": [2, 3]});
    decides(api, &agent.run, back).await;
    agent
}

async fn plan(api: &Api, run: &str) -> Value {
    api.get(&format!("/v1/runs/{run}/plan")).await.is(200)
}

async fn what_a_rewind_did_not_undo_stands_in_the_plan_until_it_is_acknowledged(on: Engine) {
    let api = on.shared().await;
    let agent = rewound(&api).await;
    let left = plan(&api, &agent.run).await["not_undone"].clone();
    let named: Vec<_> = left.as_array().expect("effects").iter().collect();
    assert_eq!(named.len(), 2, "{left}");
    assert_eq!(
        (&left[0]["seq"], &left[0]["status"]),
        (&json!(2), &json!("committed"))
    );
    assert_eq!(
        (&left[1]["name"], &left[1]["status"]),
        (&json!("pay"), &json!("crashed"))
    );
    assert_eq!(left[1]["effect"]["unknown"], true, "{left}");
    let steps = [api.step(&agent.run, 2).await, api.step(&agent.run, 3).await];
    assert_eq!(steps[0]["status"], "superseded");
    assert_eq!(
        [&steps[0]["was"], &steps[1]["was"]],
        ["committed", "crashed"]
    );
    assert_eq!(steps[1]["effect_unknown"], true);
    assert_eq!(steps[1]["decisions"][0]["kind"], "rewind", "{}", steps[1]);
    decides(&api, &agent.run, json!({"kind": "acknowledge"})).await;
    let after = plan(&api, &agent.run).await;
    assert_eq!(after["not_undone"], Value::Null, "{after}");
}

async fn a_fork_names_what_its_origin_did(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let body = json!({"kind": "fork", "step": seq, "again": [seq]});
    let fork = decides(&api, &agent.run, body).await;
    let fork = fork["run"]["id"].as_str().expect("an id").to_owned();
    let left = plan(&api, &fork).await["not_undone"].clone();
    assert_eq!(left[0]["run"], agent.run.as_str(), "{left}");
    assert_eq!(left[0]["seq"], seq, "{left}");
    let run = api.run(&fork).await;
    assert_eq!(run["status"], "ready");
    decides(&api, &fork, json!({"kind": "acknowledge"})).await;
    assert_eq!(plan(&api, &fork).await["not_undone"], Value::Null);
    let after = api.run(&fork).await;
    assert_eq!(after["acknowledged"], run["acknowledged"], "{after}");
    let version = after["version"].clone();
    let again = json!({"kind": "acknowledge", "if_version": version, "reason": "twice"});
    api.decide(&fork, again)
        .await
        .refused(409, "decision_refused");
}

/// Its question is asked anew, so it still needs a person once a worker has come to it.
async fn a_rewound_run_that_waited_can_be_acknowledged(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("mail", charge()).await;
    agent
        .commit(seq, 1, json!({"result": "sent"}))
        .await
        .is(200);
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?"}});
    agent.begin("ask", gate).await.is(200);
    agent.release(json!({})).await.is(200);
    let back = json!({"kind": "rewind", "step": 1, "again": [1]});
    let back = decides(&api, &agent.run, back).await;
    assert_eq!(back["run"]["status"], "ready");
    assert_eq!(
        plan(&api, &agent.run).await["not_undone"][0]["name"],
        "mail"
    );
    decides(&api, &agent.run, json!({"kind": "acknowledge"})).await;
    assert_eq!(plan(&api, &agent.run).await["not_undone"], Value::Null);
}

async fn the_trail_says_what_was_decided(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (agent, seq) = crashed(&api, 1).await;
    let edit = json!({"kind": "edit", "state": {"n": 47}});
    decides(&api, &agent.run, edit).await;
    let note = json!({"kind": "note", "text": "asked the bank"});
    api.decide(&agent.run, note).await.is(200);
    let choice = json!([{"kind": "commit", "step": seq, "result": {"id": "ch_1"}}]);
    resumes(&api, &agent.run, choice).await;
    let all = api.get(&format!("/audit.jsonl?run={}", agent.run)).await;
    let entries: Vec<Value> = all
        .text
        .lines()
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .collect();
    let of = |action: &str| {
        let found = entries.iter().find(|it| it["action"] == action);
        found.unwrap_or_else(|| panic!("{action}: {entries:?}"))["detail"].clone()
    };
    let change = of("edit")["change"]["text"].to_string();
    assert!(change.contains("/n") && change.contains("47"), "{change}");
    assert_eq!(of("note")["text"], "asked the bank");
    let chosen = &of("resume")["chosen"][0];
    assert_eq!(
        (&chosen["kind"], &chosen["step"]),
        (&json!("commit"), &json!(seq))
    );
    assert_eq!(chosen["result"]["text"], r#"{"id":"ch_1"}"#, "{chosen}");
    assert_eq!(of("resume")["who"]["role"], "admin");
    let said = server.store.command(&["audit", "--run", &agent.run]).await;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    for words in ["step 2: it happened", "ch_1", "asked the bank", "admin"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

async fn refusals_of_bulk_actions_reach_the_trail(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (agent, _) = crashed(&api, 1).await;
    let over = api.create(json!({})).await;
    api.decide(&over, json!({"kind": "cancel"})).await.is(200);
    let version = api.run(&over).await["version"].clone();
    let order =
        json!({"order": {"kind": "pause", "reason": "all of them", "runs": [[over, version]]}});
    let answer = api.post("/api/runs/decide_many", order).await.is(200);
    assert!(answer[0]["refused"].is_string(), "{answer}");
    let version = api.run(&agent.run).await["version"].clone();
    let order = json!({"order": {"kind": "resume", "reason": "all of them", "runs": [[agent.run, version]]}});
    let answer = api.post("/api/groups/resume", order).await.is(200);
    assert!(answer[0]["refused"].is_string(), "{answer}");
    for run in [&over, &agent.run] {
        let all = api
            .get(&format!("/audit.jsonl?run={run}&kind=refused"))
            .await;
        assert_eq!(all.text.lines().count(), 1, "{run}: {}", all.text);
    }
}

/// The run as its page has it.
async fn sheet(api: &Api, run: &str) -> Value {
    let sheet = api.post("/api/runs/one", json!({"id": run})).await.is(200);
    sheet["value"].clone()
}

async fn a_cancel_names_what_nobody_checked_until_it_is_acknowledged(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (agent, seq) = crashed(&api, 1).await;
    let key = api.step(&agent.run, seq).await["idempotency_key"].clone();
    let asked = json!({"runs": [agent.run]});
    let named = api.post("/api/groups/unknown_effects", asked).await.is(200);
    assert_eq!(named[0]["run"], agent.run.as_str(), "{named}");
    assert_eq!(named[0]["effect"]["words"], "charge 12 € to cus_1");
    assert_eq!(named[0]["effect"]["key"], key, "{named}");
    let cancelled = decides(&api, &agent.run, json!({"kind": "cancel"})).await;
    let who = cancelled["decision"]["author"].clone();
    let page = sheet(&api, &agent.run).await;
    assert_eq!(page["after"]["cancelled"][0], who, "{page}");
    assert_eq!(page["after"]["unknown"][0]["effect"]["key"], key, "{page}");
    assert_eq!(page["run"]["effects_unknown"], true, "{page}");
    let show = ["show", &agent.run];
    let said = Cli::of(&api).says(&show).await;
    let by = format!("Cancelled by {}", who.as_str().expect("a name"));
    for words in [
        "may have happened; nobody checked",
        "charge 12 € to cus_1",
        by.as_str(),
    ] {
        assert!(said.done().contains(words), "{words}: {said:?}");
    }
    let list = ["runs", "list"];
    let said = Cli::of(&api).says(&list).await;
    assert!(said.done().contains("effect unknown"), "{said:?}");
    let audit = ["audit", "--run", &agent.run];
    let said = Cli::of(&api).says(&audit).await;
    let words = "charge may have happened; nobody checked: charge 12 € to cus_1 (stripe.charges)";
    assert!(said.done().contains(words), "{said:?}");
    let resume = json!({"kind": "resume", "if_version": api.run(&agent.run).await["version"], "reason": "on"});
    api.decide(&agent.run, resume)
        .await
        .refused(409, "decision_refused");
    decides(&api, &agent.run, json!({"kind": "acknowledge"})).await;
    let said = Cli::of(&api).says(&show).await;
    assert!(!said.done().contains("nobody checked"), "{said:?}");
}

both_engines!(
    a_cancel_names_what_nobody_checked_until_it_is_acknowledged,
    each_attempt_keeps_the_key_that_it_was_given,
    a_step_carries_what_was_decided_about_it,
    a_decision_that_the_console_sends_again_is_taken_once,
    an_order_for_several_runs_that_is_sent_again_is_taken_once,
    what_a_rewind_did_not_undo_stands_in_the_plan_until_it_is_acknowledged,
    a_fork_names_what_its_origin_did,
    a_rewound_run_that_waited_can_be_acknowledged,
    the_trail_says_what_was_decided,
    refusals_of_bulk_actions_reach_the_trail,
);
