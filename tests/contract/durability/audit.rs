//! The audit trail holds: a line that is changed, moved, taken out or slipped in is found and named, by the command
//! and by the console.

use serde_json::{Value, json};

use super::flips::behind;
use crate::support::{Api, Engine, Server, both_engines, eventually};

/// Four decisions on one run; answers the number of the first.
async fn trail(api: &Api) -> (String, i64) {
    let run = api.create(json!({})).await;
    for i in 0..4 {
        let note = json!({"kind": "note", "text": "looked", "reason": format!("reason {i}")});
        api.decide(&run, note).await.is(200);
    }
    let ask = json!({"query": {"run": run}});
    let page = api.post("/api/audit/page", ask).await.is(200);
    let ids: Vec<_> = entries(&page).iter().map(|it| it["id"].as_i64()).collect();
    let first = ids.last().copied().flatten().expect("an entry");
    assert_eq!(ids.len(), 4, "{page}");
    assert_eq!(ids[0], Some(first + 3), "nobody else writes: {page}");
    (run, first)
}

fn entries(page: &Value) -> &Vec<Value> {
    page["entries"].as_array().expect("entries")
}

/// What the command and both of the console's routes say.
async fn is_named(server: &Server, entry: i64, what: &str) {
    let place = format!("audit entry {entry}");
    let is_it = |verified: &Value| {
        let damages = verified["damages"].as_array().expect("damages");
        let found = damages.iter().find(|it| it["place"] == place);
        let found = found.unwrap_or_else(|| panic!("{what}: no {place} in {verified}"));
        assert_eq!(found["last_good"], entry - 1, "{what}: {found}");
    };
    let verified = server.store.command(&["verify", "--json"]).await;
    assert_eq!(verified.status.code(), Some(1), "{what}: {verified:?}");
    is_it(&serde_json::from_slice(&verified.stdout).expect("JSON"));
    let said = server.store.command(&["verify"]).await;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains(&place), "{what}: {said}");
    let api = server.api();
    let trail = api.post("/api/audit/verify", json!({})).await.is(200);
    assert_eq!(trail["damaged"], entry, "{what}: {trail}");
    assert_eq!(trail["entry"], entry - 1, "{what}: {trail}");
    is_it(&everything(&api).await);
}

/// What the console's verification of everything finds.
async fn everything(api: &Api) -> Value {
    let begun = api.post("/api/integrity/everything", json!({})).await;
    begun.is(200);
    eventually("everything is verified", async || {
        let state = api
            .post("/api/integrity/verifying", json!({}))
            .await
            .is(200);
        (state["is"] == "over").then(|| state["found"].clone())
    })
    .await
}

/// Runs these statements behind the server's back, where `{n}` is the second of the four lines.
async fn tampers(on: Engine, statements: &[&str]) -> (Server, String, i64) {
    let server = Server::start(on).await;
    let (run, first) = trail(&server.api()).await;
    let sound = server.store.command(&["verify"]).await;
    assert!(sound.status.success(), "{sound:?}");
    for sql in statements {
        let sql = sql.replace("{n}", &(first + 1).to_string());
        assert_eq!(
            behind(&server.store.url, sql.clone()).await,
            Some(1),
            "{sql}"
        );
    }
    (server, run, first + 1)
}

async fn a_changed_line_is_found_and_never_shown(on: Engine) {
    for change in ["reason = 'forged'", "actor = 'forged'", "run = 'forged'"] {
        let sql = format!("UPDATE audit SET {change} WHERE id = {{n}}");
        let (server, _, n) = tampers(on, &[&sql]).await;
        is_named(&server, n, change).await;
        let page = server
            .api()
            .post("/api/audit/page", json!({"query": {}}))
            .await;
        assert_ne!(page.status, 200, "{page:?}");
        assert!(!page.text.contains("forged"), "{page:?}");
    }
}

async fn a_line_that_was_taken_out_is_missed(on: Engine) {
    let (server, run, n) = tampers(on, &["DELETE FROM audit WHERE id = {n}"]).await;
    is_named(&server, n, "from the middle").await;
    goes_on(&server, &run, n).await;
}

async fn the_last_line_is_missed_too(on: Engine) {
    let (server, run, n) = tampers(on, &["DELETE FROM audit WHERE id = {n} + 2"]).await;
    is_named(&server, n + 2, "the last").await;
    goes_on(&server, &run, n + 2).await;
}

async fn two_lines_do_not_change_places(on: Engine) {
    let swap = [
        "UPDATE audit SET id = -1 WHERE id = {n}",
        "UPDATE audit SET id = {n} WHERE id = {n} + 1",
        "UPDATE audit SET id = {n} + 1 WHERE id = -1",
    ];
    let (server, run, n) = tampers(on, &swap).await;
    is_named(&server, n, "swapped").await;
    goes_on(&server, &run, n).await;
}

async fn a_line_that_was_slipped_in_at_the_end_is_found(on: Engine) {
    let copy = "INSERT INTO audit SELECT id + 3, at, kind, actor, action, run, step, reason, detail, hash \
         FROM audit WHERE id = {n}";
    let (server, _, n) = tampers(on, &[copy]).await;
    is_named(&server, n + 3, "slipped in").await;
}

/// What is written afterwards does not cover it up.
async fn goes_on(server: &Server, run: &str, entry: i64) {
    let note = json!({"kind": "note", "text": "later", "reason": "later"});
    server.api().decide(run, note).await.is(200);
    is_named(server, entry, "after one more").await;
}

/// A tail that was cut off with all that tells of it is not in the store any more: only a head kept elsewhere shows it.
async fn a_cut_tail_is_found_by_a_head_that_was_noted_down(on: Engine) {
    let mut server = Server::start(on).await;
    trail(&server.api()).await;
    server.store.token("viewer", "last").await.expect("a token");
    server.kill();
    let verify = async |more: &[&str]| {
        let said = server.store.command(&[&["verify"], more].concat()).await;
        let words = String::from_utf8_lossy(&said.stdout).into_owned();
        let why = String::from_utf8_lossy(&said.stderr).into_owned();
        (said.status.code(), words + &why)
    };
    let (code, said) = verify(&[]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("whether newer audit entries were cut off"),
        "{said}"
    );
    let head = said.lines().find_map(|it| it.strip_prefix("audit head "));
    let head = head.expect("the head").to_owned();
    let alone = head.split_once(':').expect("entry and hash").1.to_owned();
    for noted in [&head, &alone] {
        let (code, said) = verify(&["--audit-head", noted]).await;
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("noted down at audit entry"), "{said}");
        assert!(!said.contains("newer audit entries"), "{said}");
    }
    let back = "UPDATE counter SET audit_head = \
         (SELECT a.hash FROM audit a WHERE a.id = counter.audit - 1), audit = audit - 1";
    let cut = "DELETE FROM audit WHERE id > (SELECT audit FROM counter)";
    for sql in [back, cut] {
        assert_eq!(behind(&server.store.url, sql.to_owned()).await, Some(1));
    }
    let (code, said) = verify(&[]).await;
    assert_eq!(code, Some(0), "the store cannot know: {said}");
    for noted in [&head, &alone] {
        let (code, said) = verify(&["--audit-head", noted]).await;
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("noted down"), "{said}");
    }
}

both_engines!(
    a_cut_tail_is_found_by_a_head_that_was_noted_down,
    a_changed_line_is_found_and_never_shown,
    a_line_that_was_taken_out_is_missed,
    the_last_line_is_missed_too,
    two_lines_do_not_change_places,
    a_line_that_was_slipped_in_at_the_end_is_found,
);
