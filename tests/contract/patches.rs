//! RFC 6902 in commits: each operation, each way to fail, and never half a patch.

use serde_json::{Value, json};

use crate::support::{Engine, Server, both_engines, together};

async fn every_operation_of_rfc_6902_applies(on: Engine) {
    let api = on.shared().await;
    let agent = api
        .agent(json!({"state": {"a": 1, "list": [1, 2, 3], "m~n": {"x/y": 1}}}))
        .await;
    let cases = [
        (
            json!([{"op": "test", "path": "/a", "value": 1.0}, {"op": "add", "path": "/b", "value": null}]),
            json!({"a": 1, "b": null, "list": [1, 2, 3], "m~n": {"x/y": 1}}),
        ),
        (
            json!([{"op": "add", "path": "/list/1", "value": 9}, {"op": "add", "path": "/list/-", "value": 4}]),
            json!({"a": 1, "b": null, "list": [1, 9, 2, 3, 4], "m~n": {"x/y": 1}}),
        ),
        (
            json!([{"op": "remove", "path": "/list/0"}, {"op": "remove", "path": "/b"}]),
            json!({"a": 1, "list": [9, 2, 3, 4], "m~n": {"x/y": 1}}),
        ),
        (
            json!([{"op": "replace", "path": "/m~0n/x~1y", "value": {"deep": []}}]),
            json!({"a": 1, "list": [9, 2, 3, 4], "m~n": {"x/y": {"deep": []}}}),
        ),
        (
            json!([{"op": "move", "from": "/a", "path": "/m~0n/a"}, {"op": "move", "from": "/list/0", "path": "/list/3"}]),
            json!({"list": [2, 3, 4, 9], "m~n": {"a": 1, "x/y": {"deep": []}}}),
        ),
        (
            json!([{"op": "copy", "from": "/list", "path": "/m~0n/x~1y/deep/-"}, {"op": "add", "path": "/list", "value": 0}]),
            json!({"list": 0, "m~n": {"a": 1, "x/y": {"deep": [[2, 3, 4, 9]]}}}),
        ),
        (
            json!([{"op": "add", "path": "/", "value": "empty key"}]),
            json!({"": "empty key", "list": 0, "m~n": {"a": 1, "x/y": {"deep": [[2, 3, 4, 9]]}}}),
        ),
        (
            json!([{"op": "add", "path": "", "value": {"whole": true}}]),
            json!({"whole": true}),
        ),
        (
            json!([{"op": "replace", "path": "", "value": [1]}, {"op": "test", "path": "", "value": [1]}]),
            json!([1]),
        ),
        (json!([]), json!([1])),
    ];
    for (i, (patch, expected)) in cases.into_iter().enumerate() {
        let (_, commit) = agent.does(&format!("k{i}"), json!({"patch": patch})).await;
        assert_eq!(commit["snapshot"], json!(i + 1), "{patch}");
        let snapshot = api.snapshot(&agent.run, i as i64 + 1).await;
        assert_eq!(snapshot["state"], expected, "{patch}");
        assert_eq!(snapshot["hash"], commit["hash"]);
    }
}

async fn a_patch_that_does_not_fit_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let agent = api
        .agent(json!({"state": {"a": {"b": 1}, "list": [1, 2]}}))
        .await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    for op in [
        json!({"op": "test", "path": "/a/b", "value": 2}),
        json!({"op": "test", "path": "/a", "value": {"b": 1, "c": 2}}),
        json!({"op": "test", "path": "/a/b", "value": "1"}),
        json!({"op": "remove", "path": "/x"}),
        json!({"op": "remove", "path": "/list/2"}),
        json!({"op": "remove", "path": "/list/-"}),
        json!({"op": "replace", "path": "/x", "value": 1}),
        json!({"op": "replace", "path": "/list/9", "value": 1}),
        json!({"op": "add", "path": "/x/y", "value": 1}),
        json!({"op": "add", "path": "/list/3", "value": 1}),
        json!({"op": "add", "path": "/list/01", "value": 1}),
        json!({"op": "add", "path": "/list/+1", "value": 1}),
        json!({"op": "add", "path": "/list/-1", "value": 1}),
        json!({"op": "add", "path": "/list/1e0", "value": 1}),
        json!({"op": "add", "path": "/list/99999999999999999999", "value": 1}),
        json!({"op": "add", "path": "/a/b/c", "value": 1}),
        json!({"op": "move", "from": "/x", "path": "/y"}),
        json!({"op": "move", "from": "/a", "path": "/a/b/c"}),
        json!({"op": "copy", "from": "/x", "path": "/y"}),
    ] {
        let patch = json!([{"op": "add", "path": "/good", "value": 1}, op]);
        agent
            .commit(seq, 1, json!({"result": 1, "patch": patch}))
            .await
            .refused(422, "patch_failed");
    }
    assert_eq!(
        agent.facts().await,
        before,
        "also the good half is not there"
    );
    agent
        .commit(seq, 1, json!({"patch": [{"op": "remove", "path": "/a"}]}))
        .await
        .is(200);
    assert_eq!(
        api.snapshot(&agent.run, 1).await["state"],
        json!({"list": [1, 2]})
    );
}

/// Good and bad commits of one run that share a moment, perhaps a transaction.
async fn a_patch_that_fails_leaves_the_others_beside_it_whole(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"list": []}})).await;
    for i in 0..24 {
        agent.executes(&format!("k{i}"), json!({})).await;
    }
    together(24, |i| {
        let agent = agent.clone();
        async move {
            let add = json!({"op": "add", "path": "/list/-", "value": i});
            let broken = json!({"op": "remove", "path": "/nothing"});
            let seq = i as i64 + 1;
            match i % 3 {
                0 => {
                    let answer = agent.commit(seq, 1, json!({"patch": [add, broken]})).await;
                    answer.refused(422, "patch_failed");
                }
                1 => {
                    let answer = agent
                        .commit(seq, 1, json!({"state": {"stale": i}, "base": 99}))
                        .await;
                    answer.refusal();
                }
                _ => {
                    agent.commit(seq, 1, json!({"patch": [add]})).await.is(200);
                }
            }
        }
    })
    .await;
    let state = api.snapshot(&agent.run, 8).await["state"].clone();
    let mut list: Vec<_> = state["list"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    list.sort_unstable();
    assert_eq!(list, (0..24).filter(|i| i % 3 == 2).collect::<Vec<_>>());
    assert_eq!(api.run(&agent.run).await["snapshot"], 8);
}

async fn what_is_no_patch_is_bad_input(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"a": 1}})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    for patch in [
        json!({"op": "add", "path": "/a", "value": 1}),
        json!("text"),
        json!([1]),
        json!([{}]),
        json!([{"op": "grow", "path": "/a", "value": 1}]),
        json!([{"op": "add", "path": "/a"}]),
        json!([{"op": "test", "path": "/a"}]),
        json!([{"op": "replace", "path": "/a"}]),
        json!([{"op": "move", "path": "/a"}]),
        json!([{"op": "remove"}]),
        json!([{"op": "remove", "path": 1}]),
        json!([{"op": "remove", "path": "a"}]),
        json!([{"op": "remove", "path": "/a~2"}]),
        json!([{"op": "remove", "path": "/a~"}]),
        json!([{"path": "/a", "value": 1}]),
    ] {
        let problem = agent
            .commit(seq, 1, json!({"patch": patch}))
            .await
            .refusal();
        let code = problem["code"].as_str().unwrap();
        assert!(
            ["malformed", "invalid", "patch_failed"].contains(&code),
            "{patch}: {problem}"
        );
    }
    assert_eq!(agent.facts().await, before);
}

/// Doubling by copy: small on the wire, endless in memory.
async fn a_patch_that_explodes_is_refused(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({"state": {"a": ["x"]}})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    let doubling: Vec<Value> = (0..60)
        .map(|_| json!({"op": "copy", "from": "/a", "path": "/a/-"}))
        .collect();
    let problem = agent
        .commit(seq, 1, json!({"patch": doubling}))
        .await
        .refusal();
    let code = problem["code"].as_str().unwrap();
    assert!(
        ["too_large", "invalid", "patch_failed"].contains(&code),
        "{problem}"
    );
    assert_eq!(agent.facts().await, before);
}

async fn a_patch_cannot_nest_the_state_beyond_the_limit(on: Engine) {
    let api = on.shared().await;
    let nested = |n: usize| (0..n).fold(json!(1), |inner, _| json!({"a": inner}));
    let agent = api.agent(json!({"state": nested(100)})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    let patch = json!([{"op": "add", "path": "/a".repeat(100), "value": nested(100)}]);
    agent
        .commit(seq, 1, json!({"patch": patch}))
        .await
        .refusal();
    let whole = json!([{"op": "copy", "from": "", "path": "/a".repeat(100)}]);
    agent
        .commit(seq, 1, json!({"patch": whole}))
        .await
        .refusal();
    assert_eq!(agent.facts().await, before);
}

both_engines!(
    every_operation_of_rfc_6902_applies,
    a_patch_that_does_not_fit_changes_nothing,
    a_patch_that_fails_leaves_the_others_beside_it_whole,
    what_is_no_patch_is_bad_input,
    a_patch_that_explodes_is_refused,
    a_patch_cannot_nest_the_state_beyond_the_limit,
);
