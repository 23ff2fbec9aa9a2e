//! Reads: keyset pages that neither skip nor repeat, and filters that hold together.

use serde_json::{Value, json};

use crate::support::{Api, Engine, Server, both_engines, together, unique};

/// Walks all pages of `/v1/runs` and gives the ids, page by page.
async fn pages(api: &Api, query: &str, mut between: impl AsyncFnMut()) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(&format!("/v1/runs?{query}{cursor}")).await.is(200);
        let runs = page["runs"].as_array().expect("runs");
        all.push(
            runs.iter()
                .map(|run| run["id"].as_str().unwrap().to_owned())
                .collect(),
        );
        match &page["next"] {
            Value::Null => return all,
            Value::String(next) => cursor = format!("&cursor={}", escaped(next)),
            other => panic!("next is {other}"),
        }
        assert!(all.len() < 100, "pages without end");
        between().await;
    }
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn pages_of_runs_hold_each_run_once(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(api.create(json!({"agent": agent})).await);
    }
    let all = pages(&api, &format!("agent={agent}&limit=3"), async || {}).await;
    let sizes: Vec<_> = all.iter().map(Vec::len).filter(|&n| n > 0).collect();
    assert_eq!(sizes, [3, 3, 1]);
    let mut listed = all.concat();
    listed.sort_unstable();
    made.sort_unstable();
    assert_eq!(listed, made);
}

async fn runs_made_or_changed_between_pages_disturb_no_page(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let mut made = Vec::new();
    for _ in 0..6 {
        made.push(api.create(json!({"agent": agent})).await);
    }
    let first = made[0].clone();
    let mut turn = 0;
    let all = pages(&api, &format!("agent={agent}&limit=2"), async || {
        turn += 1;
        if turn < 4 {
            api.create(json!({"agent": agent})).await;
            let worker = api.lease(&first, json!({})).await;
            worker
                .does(&format!("k{turn}"), json!({"state": turn}))
                .await;
            worker.release(json!({})).await.is(200);
        }
    })
    .await;
    let listed = all.concat();
    for run in &made {
        let times = listed.iter().filter(|id| *id == run).count();
        assert_eq!(times, 1, "{run} in {all:?}");
    }
}

async fn filters_hold_together(on: Engine) {
    let api = on.shared().await;
    let (agent, other) = (unique("agent"), unique("agent"));
    let tag = unique("tag");
    let a = api.create(json!({"agent": agent, "title": format!("Red {tag}"), "labels": {"team": "x", "a:b": "c:d"}})).await;
    let b = api
        .create(json!({"agent": agent, "title": format!("blue {tag}"), "labels": {"team": "y"}}))
        .await;
    let c = api
        .create(json!({"agent": other, "title": format!("red {tag}"), "labels": {"team": "x"}}))
        .await;
    api.lease(&b, json!({})).await;
    for (query, expected) in [
        (format!("agent={agent}"), vec![&a, &b]),
        (format!("agent={agent}&status=running"), vec![&b]),
        (format!("agent={agent}&status=pending"), vec![&a]),
        (format!("agent={agent}&status=done"), vec![]),
        (format!("agent={agent}&label=team:x"), vec![&a]),
        (format!("agent={agent}&label=team:z"), vec![]),
        (format!("q={tag}&label=team:x"), vec![&a, &c]),
        (format!("q={tag}&agent={other}"), vec![&c]),
        (format!("q={a}"), vec![&a]),
    ] {
        let mut listed = pages(&api, &query, async || {}).await.concat();
        let mut expected: Vec<_> = expected.into_iter().cloned().collect();
        listed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(listed, expected, "{query}");
    }
}

async fn search_takes_wildcards_and_quotes_as_text(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    api.create(json!({"agent": agent, "title": "100 % sure"}))
        .await;
    api.create(json!({"agent": agent, "title": "it's \"quoted\" \\ _here"}))
        .await;
    for (q, found) in [
        ("%", 1),
        ("_", 1),
        ("'", 1),
        ("\"", 1),
        ("\\", 1),
        ("';--", 0),
        ("%%", 0),
    ] {
        let listed = api
            .get(&format!("/v1/runs?agent={agent}&q={}", escaped(q)))
            .await
            .is(200);
        assert_eq!(listed["runs"].as_array().unwrap().len(), found, "q={q}");
    }
}

async fn strange_questions_get_a_clear_no(on: Engine) {
    let api = on.shared().await;
    for query in [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=x",
        "limit=99999999999999999999",
        "status=asleep",
        "cursor=x",
        "cursor=%FF",
        "limit=1.5",
        "status=Running",
    ] {
        let (field, _) = query.split_once('=').unwrap();
        api.get(&format!("/v1/runs?{query}")).await.bad_input(field);
    }
    for query in [
        "q=%00",
        "agent=%00",
        "label=%00:a",
        "label=a:%00",
        "cursor=%00",
        "q=%FF",
        "agent=%ED%A0%80",
        "label=x",
        "label=:",
        "q=",
    ] {
        let answer = api.get(&format!("/v1/runs?{query}")).await;
        assert!(answer.status < 500, "{answer:?}");
    }
    for query in [
        "after=x",
        "after=-1",
        "after=99999999999999999999",
        "run=%00",
        "run=a%20b",
    ] {
        let answer = api.get(&format!("/v1/events?{query}")).await;
        assert!(answer.status < 500, "{answer:?}");
    }
    let run = api.create(json!({})).await;
    for path in [
        "steps?limit=0",
        "steps?limit=1001",
        "steps?after=x",
        "steps?limit=x",
        "steps/x",
        "snapshots/x",
        "snapshots/-1",
        "steps/1?wait_ms=x",
    ] {
        api.get(&format!("/v1/runs/{run}/{path}")).await.refusal();
    }
    for id in [
        "a%00b",
        "a%20b",
        "%FF",
        "a%2Fb",
        &"x".repeat(129),
        "%F0%9F%98%80",
    ] {
        let answer = api.get(&format!("/v1/runs/{id}")).await.refusal();
        assert!(answer["code"] != "unauthorized", "{answer}");
    }
}

async fn a_limit_of_1000_is_the_largest(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    api.get("/v1/runs?limit=1000").await.is(200);
    api.get("/v1/runs?limit=1").await.is(200);
    api.get(&format!("/v1/runs/{run}/steps?limit=1000"))
        .await
        .is(200);
}

async fn a_list_of_runs_is_bounded_without_a_limit(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    for _ in 0..55 {
        api.create(json!({"agent": agent})).await;
    }
    let page = api.get(&format!("/v1/runs?agent={agent}")).await.is(200);
    assert_eq!(page["runs"].as_array().unwrap().len(), 50);
    assert!(page["next"].is_string());
}

async fn pages_of_steps_hold_each_step_once_and_in_order(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("k1", json!({})).await;
    let mut last = seq;
    for i in 2..=8 {
        let next = json!({"key": format!("k{i}"), "name": "n"});
        let commit = agent
            .commit(last, 1, json!({"state": i, "next": next}))
            .await
            .is(200);
        last = commit["next"]["seq"].as_i64().unwrap();
    }
    let mut seqs = Vec::new();
    let mut after = 0;
    loop {
        let page = api
            .get(&agent.path(&format!("steps?after={after}&limit=3")))
            .await
            .is(200);
        let steps = page["steps"].as_array().unwrap();
        assert!(steps.len() <= 3);
        seqs.extend(steps.iter().map(|step| step["seq"].as_i64().unwrap()));
        match page["next"].as_i64() {
            Some(next) => after = next,
            None => break,
        }
        assert!(seqs.len() <= 8, "{seqs:?}");
    }
    assert_eq!(seqs, (1..=8).collect::<Vec<_>>());
    let page = api.get(&agent.path("steps?after=8")).await.is(200);
    assert_eq!(page["steps"], json!([]));
}

/// Many watchers at once: readers must neither starve each other nor the writer.
async fn many_readers_at_once_all_get_their_answers(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({"state": 1})).await;
    let seq = agent.executes("two", json!({})).await;
    together(64, |i| {
        let agent = agent.clone();
        async move {
            for _ in 0..5 {
                match i % 6 {
                    0 => agent.api.get(&agent.path("steps")).await.is(200),
                    1 => agent.api.get(&agent.path("steps/2")).await.is(200),
                    2 => agent.api.get(&agent.path("snapshots/1")).await.is(200),
                    3 => agent.api.get("/v1/runs").await.is(200),
                    4 => agent.heartbeat(json!({})).await.is(200),
                    _ => agent.api.run(&agent.run).await,
                };
            }
        }
    })
    .await;
    agent.commit(seq, 1, json!({"state": 2})).await.is(200);
}

async fn every_snapshot_stays_readable(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"log": []}})).await;
    let mut hashes = vec![api.snapshot(&agent.run, 0).await["hash"].clone()];
    for i in 1..=20 {
        let patch = json!([{"op": "add", "path": "/log/-", "value": {"i": i}}]);
        let (_, commit) = agent.does(&format!("k{i}"), json!({"patch": patch})).await;
        hashes.push(commit["hash"].clone());
    }
    for (n, hash) in hashes.iter().enumerate() {
        let snapshot = api.snapshot(&agent.run, n as i64).await;
        assert_eq!(snapshot["hash"], *hash);
        assert_eq!(snapshot["state"]["log"].as_array().unwrap().len(), n);
    }
    let mut distinct: Vec<_> = hashes.iter().map(Value::to_string).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 21);
}

async fn unknown_paths_and_methods_are_refused_in_the_same_form(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    api.get("/v1/nothing").await.refused(404, "not_found");
    api.get(&format!("/v1/runs/{run}/nothing"))
        .await
        .refused(404, "not_found");
    api.post(&format!("/v1/runs/{run}"), json!({}))
        .await
        .refusal();
    assert_eq!(api.get("/v1/claims").await.refusal()["status"], 405);
    let request = api.request(reqwest::Method::DELETE, &format!("/v1/runs/{run}"));
    let answer = crate::support::Answer::try_to(request, "DELETE a run".to_owned())
        .await
        .unwrap();
    answer.refusal();
    assert_eq!(api.status(&run).await, "pending");
}

both_engines!(
    pages_of_runs_hold_each_run_once,
    runs_made_or_changed_between_pages_disturb_no_page,
    filters_hold_together,
    search_takes_wildcards_and_quotes_as_text,
    strange_questions_get_a_clear_no,
    a_limit_of_1000_is_the_largest,
    a_list_of_runs_is_bounded_without_a_limit,
    pages_of_steps_hold_each_step_once_and_in_order,
    many_readers_at_once_all_get_their_answers,
    every_snapshot_stays_readable,
    unknown_paths_and_methods_are_refused_in_the_same_form,
);
