//! What the audit trail keeps beside decisions: refusals, failed sign-ins, exports, the first admin; each with who it
//! was and from where, none of it without a bound.

use serde_json::{Value, json};
use std::time::Duration;

use crate::support::{Browser, Cli, Engine, Server, both_engines};

/// All entries, oldest first, and how long the whole is.
async fn trail(server: &Server) -> (Vec<Value>, usize) {
    let all = server.api().get("/audit.jsonl").await;
    assert_eq!(all.status, 200, "{all:?}");
    let entries = all.text.lines().map(serde_json::from_str);
    (
        entries.collect::<Result<_, _>>().expect("JSON lines"),
        all.text.len(),
    )
}

async fn entries(server: &Server, action: &str, actor: &str) -> Vec<Value> {
    let (mut all, _) = trail(server).await;
    all.retain(|it| it["action"] == action && it["actor"] == actor);
    all
}

/// The ids of the tokens of this name, oldest first, as the command line lists them.
async fn listed(server: &Server, name: &str) -> Vec<Value> {
    let said = server.store.command(&["token", "list", "--json"]).await;
    let tokens: Vec<Value> = serde_json::from_slice(&said.stdout).expect("JSON");
    let named = tokens.iter().rev().filter(|it| it["name"] == name);
    named.map(|it| it["id"].clone()).collect()
}

async fn nobody_fills_the_disk_by_being_refused(on: Engine) {
    let mut server = Server::start(on).await;
    let viewer = server.api_as("viewer", "vera").await;
    let (_, before) = trail(&server).await;
    let path = format!("/v1/runs/{}/decisions", "x".repeat(60_000));
    for _ in 0..300 {
        let refused = viewer.post(&path, json!({"kind": "pause"})).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
    }
    let kept = entries(&server, "forbidden", "vera").await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    let (_, after) = trail(&server).await;
    assert!(after - before < 4_096, "{} bytes", after - before);
    server.terminates_within(Duration::from_secs(30)).await;
    server.restart().await;
    let kept = entries(&server, "forbidden", "vera").await;
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(kept[1]["detail"]["repeated"], 299, "{kept:?}");
    let sound = server.store.command(&["verify"]).await;
    assert!(sound.status.success(), "{sound:?}");
}

async fn every_refused_form_and_function_is_kept(on: Engine) {
    let server = Server::start(on).await;
    let browser = Browser::signed_in(&server, "vera", "viewer").await;
    let forms = ["/settings", "/runs/a/edit", "/runs/a/resume"];
    for path in forms {
        let refused = browser.posts(path, "change=add_user").await;
        assert_eq!(refused.status(), 403, "{path}");
    }
    let viewer = server.api_as("viewer", "vera").await;
    let order = json!({"change": {"change": "new_link", "name": "admin"}});
    let function = "/api/access/change";
    viewer.post(function, order).await.refused(403, "forbidden");
    viewer
        .post("/v1/runs", json!({"agent": "a"}))
        .await
        .refused(403, "forbidden");
    // The answer to a function does not wait for its entry.
    let all = crate::support::eventually("all are kept", async || {
        let all = entries(&server, "forbidden", "vera").await;
        (all.len() == 5).then_some(all)
    })
    .await;
    let ids = listed(&server, "vera").await;
    for path in forms.into_iter().chain([function, "/v1/runs"]) {
        let kept = all.iter().find(|it| it["detail"]["path"] == path);
        let kept = kept.unwrap_or_else(|| panic!("{path}: {all:?}"));
        let who = match forms.contains(&path) {
            true => json!({"kind": "person", "name": "vera", "role": "viewer"}),
            false => json!({"kind": "token", "token": ids[0], "name": "vera", "role": "viewer"}),
        };
        assert_eq!(kept["detail"]["who"], who, "{kept}");
        assert_eq!(kept["detail"]["peer"], "127.0.0.1", "{kept}");
    }
}

async fn failed_sign_ins_are_kept_and_counted(on: Engine) {
    let server = Server::start(on).await;
    let mut stranger = Browser::of(&server);
    for i in 0..50 {
        let refused = stranger.opens(&format!("link_{i}"), None).await;
        let to = refused.headers().get("location");
        assert_eq!(to.map(|it| it.as_bytes()), Some(&b"/signin?error=used"[..]));
    }
    let kept = entries(&server, "sign_in", "unknown").await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0]["kind"], "refused");
    assert_eq!(kept[0]["detail"]["peer"], "127.0.0.1", "{kept:?}");
    let ana = Browser::signed_in(&server, "ana", "viewer").await;
    assert_eq!(ana.gets("/").await.status(), 200);
    let kept = entries(&server, "sign_in", "ana").await;
    assert_eq!(kept[0]["detail"]["who"]["kind"], "person", "{kept:?}");
    assert_eq!(kept[0]["detail"]["peer"], "127.0.0.1", "{kept:?}");
}

async fn the_first_admin_and_each_export_are_kept(on: Engine) {
    let server = Server::start(on).await;
    let first = crate::support::eventually("the first admin", async || {
        entries(&server, "add_user", "server")
            .await
            .into_iter()
            .next()
    })
    .await;
    assert_eq!(first["detail"]["name"], "admin", "{first}");
    assert_eq!(first["detail"]["first"], true, "{first}");
    let reader = server.api_as("viewer", "reader").await;
    for _ in 0..5 {
        assert_eq!(reader.get("/audit.jsonl?kind=session").await.status, 200);
    }
    let kept = entries(&server, "export_audit", "reader").await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0]["detail"]["who"]["kind"], "token", "{kept:?}");
    assert_eq!(kept[0]["detail"]["query"]["kind"], "session", "{kept:?}");
}

async fn a_decision_names_person_or_token(on: Engine) {
    let server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let token = server.api_as("operator", "ana").await;
    let note = json!({"kind": "note", "text": "looked", "reason": "because"});
    token.decide(&run, note.clone()).await.is(200);
    let person = Browser::signed_in(&server, "ana", "operator").await;
    let order = json!({"run": run, "body": note});
    let decided = person
        .request(reqwest::Method::POST, "/api/decisions/decide")
        .json(&order);
    assert_eq!(decided.send().await.expect("an answer").status(), 200);
    let kept = entries(&server, "note", "ana").await;
    let kinds: Vec<_> = kept.iter().map(|it| &it["detail"]["who"]["kind"]).collect();
    assert_eq!(kinds, ["token", "person"], "{kept:?}");
}

async fn two_tokens_of_one_name_are_told_apart(on: Engine) {
    let server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let twins = [
        server.api_as("operator", "twin").await,
        server.api_as("operator", "twin").await,
    ];
    for twin in &twins {
        let note = json!({"kind": "note", "text": "looked", "reason": "because"});
        twin.decide(&run, note).await.is(200);
        twin.post("/v1/runs", json!({"agent": "a"}))
            .await
            .refused(403, "forbidden");
    }
    let ids = listed(&server, "twin").await;
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert_ne!(ids[0], ids[1]);
    for action in ["note", "forbidden"] {
        let kept = entries(&server, action, "twin").await;
        let named = kept.iter().map(|it| it["detail"]["who"]["token"].clone());
        assert_eq!(named.collect::<Vec<_>>(), ids, "{action}: {kept:?}");
    }
    let made = entries(&server, "create_token", "command line").await;
    let page = server.api().request(reqwest::Method::GET, "/audit");
    let page = page.header("accept", "text/html").send().await;
    let page = page.expect("an answer").text().await.expect("a page");
    let cli = Cli::of(&server.api());
    let said = cli.says(&["audit", "--actor", "twin"]).await;
    let told = said.done();
    for (id, twin) in ids.iter().zip(&twins) {
        assert!(made.iter().any(|it| it["detail"]["id"] == *id), "{made:?}");
        let id = id.as_str().expect("an id");
        assert!(page.contains(id), "{id}: {page}");
        assert!(told.contains(id), "{id}: {told}");
        let (_, secret) = twin.parts();
        assert!(!page.contains(secret), "a secret in the page");
        assert!(!told.contains(secret), "a secret on the command line");
    }
    let sound = server.store.command(&["verify"]).await;
    assert!(sound.status.success(), "{sound:?}");
}

async fn a_change_of_access_names_whom_it_is_about(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let change = async |change: Value| {
        let order = json!({"change": change});
        api.post("/api/access/change", order).await.is(200)
    };
    change(json!({"change": "add_user", "name": "ana", "role": "operator"})).await;
    change(json!({"change": "create_token", "name": "ci", "role": "agent"})).await;
    let id = listed(&server, "ci").await[0].clone();
    let id = id.as_str().expect("an id");
    change(json!({"change": "revoke_token", "id": id})).await;
    let other = server.api_as("viewer", "old").await;
    drop(other);
    let gone = listed(&server, "old").await[0].clone();
    let gone = gone.as_str().expect("an id");
    let revoked = server.store.command(&["token", "revoke", "old"]).await;
    assert!(revoked.status.success(), "{revoked:?}");
    let page = api.request(reqwest::Method::GET, "/audit?kind=access");
    let page = page.header("accept", "text/html").send().await;
    let page = page.expect("an answer").text().await.expect("a page");
    let told = Cli::of(&api).says(&["audit", "--kind", "access"]).await;
    for words in [
        "person ana, operator".to_owned(),
        format!("token ci, agent, id {id}"),
        format!("token old, viewer, id {gone}"),
    ] {
        assert!(told.done().contains(&words), "{words}: {told:?}");
        assert!(page.contains(&words), "{words}: {page}");
    }
    let named = format!("token ci, agent, id {id}");
    assert_eq!(told.out.matches(&named).count(), 2, "made and revoked");
}

both_engines!(
    a_change_of_access_names_whom_it_is_about,
    nobody_fills_the_disk_by_being_refused,
    every_refused_form_and_function_is_kept,
    failed_sign_ins_are_kept_and_counted,
    the_first_admin_and_each_export_are_kept,
    a_decision_names_person_or_token,
    two_tokens_of_one_name_are_told_apart,
);
