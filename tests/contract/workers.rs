//! What the console knows of workers: who holds runs, who waits for work, and whose write was refused.

use serde_json::{Value, json};

use crate::decisions::charge;
use crate::support::{Api, Engine, Server, both_engines, eventually, on_postgres, unique};
use step47::domain::Time;

async fn workers(api: &Api, cursor: Value) -> Value {
    api.post("/api/workers/page", json!({"cursor": cursor}))
        .await
        .is(200)
}

/// The worker of this name, once `fits`.
async fn worker(api: &Api, name: &str, fits: fn(&Value) -> bool) -> Value {
    eventually(name, async || {
        let page = workers(api, Value::Null).await;
        let all = page["workers"].as_array().expect("workers");
        all.iter()
            .find(|it| it["name"] == name && fits(it))
            .cloned()
    })
    .await
}

async fn asking(api: &Api, agent: &str) -> Value {
    api.post("/api/workers/asking", json!({"agent": agent}))
        .await
        .is(200)
}

async fn a_worker_is_shown_with_the_run_it_holds(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let run = api
        .create(json!({"agent": "researcher", "title": "Weekly brief"}))
        .await;
    let name = unique("w");
    let more = json!({"worker": name, "version": "3.2.1", "model": "m9"});
    let agent = api.lease(&run, more).await;
    agent.executes("one", json!({})).await;
    let seen = worker(&api, &name, |it| it["holds"][0]["at"].is_object()).await;
    assert_eq!(seen["version"], "3.2.1");
    assert_eq!(seen["model"], "m9");
    assert_eq!(seen["agents"], json!(["researcher"]));
    let hold = &seen["holds"][0];
    assert_eq!(hold["run"], json!(run));
    assert_eq!(hold["title"], "Weekly brief");
    assert_eq!(hold["epoch"], agent.epoch);
    assert_eq!(hold["at"]["seq"], 1);
    assert_eq!(seen["asks"], Value::Null);
    agent.release(json!({})).await.is(200);
    let seen = worker(&api, &name, |it| it["holds"] == json!([])).await;
    assert_eq!(seen["agents"], json!(["researcher"]), "what it worked for");
}

async fn a_worker_that_gets_nothing_is_known_to_wait(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (name, agent) = (unique("w"), unique("agent"));
    assert_eq!(
        asking(&api, &agent).await,
        json!({"workers": 0, "last": null})
    );
    let body = json!({"worker": name, "agents": [agent], "version": "2"});
    api.post("/v1/claims", body.clone()).await.is(204);
    let seen = worker(&api, &name, |it| it["asks"].is_object()).await;
    assert_eq!(seen["asks"]["agents"], json!([agent]));
    assert_eq!(seen["version"], "2");
    let since = seen["asks"]["since"].clone();
    let known = asking(&api, &agent).await;
    assert_eq!(known["workers"], 1);
    assert_eq!(known["last"], seen["asks"]["at"]);
    assert_eq!(asking(&api, "another").await["workers"], 0);

    api.post("/v1/claims", body.clone()).await.is(204);
    let again = eventually("asked again", async || {
        let seen = worker(&api, &name, |it| it["asks"].is_object()).await;
        (seen["asks"]["at"] != known["last"]).then_some(seen)
    })
    .await;
    assert_eq!(again["asks"]["since"], since, "it has waited all along");

    let run = api.create(json!({"agent": agent})).await;
    let lease = api.post("/v1/claims", body).await.is(200);
    assert_eq!(lease["run"]["id"], json!(run));
    let seen = worker(&api, &name, |it| it["asks"].is_null()).await;
    assert_eq!(seen["holds"][0]["run"], json!(run));
}

/// It may ask for more while it holds a run.
async fn a_worker_is_idle_only_since_it_let_go_of_its_last_run(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (name, other) = (unique("w"), unique("agent"));
    let ask = json!({"worker": name, "agents": [other]});
    api.post("/v1/claims", ask.clone()).await.is(204);
    worker(&api, &name, |it| it["asks"].is_object()).await;
    let run = api.create(json!({"agent": "researcher"})).await;
    let held = api.lease(&run, json!({"worker": name})).await;
    api.post("/v1/claims", ask).await.is(204);
    held.does("a", json!({})).await;
    held.finish(json!({"outcome": "done"})).await.is(200);
    let seen = worker(&api, &name, |it| it["asks"].is_object()).await;
    let time = |value: &Value| serde_json::from_value::<Time>(value.clone()).expect("a time");
    let finished = time(&api.run(&run).await["finished_at"]);
    assert_eq!(time(&seen["asks"]["since"]), finished);
}

async fn a_worker_that_asks_for_any_run_asks_for_each_agent(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let name = unique("w");
    api.post("/v1/claims", json!({"worker": name}))
        .await
        .is(204);
    let seen = worker(&api, &name, |it| it["asks"].is_object()).await;
    assert_eq!(seen["asks"]["agents"], json!([]), "any");
    assert_eq!(asking(&api, "whatever").await["workers"], 1);
}

async fn a_refused_write_is_remembered_with_its_reason(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (old, new) = (unique("old"), unique("new"));
    let run = api.create(json!({})).await;
    let zombie = api.lease(&run, json!({"worker": old})).await;
    let seq = zombie.executes("one", json!({})).await;
    zombie.release(json!({})).await.is(200);
    api.lease(&run, json!({"worker": new})).await;
    zombie
        .commit(seq, 1, json!({"state": 1}))
        .await
        .refused(409, "lease_lost");
    let seen = worker(&api, &old, |it| it["refused"].is_object()).await;
    assert_eq!(seen["refused"]["what"], "commit of step 1");
    assert_eq!(seen["refused"]["run"], json!(run));
    assert_eq!(seen["refused"]["code"], "lease_lost");
    let other = worker(&api, &new, |it| it["holds"][0].is_object()).await;
    assert_eq!(other["refused"], Value::Null, "it is not the other's");
}

/// Its process died in the middle of an effect: nothing says that it is idle.
async fn a_worker_that_lost_its_lease_is_said_to_be_silent(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (lost, done) = (unique("lost"), unique("done"));
    let run = api.create(json!({})).await;
    let agent = api
        .lease(&run, json!({"worker": lost, "ttl_ms": 1000}))
        .await;
    agent.executes("charge", charge()).await;
    let other = api.create(json!({})).await;
    let let_go = api.lease(&other, json!({"worker": done})).await;
    let_go.release(json!({})).await.is(200);
    let seen = worker(&api, &lost, |it| it["lease_ended"].is_array()).await;
    assert_eq!(seen["lease_ended"][1], "expiry", "{seen}");
    let seen = worker(&api, &done, |it| it["lease_ended"].is_array()).await;
    assert_eq!(seen["lease_ended"][1], "release", "{seen}");
    let page = api.request(reqwest::Method::GET, "/workers");
    let page = page.header("accept", "text/html").send().await;
    let page = page.expect("an answer").text().await.expect("a page");
    assert!(page.contains("has not been heard from since"), "{page}");
}

async fn workers_come_page_by_page(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    for n in 0..53 {
        let body = json!({"worker": format!("w-{n:02}"), "agents": ["nothing"]});
        api.post("/v1/claims", body).await.is(204);
    }
    let all = eventually("all workers", async || {
        let mut names = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let page = workers(&api, cursor).await;
            let page_of = page["workers"].as_array().expect("workers");
            assert!(page_of.len() <= 50, "{}", page_of.len());
            names.extend(page_of.iter().map(|it| it["name"].to_string()));
            cursor = page["next"].clone();
            if cursor.is_null() {
                break;
            }
        }
        (names.len() == 53).then_some(names)
    })
    .await;
    let unlike: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(unlike.len(), 53);
    let bad = api
        .post("/api/workers/page", json!({"cursor": "nonsense"}))
        .await;
    assert_eq!(bad.body()["code"], "invalid", "{bad:?}");
}

async fn servers_share_what_they_know_of_workers(on: Engine) {
    let server = Server::start(on).await;
    let other = server.another().await;
    let name = unique("w");
    let body = json!({"worker": name, "agents": ["shared"]});
    server.api().post("/v1/claims", body).await.is(204);
    let seen = worker(&other.api(), &name, |it| it["asks"].is_object()).await;
    assert_eq!(seen["asks"]["agents"], json!(["shared"]));
}

both_engines!(
    a_worker_that_lost_its_lease_is_said_to_be_silent,
    a_worker_is_shown_with_the_run_it_holds,
    a_worker_that_gets_nothing_is_known_to_wait,
    a_worker_is_idle_only_since_it_let_go_of_its_last_run,
    a_worker_that_asks_for_any_run_asks_for_each_agent,
    a_refused_write_is_remembered_with_its_reason,
    workers_come_page_by_page,
);
on_postgres!(servers_share_what_they_know_of_workers);
