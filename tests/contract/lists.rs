//! Lists of runs: search over all that a run is known by, causes, owners and costs; each filter holds exactly.

use serde_json::{Value, json};

use crate::support::{Agent, Api, Engine, Server, both_engines, unique};

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

async fn a_worker_is_found_by_its_whole_name_in_every_run_it_worked_on(on: Engine) {
    let api = on.shared().await;
    let (worker, agent) = (unique("w"), unique("agent"));
    let mut made = Vec::new();
    for name in [&worker, &format!("{worker}-2")] {
        let run = api.create(json!({"agent": agent})).await;
        let held = api.lease(&run, json!({"worker": name})).await;
        held.does("pay", json!({})).await;
        held.finish(json!({})).await.is(200);
        made.push(run);
    }
    let taken_over = api.agent(json!({"agent": agent})).await;
    taken_over.does("begin", json!({})).await;
    taken_over.release(json!({})).await.is(200);
    let held = api.lease(&taken_over.run, json!({"worker": worker})).await;
    assert_eq!(
        listed(&api, &format!("worker={worker}")).await,
        [made[0].clone()],
        "a lease alone is no work"
    );
    held.does("go_on", json!({})).await;
    let both = [taken_over.run.clone(), made[0].clone()];
    assert_eq!(listed(&api, &format!("worker={worker}")).await, both);
    assert_eq!(
        listed(&api, &format!("worker={worker}&status=done")).await,
        [made[0].clone()]
    );
    assert_eq!(
        listed(&api, &format!("worker={worker}&key=go_on")).await,
        std::slice::from_ref(&taken_over.run)
    );
    assert_eq!(
        listed(&api, &format!("worker={worker}-2&key=go_on")).await,
        Vec::<String>::new()
    );
    assert_eq!(
        listed(&api, &format!("q={worker}")).await,
        Vec::<String>::new(),
        "it is no word of a text"
    );
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

/// A gate that is open while the worker still holds the run.
async fn waiting_finds_gates_under_a_live_lease(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (name, title) = (unique("agent"), word("title"));
    let count = async || {
        let counts = api.post("/api/runs/counts", json!({})).await.is(200);
        let by_status = counts["value"]["by_status"].as_array().unwrap().clone();
        let of = by_status.iter().find(|it| it[0] == "waiting").unwrap();
        of[1].as_i64().unwrap()
    };
    let gate = json!({"name": "ask", "kind": "gate", "gate": {"title": "Go on?"}});
    let body = json!({"agent": name, "title": title});
    let let_go = api.agent(body.clone()).await;
    let_go.begin("g", gate.clone()).await.is(200);
    let_go.release(json!({})).await.is(200);
    let works = api.agent(body.clone()).await;
    works.executes("a", json!({})).await;
    let held = api.agent(body).await;
    held.begin("g", gate).await.is(200);
    let both = [held.run.clone(), let_go.run.clone()];
    let queries = [
        "status=waiting".to_owned(),
        "status=waiting&limit=1".to_owned(),
        format!("status=waiting&agent={name}"),
        format!("status=waiting&q={title}"),
    ];
    for query in &queries {
        assert_eq!(listed(&api, query).await, both, "{query}");
    }
    assert_eq!(count().await, 2);
    let running = listed(&api, "status=running").await;
    assert_eq!(running, [held.run.clone(), works.run.clone()]);
    let version = api.run(&held.run).await["version"].clone();
    let approve = json!({"kind": "approve", "step": 1, "if_version": version, "reason": "yes"});
    api.decide(&held.run, approve).await.is(200);
    assert_eq!(listed(&api, "status=waiting").await, both[1..]);
    assert_eq!(count().await, 1);
}

/// What a list asks for a line that is shown already.
async fn a_cause_grows_and_shrinks_with_its_runs(on: Engine) {
    let api = on.shared().await;
    let name = unique("agent");
    let alike = json!({
        "agent": name, "code_version": "2.0.4", "status": "crashed", "step": "embed", "error": null,
        "effects_unknown": false,
    });
    let runs = async || {
        let asked = json!({"alikes": [alike]});
        let read = api.post("/api/runs/causes", asked).await.is(200);
        assert_eq!(read["value"][0]["alike"], alike);
        read["value"][0]["runs"].as_i64().unwrap()
    };
    assert_eq!(runs().await, 0);
    let mut held = Vec::new();
    for n in 1..=3 {
        held.push(crashed(&api, &name, "embed", Value::Null).await);
        assert_eq!(runs().await, n);
    }
    for (left, run) in (0..3).rev().zip(&held) {
        let version = api.run(&run.run).await["version"].clone();
        let seen = json!({"kind": "acknowledge", "if_version": version});
        api.decide(&run.run, seen).await.is(200);
        assert_eq!(runs().await, left);
    }
}

both_engines! {
    a_cause_grows_and_shrinks_with_its_runs,
    waiting_finds_gates_under_a_live_lease,
    a_run_is_found_by_its_title_id_step_names_keys_and_errors,
    a_key_finds_its_step_and_its_providers_key,
    search_goes_on_where_the_page_before_ended,
    a_cause_lists_exactly_the_runs_that_stopped_alike,
    an_error_is_part_of_the_cause,
    mine_are_the_runs_i_decided_about_and_those_labelled_mine,
    costly_runs_are_those_over_the_amount,
    a_worker_is_found_by_its_whole_name_in_every_run_it_worked_on,
    the_strip_shows_each_step_at_its_place,
    the_strip_of_a_long_run_stays_short,
}
