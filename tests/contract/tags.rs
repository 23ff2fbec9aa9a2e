//! Tags: names for snapshots, found again by run, space, name and what is said of them.

use serde_json::{Value, json};

use crate::{
    checkpoints::saves,
    support::{Agent, Api, Engine, both_engines, unique},
};

async fn tags(api: &Api, query: &str) -> Vec<Value> {
    let page = api.get(&format!("/v1/tags?{query}")).await.is(200);
    assert_eq!(page["next"], Value::Null, "one page: {page}");
    page["tags"].as_array().expect("tags").clone()
}

fn ids(tags: &[Value]) -> Vec<&str> {
    tags.iter().map(|tag| tag["id"].as_str().unwrap()).collect()
}

/// A JSON value as it stands in a query.
fn quoted(value: Value) -> String {
    let bytes = value.to_string().into_bytes();
    bytes.iter().map(|byte| format!("%{byte:02X}")).collect()
}

/// Saves a state under this tag.
async fn tagged(agent: &Agent, id: &str, n: i64) -> Value {
    saves(agent, json!({"state": {"n": n}, "tag": {"id": id}}))
        .await
        .is(200)
}

async fn a_tag_names_the_snapshot_that_came_with_it(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let tag = json!({"space": "ns|1", "id": "a", "meta": {"step": -1, "source": "input"}});
    saves(&agent, json!({"state": {"n": 1}, "tag": tag}))
        .await
        .is(200);
    let commit = json!({"state": {"n": 2}, "tag": {"id": "b"}});
    let (seq, _) = agent.does("one", commit).await;
    agent.does("two", json!({"tag": {"id": "c"}})).await;

    let found = tags(&api, &format!("run={}", agent.run)).await;
    assert_eq!(ids(&found), ["c", "b", "a"], "newest first");
    assert_eq!(
        (&found[0]["snapshot"], &found[1]["snapshot"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        (&found[1]["seq"], &found[1]["meta"]),
        (&json!(seq), &json!({}))
    );
    let first = &found[2];
    assert_eq!(first["run"], json!(agent.run));
    assert_eq!(
        (&first["space"], &first["snapshot"]),
        (&json!("ns|1"), &json!(1))
    );
    assert_eq!(first["meta"], tag["meta"]);
    assert!(
        first.get("seq").is_none() && first.get("state").is_none(),
        "{first}"
    );
    assert_eq!(
        first["created_at"],
        api.snapshot(&agent.run, 1).await["created_at"]
    );

    let full = tags(&api, &format!("run={}&full=true", agent.run)).await;
    let states: Vec<_> = full.iter().map(|tag| tag["state"]["n"].clone()).collect();
    assert_eq!(states, [json!(2), json!(2), json!(1)]);
    assert_eq!(
        api.snapshot(&agent.run, 2).await["tags"],
        json!([{"space": "", "id": "c"}, {"space": "", "id": "b"}])
    );
    assert!(api.snapshot(&agent.run, 0).await.get("tags").is_none());
}

async fn tags_are_found_by_space_name_place_and_what_is_said_of_them(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    for (i, (space, id, meta)) in [
        (
            "",
            "a",
            json!({"source": "loop", "step": 1, "deep": {"x": [1, 2]}}),
        ),
        ("sub", "a", json!({"source": "loop", "step": 2})),
        ("", "b", json!({"source": "input", "step": 1})),
        ("sub", "b", json!({"source": null})),
    ]
    .into_iter()
    .enumerate()
    {
        let tag = json!({"space": space, "id": id, "meta": meta});
        saves(&agent, json!({"state": i, "tag": tag})).await.is(200);
    }
    let snapshots = async |query: &str| {
        let found = tags(&api, &format!("run={}&{query}", agent.run)).await;
        let numbers = found.iter().map(|tag| tag["snapshot"].as_i64().unwrap());
        numbers.collect::<Vec<_>>()
    };
    assert_eq!(snapshots("space=").await, [3, 1]);
    assert_eq!(snapshots("space=sub").await, [4, 2]);
    assert_eq!(snapshots("id=b").await, [4, 3]);
    assert_eq!(snapshots("space=sub&id=a").await, [2]);
    assert_eq!(snapshots("space=none&id=a").await, [0i64; 0]);
    let said = async |meta: Value| snapshots(&format!("meta={}", quoted(meta))).await;
    assert_eq!(said(json!({"source": "loop"})).await, [2, 1]);
    assert_eq!(said(json!({"source": "loop", "step": 1.0})).await, [1]);
    assert_eq!(said(json!({"deep": {"x": [1, 2]}})).await, [1]);
    assert_eq!(said(json!({"deep": {}})).await, [0i64; 0]);
    assert_eq!(
        said(json!({"source": null})).await,
        [4],
        "absent is not null"
    );
    assert_eq!(said(json!({})).await, [4, 3, 2, 1]);
    let third = &tags(&api, &format!("run={}&id=b&space=", agent.run)).await[0];
    assert_eq!(snapshots(&format!("before={}", third["n"])).await, [2, 1]);
    assert_eq!(
        snapshots(&format!("before={}&space=sub", third["n"])).await,
        [2]
    );
}

async fn a_long_list_of_tags_is_read_page_by_page(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    for i in 0..70 {
        tagged(&agent, &format!("t{i}"), i).await;
    }
    let fork = json!({"kind": "fork", "reason": "r"});
    let forked = api.decide(&agent.run, fork).await.is(200)["run"]["id"].clone();
    let forked = forked.as_str().unwrap();
    // A marker that only these two runs have, where all runs are asked.
    for run in [Some(agent.run.as_str()), Some(forked), None] {
        let mut seen = Vec::new();
        let mut before = String::new();
        loop {
            let of = run.map(|run| format!("&run={run}")).unwrap_or_default();
            let page = api
                .get(&format!("/v1/tags?limit=33{of}{before}"))
                .await
                .is(200);
            let found = page["tags"].as_array().unwrap();
            assert!(found.len() <= 33);
            let mine = found
                .iter()
                .filter(|tag| tag["run"] == json!(agent.run) || tag["run"] == json!(forked));
            seen.extend(mine.map(|tag| (tag["id"].to_string(), tag["run"].to_string())));
            match page["next"].as_str() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        let runs = if run.is_some() { 1 } else { 2 };
        assert_eq!(seen.len(), 70 * runs, "each once: {run:?}");
        let mut ids: Vec<_> = seen.iter().map(|(id, _)| id.clone()).collect();
        ids.dedup();
        let expected: Vec<_> = (0..70).rev().map(|i| format!("\"t{i}\"")).collect();
        assert_eq!(ids, expected, "newest first");
    }
}

async fn a_tag_sent_again_gets_the_first_answer_or_a_conflict(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let body = json!({"state": {"n": 1}, "tag": {"id": "a", "meta": {"k": 1}}});
    let first = saves(&agent, body.clone()).await.is(200);
    tagged(&agent, "b", 2).await;
    let before = agent.facts().await;
    assert_eq!(saves(&agent, body.clone()).await.is(200), first);
    for other in [
        json!({"state": {"n": 9}, "tag": {"id": "a", "meta": {"k": 1}}}),
        json!({"state": {"n": 1}, "tag": {"id": "a", "meta": {"k": 2}}}),
        json!({"state": {"n": 1}, "tag": {"id": "a"}}),
        json!({"patch": [], "tag": {"id": "a", "meta": {"k": 1}}}),
    ] {
        let taken = saves(&agent, other).await.refused(409, "tag_conflict");
        assert_eq!(taken["snapshot"], 1);
    }
    assert_eq!(agent.facts().await, before);
    agent.release(json!({})).await.is(200);
    assert_eq!(
        saves(&agent, body).await.is(200),
        first,
        "also when the lease is over"
    );
    let other = json!({"state": {"n": 1}, "tag": {"space": "s", "id": "a"}});
    saves(&agent, other).await.refused(409, "lease_lost");
}

async fn a_commit_whose_tag_is_taken_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    tagged(&agent, "a", 1).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    let commit = |tag: &str| json!({"result": 1, "state": 2, "tag": {"id": tag}});
    agent
        .commit(seq, 1, commit("a"))
        .await
        .refused(409, "tag_conflict");
    assert_eq!(agent.facts().await, before);
    let first = agent.commit(seq, 1, commit("b")).await.is(200);
    assert_eq!(agent.commit(seq, 1, commit("b")).await.is(200), first);
    agent
        .commit(seq, 1, commit("c"))
        .await
        .refused(409, "commit_conflict");
    assert_eq!(
        ids(&tags(&api, &format!("run={}", agent.run)).await),
        ["b", "a"]
    );
}

async fn a_rewind_hides_the_tags_of_what_it_leaves_behind(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    tagged(&agent, "before", 1).await;
    agent
        .does("one", json!({"state": {"n": 2}, "tag": {"id": "one"}}))
        .await;
    agent.does("two", json!({"tag": {"id": "two"}})).await;
    tagged(&agent, "after", 4).await;
    agent.release(json!({})).await.is(200);
    let rewind = async |step: i64| {
        let version = api.run(&agent.run).await["version"].clone();
        let body = json!({"kind": "rewind", "step": step, "reason": "r", "if_version": version});
        api.decide(&agent.run, body).await.is(200);
    };
    let seen = async || {
        let found = tags(&api, &format!("run={}", agent.run)).await;
        ids(&found).join(" ")
    };
    assert_eq!(seen().await, "after two one before");
    rewind(2).await;
    assert_eq!(
        seen().await,
        "one before",
        "the second step made no snapshot, and is undone"
    );
    assert!(api.snapshot(&agent.run, 3).await.get("tags").is_none());
    let agent = api.lease(&agent.run, json!({})).await;
    let again = tagged(&agent, "after", 5).await;
    assert_eq!(again["snapshot"], 5, "the name is free again");
    agent.release(json!({})).await.is(200);
    assert_eq!(seen().await, "after one before");
    rewind(1).await;
    assert_eq!(seen().await, "before");
}

async fn a_fork_has_the_tags_of_the_snapshots_that_it_shares(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    tagged(&agent, "before", 1).await;
    agent
        .does(
            "one",
            json!({"state": {"n": 2}, "tag": {"id": "one", "meta": {"k": 1}}}),
        )
        .await;
    agent.does("two", json!({"tag": {"id": "two"}})).await;
    tagged(&agent, "after", 4).await;
    let fork = async |step: Value| {
        let body = json!({"kind": "fork", "step": step, "reason": "r"});
        let made = api.decide(&agent.run, body).await.is(200);
        made["run"]["id"].as_str().unwrap().to_owned()
    };
    let (early, whole) = (fork(json!(2)).await, fork(Value::Null).await);
    let found = tags(&api, &format!("run={early}&full=true")).await;
    assert_eq!(ids(&found), ["one", "before"]);
    assert_eq!(
        (&found[0]["meta"], &found[0]["state"]),
        (&json!({"k": 1}), &json!({"n": 2}))
    );
    assert_eq!(
        ids(&tags(&api, &format!("run={whole}")).await),
        ["after", "two", "one", "before"]
    );
    let forked = api.lease(&early, json!({})).await;
    tagged(&forked, "after", 9).await;
    assert_eq!(tags(&api, &format!("run={early}&id=after")).await.len(), 1);
    let origin = tags(&api, &format!("run={}&id=after&full=true", agent.run)).await;
    assert_eq!(
        origin[0]["state"],
        json!({"n": 4}),
        "the origin has its own"
    );
    let again = json!({"state": {"n": 1}, "tag": {"id": "before"}});
    assert_eq!(
        saves(&forked, again).await.is(200)["snapshot"],
        1,
        "what was saved in the origin is known in the fork"
    );
}

async fn a_tag_is_held_to_its_limits(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    for (tag, path) in [
        (json!({"id": ""}), "tag/id"),
        (json!({"id": "x".repeat(257)}), "tag/id"),
        (json!({"id": "a\u{7}b"}), "tag/id"),
        (json!({"id": 1}), "tag.id"),
        (json!({}), "id"),
        (json!(["a"]), "tag"),
        (json!({"id": "a", "space": "x".repeat(1_001)}), "tag/space"),
        (json!({"id": "a", "meta": [1]}), "meta"),
        (json!({"id": "a", "meta": 1}), "meta"),
        (json!({"id": "a", "surprise": 1}), "surprise"),
    ] {
        let refused = saves(&agent, json!({"state": 1, "tag": tag})).await;
        refused.bad_input("");
        assert!(refused.text.contains(path), "{path}: {}", refused.text);
        agent
            .commit(seq, 1, json!({"state": 1, "tag": tag}))
            .await
            .bad_input("");
    }
    let large = json!({"id": "a", "meta": {"k": "x".repeat(1 << 20)}});
    saves(&agent, json!({"state": 1, "tag": large}))
        .await
        .refused(413, "too_large");
    assert_eq!(agent.facts().await, before);
    let widest = json!({"id": "ü".repeat(256), "space": "ü".repeat(1_000), "meta": {"k": "x".repeat(1_000_000)}});
    saves(&agent, json!({"state": 1, "tag": widest}))
        .await
        .is(200);
    let found = tags(&api, &format!("run={}", agent.run)).await;
    assert_eq!(found[0]["space"], widest["space"]);
    assert_eq!(found[0]["meta"], widest["meta"]);
}

async fn a_question_about_tags_that_makes_no_sense_is_refused(on: Engine) {
    let api = on.shared().await;
    for (query, path) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("before=x", "before"),
        ("before=-1", "before"),
        ("meta=1", "meta"),
        ("meta=%5B1%5D", "meta"),
        ("meta=%7B%22a%22%3A1%2C%22a%22%3A2%7D", "meta"),
        ("full=maybe", "full"),
        ("run=a%20b", "run"),
        ("surprise=1", "surprise"),
    ] {
        api.get(&format!("/v1/tags?{query}")).await.bad_input(path);
    }
    let nowhere = format!("/v1/tags?run={}", unique("run"));
    api.get(&nowhere).await.refused(404, "not_found");
}

both_engines!(
    a_tag_names_the_snapshot_that_came_with_it,
    tags_are_found_by_space_name_place_and_what_is_said_of_them,
    a_long_list_of_tags_is_read_page_by_page,
    a_tag_sent_again_gets_the_first_answer_or_a_conflict,
    a_commit_whose_tag_is_taken_changes_nothing,
    a_rewind_hides_the_tags_of_what_it_leaves_behind,
    a_fork_has_the_tags_of_the_snapshots_that_it_shares,
    a_tag_is_held_to_its_limits,
    a_question_about_tags_that_makes_no_sense_is_refused,
);
