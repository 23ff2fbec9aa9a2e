//! What changed between two states: over `/v1`, on the command line, as pages of rows, and who wrote a value.

use serde_json::{Value, json};

use crate::support::{Api, Engine, Server, both_engines};

fn message(n: usize) -> Value {
    json!({"role": "assistant", "content": format!("message {n} of a chat that goes on")})
}

async fn diff(api: &Api, run: &str, query: &str) -> Value {
    api.get(&format!("/v1/runs/{run}/diff?{query}"))
        .await
        .is(200)
}

async fn the_changes_between_two_snapshots_are_aligned_by_content(on: Engine) {
    let api = on.shared().await;
    let chat: Vec<Value> = (0..4).map(message).collect();
    let agent = api
        .agent(json!({"state": {"messages": chat, "note": "Charge after manual review", "n": 1}}))
        .await;
    let patch = json!([
        {"op": "add", "path": "/messages/0", "value": message(9)},
        {"op": "replace", "path": "/note", "value": "Charge after refund 43 cleared"},
        {"op": "replace", "path": "/n", "value": 1.0},
    ]);
    agent.does("one", json!({"patch": patch})).await;
    let found = diff(&api, &agent.run, "from=0&to=1").await;
    assert_eq!(
        found,
        json!({"from": 0, "to": 1, "changes": [
            {"op": "add", "path": "/messages/0", "new": message(9)},
            {"op": "replace", "path": "/n", "old": 1, "new": 1.0},
            {"op": "text", "path": "/note", "edits": [
                {"at": 13, "len": 13, "old": "manual review", "new": "refund 43 cleared"},
            ]},
        ]})
    );
    assert_eq!(diff(&api, &agent.run, "").await, found, "the newest change");
    let back = diff(&api, &agent.run, "from=1&to=0").await;
    assert_eq!(back["changes"][0]["op"], "remove");
    assert_eq!(
        diff(&api, &agent.run, "from=1&to=1").await["changes"],
        json!([])
    );
}

async fn states_of_two_runs_are_compared(on: Engine) {
    let api = on.shared().await;
    let one = api.agent(json!({"state": {"plan": ["a", "b", "c"]}})).await;
    let two = api.agent(json!({"state": {"plan": ["c", "a", "b"]}})).await;
    let found = diff(&api, &one.run, &format!("from=0&to=0&other={}", two.run)).await;
    assert_eq!(found["other"], json!(two.run));
    assert_eq!(
        found["changes"],
        json!([{"op": "move", "from": "/plan/2", "path": "/plan/0"}])
    );
}

async fn a_diff_that_cannot_be_made_says_why(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {}})).await;
    let path = format!("/v1/runs/{}/diff", agent.run);
    let ask = async |query: &str| api.get(&format!("{path}?{query}")).await;
    ask("from=0&to=7").await.refused(404, "not_found");
    ask("from=0&to=0&other=nobody-knows-it")
        .await
        .refused(404, "not_found");
    ask("from=-1").await.bad_input("from");
    ask("from=x").await.bad_input("from");
    ask("since=1").await.refused(422, "invalid");
    ask("other=%20").await.refused(422, "invalid");
    api.get("/v1/runs/no-such-run/diff")
        .await
        .refused(404, "not_found");
}

async fn the_command_line_shows_changes_and_states(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api
        .agent(json!({"state": {"list": [1, 2, 3], "t": "\u{1b}[31mred"}}))
        .await;
    let patch = json!([{"op": "remove", "path": "/list/0"}, {"op": "add", "path": "/new", "value": {"a": null}}]);
    agent.does("fold", json!({"patch": patch})).await;
    let run = agent.run.as_str();
    let said = |output: std::process::Output| {
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let text = said(server.store.command(&["diff", run, "0", "1"]).await);
    assert!(text.contains("-     [0] 1"), "{text}");
    assert!(text.contains("+   \"new\": { \"a\": null }"), "{text}");
    assert!(
        !text.contains('\u{1b}'),
        "no colour, and nothing of the agent's own, off a terminal"
    );
    let json: Value = serde_json::from_str(&said(
        server
            .store
            .command(&["diff", run, "0", "1", "--json"])
            .await,
    ))
    .unwrap();
    assert_eq!(json, diff(&api, run, "from=0&to=1").await);
    let patch: Value = serde_json::from_str(&said(
        server
            .store
            .command(&["diff", run, "0", "1", "--patch"])
            .await,
    ))
    .unwrap();
    assert_eq!(
        patch,
        json!([{"op": "remove", "path": "/list/0"}, {"op": "add", "path": "/new", "value": {"a": null}}])
    );
    let state: Value = serde_json::from_str(&said(
        server.store.command(&["show", run, "--at", "1"]).await,
    ))
    .unwrap();
    assert_eq!(state, api.snapshot(run, 1).await["state"]);
    let refused = server.store.command(&["diff", run, "0", "9"]).await;
    assert!(!refused.status.success());
}

/// Rows come in pages, however much changed, and the pages together are all of it.
async fn a_large_diff_is_read_page_by_page(on: Engine) {
    let api = on.shared().await;
    let item = |i: usize| json!({"id": i, "text": format!("item {i}")});
    let old: Vec<Value> = (0..1_000).map(item).collect();
    let new: Vec<Value> = (0..1_000).map(|i| item(i + 10_000)).collect();
    let agent = api.agent(json!({"state": old})).await;
    agent.does("all", json!({"state": new})).await;
    let (mut after, mut firsts, mut pages) = (0, 0, 0);
    loop {
        let ask =
            json!({"run": agent.run, "query": {"from": 0, "to": 1}, "after": after, "find": null});
        let sheet = api.post("/api/diffs/read", ask).await.is(200);
        let rows = sheet["page"]["rows"].as_array().expect("rows");
        assert!(rows.len() <= 300);
        assert_eq!(sheet["page"]["before"], json!(firsts));
        firsts += rows
            .iter()
            .filter(|row| row["first"] == json!(true))
            .count();
        pages += 1;
        match sheet["page"]["next"].as_i64() {
            Some(next) => after = next,
            None => break,
        }
    }
    assert!(
        pages > 3 && firsts >= 1_000,
        "{pages} pages, {firsts} changes"
    );
    let ask =
        json!({"run": agent.run, "query": {"from": 0, "to": 1}, "after": 0, "find": "item 10042"});
    let found = api.post("/api/diffs/read", ask).await.is(200);
    let rows = found["page"]["rows"].as_array().map_or(0, Vec::len);
    assert!((1..=2).contains(&rows), "{found}");
}

async fn unchanged_parts_and_branches_are_read_on_demand(on: Engine) {
    let api = on.shared().await;
    let list: Vec<usize> = (0..250).collect();
    let agent = api
        .agent(json!({"state": {"a": 1, "b": {"deep": [1]}, "c": "x", "list": list, "n": 0}}))
        .await;
    agent
        .does(
            "one",
            json!({"patch": [{"op": "replace", "path": "/n", "value": 1}]}),
        )
        .await;
    let ask = json!({"run": agent.run, "query": {"from": 0, "to": 1}, "path": "", "old_path": "", "after": 0});
    let same = api.post("/api/diffs/unchanged", ask).await.is(200);
    let keys: Vec<&str> = same["branches"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["path"].as_str())
        .collect();
    assert_eq!(keys, ["/a", "/b", "/c", "/list"]);
    let ask = |after: i64| json!({"run": agent.run, "snapshot": 1, "path": "/list", "items": null, "after": after});
    let first = api.post("/api/snapshots/branches", ask(0)).await.is(200);
    assert_eq!(first["next"], 100);
    let last = api.post("/api/snapshots/branches", ask(200)).await.is(200);
    assert_eq!(last["branches"].as_array().map(Vec::len), Some(50));
    assert_eq!(last["next"], Value::Null);
    let ask = json!({"run": agent.run, "snapshot": 1, "text": "DEEP", "after": 0});
    let found = api.post("/api/snapshots/find", ask).await.is(200);
    assert_eq!(found["branches"][0]["path"], "/b/deep");
}

async fn a_value_is_traced_to_the_steps_that_wrote_it(on: Engine) {
    let api = on.shared().await;
    let agent = api
        .agent(json!({"state": {"plan": [{"id": "pay", "state": "open"}], "other": 0}}))
        .await;
    let set = |value: &str| json!({"op": "replace", "path": "/plan/0/state", "value": value});
    agent
        .does("first", json!({"patch": [set("checked")]}))
        .await;
    agent
        .does(
            "second",
            json!({"patch": [{"op": "replace", "path": "/other", "value": 1}]}),
        )
        .await;
    agent.does("third", json!({"patch": [set("paid"), {"op": "add", "path": "/plan/0", "value": {"id": "look"}}]})).await;
    agent
        .does(
            "fourth",
            json!({"patch": [{"op": "replace", "path": "/other", "value": 2}]}),
        )
        .await;
    let ask = |path: &str| json!({"run": agent.run, "snapshot": 4, "path": path});
    let blame = api
        .post("/api/snapshots/writes", ask("/plan/1/state"))
        .await
        .is(200);
    let told: Vec<Value> = blame["writes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| json!([it["snapshot"], it["seq"], it["value"]["text"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!([3, 3, "\"paid\""]),
            json!([1, 1, "\"checked\""]),
            json!([0, null, "\"open\""])
        ]
    );
    let added = api
        .post("/api/snapshots/writes", ask("/plan/0/id"))
        .await
        .is(200);
    assert_eq!(added["writes"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        added["writes"][0]["name"],
        api.step(&agent.run, 3).await["name"]
    );
    api.post("/api/snapshots/writes", ask("/plan/7"))
        .await
        .refused(404, "not_found");
    api.post("/api/snapshots/writes", ask("plan"))
        .await
        .refused(422, "invalid");
}

both_engines! {
    the_changes_between_two_snapshots_are_aligned_by_content,
    states_of_two_runs_are_compared,
    a_diff_that_cannot_be_made_says_why,
    the_command_line_shows_changes_and_states,
    a_large_diff_is_read_page_by_page,
    unchanged_parts_and_branches_are_read_on_demand,
    a_value_is_traced_to_the_steps_that_wrote_it,
}
