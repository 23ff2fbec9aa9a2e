//! Every decision on the store itself, beside the server that serves it: by the same rules, as "command line".

use serde_json::{Value, json};

use super::state;
use crate::{
    decisions::{charge, crashed},
    support::{Agent, Api, Cli, Engine, Server, Stream, both_engines, unique},
};

async fn asking(api: &Api, gate: &Value) -> Agent {
    let agent = api.agent(json!({})).await;
    let body = json!({"kind": "gate", "gate": gate});
    agent.begin("g", body).await.is(200);
    agent.release(json!({})).await.is(200);
    agent
}

/// The newest decision about a run, as the server tells it.
async fn decided(api: &Api, run: &str) -> Value {
    let events = api.events(0, Some(run)).await;
    let mut decisions = events.into_iter().filter(|it| it["kind"] == "decision");
    decisions.next_back().expect("a decision")["data"].clone()
}

async fn each_way_out_of_a_crash_works_on_the_store(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let cli = Cli::on_store(&server.store.url);
    for (order, kind, outcome) in [
        (vec!["retry", "--resume"], "resume", "execute"),
        (vec!["retry", "--new-key", "--resume"], "resume", "execute"),
        (
            vec!["commit", "--result", "7", "--resume"],
            "resume",
            "given",
        ),
        (vec!["skip", "--result", "7", "--resume"], "resume", "given"),
    ] {
        let (agent, _) = crashed(&api, 1).await;
        let (verb, rest) = order.split_first().expect("a verb");
        let order = [&[*verb, &agent.run], rest, &["-m", "I looked"]].concat();
        cli.says(&order).await.done();
        let made = decided(&api, &agent.run).await;
        assert_eq!(
            (&made["kind"], &made["author"]),
            (&json!(kind), &json!("command line"))
        );
        assert_eq!(made["reason"], "I looked");
        let next = api.lease(&agent.run, json!({})).await;
        let begun = next.begin("charge", charge()).await.is(200);
        assert_eq!(begun["outcome"], outcome, "{order:?}");
    }
    sound(&server).await;
}

async fn a_state_is_edited_rewound_and_forked_on_the_store(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let cli = Cli::on_store(&server.store.url);
    let (agent, seq) = crashed(&api, 3).await;
    let (run, again, id) = (agent.run.as_str(), seq.to_string(), unique("fork"));
    let edit = ["edit", run, "--set", "/n=40", "-m", "recount"];
    cli.says(&edit).await.done();
    assert_eq!(state(&api, run).await, json!({"n": 40}));
    let fork = [
        "fork", run, "2", "--again", &again, "--id", &id, "-m", "try",
    ];
    cli.says(&fork).await.done();
    assert_eq!(state(&api, &id).await, json!({"n": 1}));
    let rewind = ["rewind", run, "2", "--again", &again, "-m", "wrong file"];
    cli.says(&rewind).await.done();
    assert_eq!(state(&api, run).await, json!({"n": 1}));
    // The server goes on with what it finds, not with what it had at hand.
    cli.says(&["resume", run, "-m", "go"]).await.done();
    let next = api.lease(run, json!({})).await;
    assert_eq!(
        next.does(
            "s1",
            json!({"patch": [{"op": "add", "path": "/m", "value": 2}]})
        )
        .await
        .0,
        5
    );
    assert_eq!(state(&api, run).await, json!({"n": 1, "m": 2}));
    sound(&server).await;
}

async fn gates_and_stops_are_decided_on_the_store(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let cli = Cli::on_store(&server.store.url);
    let gate = json!({"title": "Refund?"});
    for (order, kind) in [
        (vec!["approve"], "approve"),
        (vec!["reject"], "reject"),
        (vec!["answer", "--result", "3"], "answer"),
    ] {
        let agent = asking(&api, &gate).await;
        let (verb, rest) = order.split_first().expect("a verb");
        let order = [&[*verb, &agent.run], rest, &["-m", "asked"]].concat();
        cli.says(&order).await.done();
        let next = api.lease(&agent.run, json!({})).await;
        let body = json!({"kind": "gate", "gate": gate});
        let given = next.begin("g", body).await.is(200);
        assert_eq!(given["decision"], kind, "{given}");
    }
    let run = api.create(json!({})).await;
    for (verb, becomes) in [
        ("pause", "paused"),
        ("resume", "ready"),
        ("cancel", "cancelled"),
    ] {
        cli.says(&[verb, &run, "-m", "so"]).await.done();
        assert_eq!(api.status(&run).await, becomes);
    }
    sound(&server).await;
}

/// Who was there, and that it came from no token.
async fn what_was_decided_on_the_store_is_told_and_kept(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let run = api.create(json!({})).await;
    let head = api.events(0, None).await.len();
    let mut viewer = Stream::open(&api, &format!("?after={head}"), None).await;
    let cli = Cli::on_store(&server.store.url);
    let said = cli.says(&["pause", &run, "-m", "wait"]).await;
    assert!(said.done().contains("by command line at"), "{said:?}");
    assert_eq!(said.err, "", "quietly");
    let told = viewer.next().await.expect("an event");
    assert_eq!(
        (&told["run"], &told["kind"]),
        (&json!(run), &json!("decision"))
    );
    let trail = api.get(&format!("/audit.jsonl?run={run}")).await.text;
    let entry: Value = serde_json::from_str(trail.lines().next().expect("a line")).expect("JSON");
    assert_eq!(entry["actor"], "command line");
    assert_eq!(entry["detail"]["who"]["kind"], "command line");
    let late = ["cancel", &run, "--if-version", "99", "-m", "x"];
    cli.says(&late).await.refused("version_conflict");
    let trail = api
        .get(&format!("/audit.jsonl?run={run}&kind=refused"))
        .await
        .text;
    assert!(trail.contains(r#""actor":"command line""#), "{trail}");
}

async fn a_bad_order_on_the_store_is_refused_as_by_a_server(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (agent, _) = crashed(&api, 1).await;
    let before = agent.facts().await;
    let run = agent.run.as_str();
    let cli = Cli::on_store(&server.store.url);
    let deep = format!("/t={}1{}", "[".repeat(200), "]".repeat(200));
    let large = cli.file("large", &json!({"t": "x".repeat(17 << 20)}).to_string());
    for (order, words) in [
        (
            vec!["edit", run, "--set", r#"/t="\u0000""#, "-m", "x"],
            "NUL",
        ),
        (vec!["edit", run, "--set", &deep, "-m", "x"], "128"),
        (
            vec!["edit", run, "--set", "/gone/deep=1", "-m", "x"],
            "patch_failed",
        ),
        (vec!["edit", run, "--state", &large, "-m", "x"], "too_large"),
        (vec!["retry", run, "99", "-m", "x"], "has none 99"),
        (vec!["retry", run, "-m", " "], "--reason"),
        (
            vec!["retry", run, "--if-version", "1", "-m", "x"],
            "version_conflict",
        ),
        (vec!["resume", run, "-m", "x"], "waits for a decision"),
        (vec!["cancel", "no-such-run", "-m", "x"], "not_found"),
    ] {
        cli.says(&order).await.refused(words);
    }
    assert_eq!(agent.facts().await, before);
}

/// Two processes wrote one store: nothing in it contradicts the rest.
async fn sound(server: &Server) {
    let verified = server.store.command(&["verify"]).await;
    assert!(verified.status.success(), "{verified:?}");
}

both_engines!(
    each_way_out_of_a_crash_works_on_the_store,
    a_state_is_edited_rewound_and_forked_on_the_store,
    gates_and_stops_are_decided_on_the_store,
    what_was_decided_on_the_store_is_told_and_kept,
    a_bad_order_on_the_store_is_refused_as_by_a_server,
);
