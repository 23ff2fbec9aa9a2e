//! Lists of runs: search over all that a run is known by, causes, owners and costs; each filter holds exactly.

use serde_json::{Value, json};

use crate::support::{Agent, Api, Engine, both_engines, unique};

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// All runs that a query lists, over all its pages.
async fn listed(api: &Api, query: &str) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    for _ in 0..100 {
        let page = api.get(&format!("/v1/runs?{query}{cursor}")).await.is(200);
        let runs = page["runs"].as_array().expect("runs");
        all.extend(
            runs.iter()
                .map(|run| run["id"].as_str().unwrap().to_owned()),
        );
        match &page["next"] {
            Value::String(next) => cursor = format!("&cursor={}", escaped(next)),
            _ => return all,
        }
    }
    panic!("pages without end: {query}");
}

/// A word that no other test uses.
fn word(what: &str) -> String {
    unique(what).replace('-', "")
}

/// A run of `agent` that commits one step and then crashes in another one.
async fn crashed(api: &Api, agent: &str, step: &str, effect: Value) -> Agent {
    let body = json!({"agent": agent, "version": "2.0.4", "on_crash": "hold"});
    let held = api.agent(body).await;
    held.does("first", json!({})).await;
    let more = match effect {
        Value::Null => json!({"name": step}),
        effect => json!({"name": step, "effect": effect}),
    };
    held.executes(&unique("key"), more).await;
    held.release(json!({})).await.is(200);
    held
}

async fn a_run_is_found_by_its_title_id_step_names_keys_and_errors(on: Engine) {
    let api = on.shared().await;
    let (title, name, kind, message) = (word("title"), word("name"), word("Kind"), word("oops"));
    let key = unique("charge-INV");
    let held = api
        .agent(json!({"title": format!("Reconcile {title} invoices")}))
        .await;
    held.does(&name, json!({})).await;
    let seq = held.executes(&key, json!({"name": "charge_card"})).await;
    let error = json!({"kind": kind, "message": format!("disk {message} on db-eu-2")});
    held.fail(seq, 1, json!({"error": error, "retryable": false}))
        .await
        .is(200);
    let short = &held.run[held.run.len() - 10..];
    let beginning = &title[..title.len() - 3];
    let part = &title[2..];
    for asked in [
        title.as_str(),
        &title.to_uppercase(),
        beginning,
        part,
        &format!("invoices {title}"),
        &format!("{title} {name}"),
        &name,
        &kind,
        &message,
        &key,
        &held.run,
        &held.run.to_uppercase(),
        short,
    ] {
        let found = listed(&api, &format!("q={}", escaped(asked))).await;
        assert_eq!(found, std::slice::from_ref(&held.run), "q={asked}");
    }
    for asked in [format!("{title} {}", word("other")), format!("{name}x")] {
        let found = listed(&api, &format!("q={}", escaped(&asked))).await;
        assert!(found.is_empty(), "q={asked}: {found:?}");
    }
}

async fn a_key_finds_its_step_and_its_providers_key(on: Engine) {
    let api = on.shared().await;
    let key = unique("refund");
    let (one, other) = (api.agent(json!({})).await, api.agent(json!({})).await);
    let seq = one.executes(&key, json!({})).await;
    other.executes(&unique("other"), json!({})).await;
    let by_step = listed(&api, &format!("key={}", escaped(&key))).await;
    assert_eq!(by_step, std::slice::from_ref(&one.run));
    let provider = api.step(&one.run, seq).await["idempotency_key"].clone();
    let by_provider = listed(
        &api,
        &format!("key={}", escaped(provider.as_str().unwrap())),
    )
    .await;
    assert_eq!(by_provider, std::slice::from_ref(&one.run));
    other.executes(&key, json!({})).await;
    let both = listed(&api, &format!("key={}&limit=1", escaped(&key))).await;
    assert_eq!(both, [other.run.clone(), one.run.clone()], "newest first");
    assert!(listed(&api, "key=no-such-key").await.is_empty());
}

async fn search_goes_on_where_the_page_before_ended(on: Engine) {
    let api = on.shared().await;
    let tag = word("tag");
    let mut made = Vec::new();
    for n in 0..7 {
        // Found by the beginning of a word, or only by a part of one.
        let title = match n % 2 {
            0 => format!("{tag} report"),
            _ => format!("pre{tag} report"),
        };
        made.push(api.create(json!({"title": title})).await);
    }
    for limit in [1, 2, 3, 50] {
        let mut found = listed(&api, &format!("q={tag}&limit={limit}")).await;
        found.sort_unstable();
        let mut wanted = made.clone();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "limit={limit}");
    }
}

async fn a_cause_lists_exactly_the_runs_that_stopped_alike(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let effect = json!({"target": "stripe"});
    let a = crashed(&api, &agent, "embed_query", Value::Null).await;
    let b = crashed(&api, &agent, "embed_query", Value::Null).await;
    let unknown = crashed(&api, &agent, "embed_query", effect).await;
    let elsewhere = crashed(&api, &agent, "rerank", Value::Null).await;
    assert_eq!(api.run(&a.run).await["effects_unknown"], false);
    assert_eq!(api.run(&unknown.run).await["effects_unknown"], true);
    let alike = format!("agent={agent}&status=crashed&version=2.0.4&step=embed_query&error=");
    let mut found = listed(&api, &format!("{alike}&effects_unknown=false")).await;
    found.sort_unstable();
    let mut wanted = vec![a.run.clone(), b.run.clone()];
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let found = listed(&api, &format!("{alike}&effects_unknown=true")).await;
    assert_eq!(found, std::slice::from_ref(&unknown.run));
    // Parts of a cause narrow as well.
    let found = listed(&api, &format!("agent={agent}&step=rerank")).await;
    assert_eq!(found, std::slice::from_ref(&elsewhere.run));
}

async fn an_error_is_part_of_the_cause(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let held = api.agent(json!({"agent": agent})).await;
    let seq = held.executes("copy", json!({})).await;
    held.fail(seq, 1, json!({"retryable": false})).await.is(200);
    held.finish(json!({"outcome": "failed"})).await.is(200);
    assert_eq!(api.run(&held.run).await["error_kind"], "Timeout");
    let found = listed(&api, &format!("agent={agent}&status=failed&error=Timeout")).await;
    assert_eq!(found, std::slice::from_ref(&held.run));
    assert!(
        listed(&api, &format!("agent={agent}&error=Other"))
            .await
            .is_empty()
    );
}

async fn mine_are_the_runs_i_decided_about_and_those_labelled_mine(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let owner = unique("ana");
    let labelled = api
        .create(json!({"agent": agent, "labels": {"owner": owner}}))
        .await;
    let decided = api.create(json!({"agent": agent})).await;
    api.create(json!({"agent": agent})).await;
    api.decide(&decided, json!({"kind": "pause", "reason": "mine"}))
        .await
        .is(200);
    assert_eq!(listed(&api, &format!("owner={owner}")).await, [labelled]);
    let mine = listed(&api, &format!("owner=%40me&agent={agent}")).await;
    assert_eq!(mine, [decided]);
}

async fn costly_runs_are_those_over_the_amount(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let mut made = Vec::new();
    for cost in [5.0, 20.0, 20.01, 77.5] {
        let held = api.agent(json!({"agent": agent})).await;
        held.does("spend", json!({"usage": {"cost_usd": cost}}))
            .await;
        made.push(held.run.clone());
    }
    api.create(json!({"agent": agent})).await;
    let over = async |usd: i64| {
        listed(&api, &format!("agent={agent}&over_usd={usd}"))
            .await
            .len()
    };
    assert_eq!([over(4).await, over(20).await, over(50).await], [4, 2, 1]);
}

async fn the_strip_shows_each_step_at_its_place(on: Engine) {
    let api = on.shared().await;
    let held = api.agent(json!({"on_crash": "hold"})).await;
    held.does("one", json!({})).await;
    let retry = json!({"retry": {"max_attempts": 3, "backoff_ms": 0}});
    let seq = held.executes("two", retry).await;
    held.fail(seq, 1, json!({"retryable": true})).await.is(200);
    assert_eq!(api.run(&held.run).await["strip"], "1;..;2f");
    held.begin("two", json!({})).await.is(200);
    held.commit(seq, 2, json!({})).await.is(200);
    held.executes("three", json!({})).await;
    held.release(json!({})).await.is(200);
    assert_eq!(api.run(&held.run).await["strip"], "1;.r.;3x");
}

async fn the_strip_of_a_long_run_stays_short(on: Engine) {
    let api = on.shared().await;
    let held = api.agent(json!({})).await;
    for n in 0..130 {
        held.does(&format!("step-{n}"), json!({})).await;
    }
    let strip = api.run(&held.run).await["strip"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(strip, format!("4;{};", ".".repeat(33)));
}

both_engines! {
    a_run_is_found_by_its_title_id_step_names_keys_and_errors,
    a_key_finds_its_step_and_its_providers_key,
    search_goes_on_where_the_page_before_ended,
    a_cause_lists_exactly_the_runs_that_stopped_alike,
    an_error_is_part_of_the_cause,
    mine_are_the_runs_i_decided_about_and_those_labelled_mine,
    costly_runs_are_those_over_the_amount,
    the_strip_shows_each_step_at_its_place,
    the_strip_of_a_long_run_stays_short,
}
