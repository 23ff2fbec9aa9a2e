//! `step47 verify`: names the place, gives the last good one, and a head that can be compared later.

use serde_json::{Value, json};

use super::{
    corruption::{history, marker},
    flips::behind,
};
use crate::support::{Engine, Server, both_engines, flip, flipped};

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

async fn a_sound_store_is_verified_to_its_head(on: Engine) {
    let server = Server::start(on).await;
    let agent = history(&server, 2, &marker()).await;
    // Also while the server writes.
    let verified = server.store.command(&["verify"]).await;
    assert!(verified.status.success(), "{verified:?}");
    let text = said(&verified);
    assert!(text.contains("Verified to event "), "{text}");
    let head = text.lines().find_map(|line| line.strip_prefix("head "));
    let head = head.expect("a head to note down").to_owned();
    agent.does("more", json!({"result": 1})).await;
    // A tail that was cut off with all that tells of it leaves no trace here: that is said.
    assert!(text.contains("not known: whether newer events"), "{text}");
    let (_, hash) = head.split_once(':').expect("EVENT:HASH");
    for noted in [head.as_str(), hash] {
        let later = server.store.command(&["verify", "--head", noted]).await;
        assert!(later.status.success(), "{later:?}");
        assert!(said(&later).contains("nothing was cut off before it"));
        assert!(!said(&later).contains("newer events"), "{later:?}");
    }
    let nobody = "0".repeat(64);
    let other = server.store.command(&["verify", "--head", &nobody]).await;
    assert!(!other.status.success(), "{other:?}");
    let other = format!(
        "{}{}",
        &head[..head.len() - 1],
        if head.ends_with('0') { '1' } else { '0' }
    );
    let other = server.store.command(&["verify", "--head", &other]).await;
    assert!(
        !other.status.success(),
        "another head is not this chain's: {other:?}"
    );
    let one = server.store.command(&["verify", &agent.run]).await;
    assert!(one.status.success(), "{one:?}");
}

async fn a_damaged_state_is_named_with_the_last_good_one(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = history(&server, 2, &marker).await;
    server.kill();
    assert!(flip(&server.store.url, &marker).await > 0);
    for arguments in [
        vec!["verify", "--json"],
        vec!["verify", "--json", &agent.run],
    ] {
        let verified = server.store.command(&arguments).await;
        assert_eq!(verified.status.code(), Some(1), "{verified:?}");
        let text = said(&verified);
        assert!(!text.contains(&flipped(&marker)), "{text}");
        let found: Value = serde_json::from_str(&text).expect("JSON");
        let damages = found["damages"].as_array().expect("damages").clone();
        let damage = damages.iter().find(|it| it["place"] == "snapshot 2");
        let damage = damage.unwrap_or_else(|| panic!("{damages:?}"));
        assert_eq!(damage["run"], json!(agent.run), "{damage}");
        assert_eq!(damage["last_good"], 1, "{damage}");
    }
}

async fn an_event_that_was_slipped_in_at_the_end_is_found(on: Engine) {
    let mut server = Server::start(on).await;
    history(&server, 2, &marker()).await;
    server.kill();
    let copy = "INSERT INTO events SELECT id + 1, run, seq, kind, at, data, hash FROM events \
         ORDER BY id DESC LIMIT 1";
    assert_eq!(behind(&server.store.url, copy.to_owned()).await, Some(1));
    let verified = server.store.command(&["verify", "--json"]).await;
    assert_eq!(verified.status.code(), Some(1), "{verified:?}");
    let found: Value = serde_json::from_str(&said(&verified)).expect("JSON");
    let damages = found["damages"].as_array().expect("damages");
    let event = found["event"].as_i64().expect("the last event that counts");
    let place = json!(format!("event {}", event + 1));
    assert!(damages.iter().any(|it| it["place"] == place), "{found}");
}

/// As versions before seals and before stored changes left a store.
async fn make_older(on: Engine, url: &str) {
    let bytes = |json: &str| match on {
        Engine::Sqlite => format!("CAST('{json}' AS BLOB)"),
        Engine::Postgres => format!("convert_to('{json}', 'UTF8')"),
    };
    for n in 1..=3 {
        let body = bytes(&format!(r#"[{{"op":"replace","path":"/n","value":{n}}}]"#));
        let sql = format!(
            "UPDATE snapshots SET encoding = 'delta+json', keyframe = 0, body = {body} WHERE n = {n}"
        );
        assert_eq!(behind(url, sql).await, Some(1));
    }
    let sealed = [
        "runs",
        "announced",
        "leases",
        "steps",
        "attempts",
        "log_lines",
        "snapshots",
        "tokens",
        "terms",
    ];
    for table in sealed {
        behind(url, format!("UPDATE {table} SET seal = NULL"))
            .await
            .expect("unsealed");
    }
    for sql in [
        "UPDATE runs SET input = substr(input, 65)",
        "UPDATE counter SET sealed = 0",
    ] {
        behind(url, sql.to_owned()).await.expect("as it was");
    }
}

async fn what_earlier_versions_stored_is_sealed_and_read(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = server
        .api()
        .agent(json!({"state": {"n": 0}, "input": {"a": 1}}))
        .await;
    for i in 1..=3 {
        agent
            .does(&format!("k{i}"), json!({"result": i, "state": {"n": i}}))
            .await;
    }
    agent.release(json!({})).await.is(200);
    server.kill();
    make_older(on, &server.store.url).await;
    server.restart().await;
    let api = server.api();
    for n in 0..=3 {
        assert_eq!(api.snapshot(&agent.run, n).await["state"], json!({"n": n}));
    }
    assert_eq!(api.run(&agent.run).await["input"], json!({"a": 1}));
    let again = agent.through(&api).again().await;
    again
        .does(
            "k4",
            json!({"result": 4, "patch": [{"op": "add", "path": "/m", "value": 4}]}),
        )
        .await;
    assert_eq!(
        api.snapshot(&agent.run, 4).await["state"],
        json!({"n": 3, "m": 4})
    );
    let verified = server.store.command(&["verify"]).await;
    assert!(verified.status.success(), "{verified:?}");
}

both_engines!(
    what_earlier_versions_stored_is_sealed_and_read,
    a_sound_store_is_verified_to_its_head,
    a_damaged_state_is_named_with_the_last_good_one,
    an_event_that_was_slipped_in_at_the_end_is_found,
);
