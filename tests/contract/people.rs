//! Who may come in: people and tokens as the console's settings change them.

use serde_json::{Value, json};

use crate::support::{Answer, Api, Engine, Server, both_engines, eventually};

async fn change(api: &Api, change: Value) -> Answer {
    api.post("/api/access/change", json!({"change": change}))
        .await
}

async fn sheet(api: &Api) -> Value {
    api.post("/api/access/sheet", json!({})).await.is(200)
}

fn user<'a>(sheet: &'a Value, name: &str) -> &'a Value {
    let users = sheet["managed"]["users"].as_array().expect("users");
    users
        .iter()
        .find(|it| it["name"] == name)
        .unwrap_or_else(|| panic!("no {name}: {sheet}"))
}

/// The one admin that a first start makes is called `admin`.
async fn the_last_admin_stays(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    eventually("the first admin", async || {
        let sheet = sheet(&api).await;
        (sheet["admins"] == json!(["admin"])).then_some(())
    })
    .await;
    let refused = change(&api, json!({"change": "disable_user", "name": "admin"})).await;
    assert_eq!(refused.code(), "invalid", "{refused:?}");
    assert!(refused.text.contains("last admin"), "{refused:?}");
    let demoted = json!({"change": "add_user", "name": "admin", "role": "viewer"});
    let refused = change(&api, demoted).await;
    assert!(refused.text.contains("last admin"), "{refused:?}");
    assert_eq!(user(&sheet(&api).await, "admin")["role"], "admin");

    let second = json!({"change": "add_user", "name": "ana", "role": "admin"});
    change(&api, second).await.is(200);
    change(&api, json!({"change": "disable_user", "name": "admin"}))
        .await
        .is(200);
    let refused = change(&api, json!({"change": "disable_user", "name": "ana"})).await;
    assert!(refused.text.contains("last admin"), "{refused:?}");
    let told = server.store.command(&["user", "disable", "ana"]).await;
    assert!(
        !told.status.success(),
        "nor from the command line: {told:?}"
    );
}

async fn nobody_shuts_themselves_out(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    // A token acts under its own name; here it is also a person's.
    for (name, role) in [("tests", "admin"), ("ana", "admin")] {
        let body = json!({"change": "add_user", "name": name, "role": role});
        change(&api, body).await.is(200);
    }
    let refused = change(&api, json!({"change": "disable_user", "name": "tests"})).await;
    assert_eq!(refused.code(), "invalid", "{refused:?}");
    assert!(refused.text.contains("This is you"), "{refused:?}");
    assert_eq!(
        user(&sheet(&api).await, "tests")["disabled_at"],
        Value::Null
    );
}

async fn only_admins_change_who_may_come_in(on: Engine) {
    let server = Server::start(on).await;
    for role in ["viewer", "operator", "agent"] {
        let api = server.api_as(role, role).await;
        for body in [
            json!({"change": "add_user", "name": "eve", "role": "admin"}),
            json!({"change": "new_link", "name": "admin"}),
            json!({"change": "disable_user", "name": "admin"}),
            json!({"change": "create_token", "name": "eve", "role": "admin"}),
            json!({"change": "revoke_token", "id": "x"}),
        ] {
            let refused = change(&api, body).await;
            assert_eq!(refused.code(), "forbidden", "{role}: {refused:?}");
        }
        let sheet = sheet(&api).await;
        assert_eq!(sheet["managed"], Value::Null, "{role} sees no list");
    }
    let users = sheet(&server.api()).await;
    assert!(!users.to_string().contains("eve"), "{users}");
}

async fn a_token_made_in_the_settings_works_until_it_is_revoked(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let made = json!({"change": "create_token", "name": "ci-agent", "role": "agent"});
    let made = change(&api, made).await.is(200);
    let secret = made["Secret"]["secret"].as_str().expect("a secret");
    let agent = api.with_token(secret);
    agent.get("/v1/runs").await.is(200);
    let listed = sheet(&api).await;
    assert!(!listed.to_string().contains(secret), "shown once");
    let tokens = listed["managed"]["tokens"].as_array().expect("tokens");
    let token = tokens.iter().find(|it| it["name"] == "ci-agent");
    let id = &token.expect("it is listed")["id"];
    let revoke = json!({"change": "revoke_token", "id": id});
    change(&api, revoke.clone()).await.is(200);
    eventually("it is refused", async || {
        (agent.get("/v1/runs").await.status == 401).then_some(())
    })
    .await;
    assert_eq!(change(&api, revoke).await.code(), "not_found");
}

async fn a_person_who_is_shut_out_gets_no_link(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let added = json!({"change": "add_user", "name": "ben", "role": "viewer"});
    let added = change(&api, added).await.is(200);
    let url = added["Link"]["url"].as_str().expect("a link");
    assert!(url.contains("/signin?token="), "{url}");
    let link = json!({"change": "new_link", "name": "ben"});
    change(&api, link.clone()).await.is(200);
    change(&api, json!({"change": "disable_user", "name": "ben"}))
        .await
        .is(200);
    assert_eq!(change(&api, link).await.code(), "not_found");
    let nobody = json!({"change": "new_link", "name": "nobody"});
    assert_eq!(change(&api, nobody).await.code(), "not_found");
}

async fn the_head_of_the_events_is_told_and_no_more(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    api.agent(json!({})).await.does("one", json!({})).await;
    let told = api.post("/api/access/integrity", json!({})).await.is(200);
    let events = api.events(0, None).await;
    assert_eq!(told["event"], events.last().expect("an event")["id"]);
    assert_eq!(told["head"].as_str().map(str::len), Some(64), "{told}");
    assert!(told["schema"].as_i64() >= Some(5), "{told}");
}

both_engines!(
    the_last_admin_stays,
    nobody_shuts_themselves_out,
    only_admins_change_who_may_come_in,
    a_token_made_in_the_settings_works_until_it_is_revoked,
    a_person_who_is_shut_out_gets_no_link,
    the_head_of_the_events_is_told_and_no_more,
);
