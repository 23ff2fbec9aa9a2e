//! Every route and every server function answers as it declares: to nobody, to who is let in no more, and to each role.
//! The list is the router's own and the registry's of server functions: a new route is walked without being added here.

use reqwest::{Method, Response};
use serde_json::json;
use step47::{
    domain::{Action, Role, nouns::access::Door},
    server,
};

use crate::support::{Browser, Engine, Server, both_engines, unique};

/// What a caller shows, and the role it stands for, if any.
struct Caller {
    what: String,
    header: Option<(&'static str, String)>,
    role: Option<Role>,
}

fn bearer(what: impl Into<String>, token: &str, role: Option<Role>) -> Caller {
    Caller {
        what: what.into(),
        header: Some(("authorization", format!("Bearer {token}"))),
        role,
    }
}

fn session(what: impl Into<String>, browser: &Browser, role: Option<Role>) -> Caller {
    Caller {
        what: what.into(),
        header: Some(("cookie", browser.cookie.clone())),
        role,
    }
}

async fn done(server: &Server, arguments: &[&str]) {
    let done = server.store.command(arguments).await;
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// Nobody, those who are let in no more, and every role by token and by session.
async fn callers(server: &Server) -> Vec<Caller> {
    let mut all = vec![Caller {
        what: "nobody".into(),
        header: None,
        role: None,
    }];
    let token = async |role: &str, name: &str| server.store.token(role, name).await.expect("made");
    let revoked = token("admin", "revoked").await;
    done(server, &["token", "revoke", "revoked"]).await;
    all.push(bearer("a revoked token", &revoked, None));
    let disabled = Browser::signed_in(server, "dora", "admin").await;
    let hers = ["token", "create", "--role", "admin", "--name", "hers"];
    let hers = [&hers[..], &["--owner", "dora"]].concat();
    let hers = server.store.command(&hers).await;
    let hers = String::from_utf8_lossy(&hers.stdout).trim().to_owned();
    done(server, &["user", "disable", "dora"]).await;
    all.push(session("a disabled person", &disabled, None));
    all.push(bearer("a disabled person's token", &hers, None));
    let ended = Browser::signed_in(server, "ed", "admin").await;
    let out = ended.posts("/signout", "").await;
    assert_eq!(out.status(), 303);
    all.push(session("an ended session", &ended, None));
    let person = Browser::signed_in(server, "ana", "admin").await;
    let (name, secret) = person.cookie.split_once('=').expect("a cookie");
    all.push(bearer("a session's secret as a token", secret, None));
    let secret = token("admin", "as-session").await;
    all.push(Caller {
        what: "a token as a session".into(),
        header: Some(("cookie", format!("{name}={secret}"))),
        role: None,
    });
    for role in [Role::Agent, Role::Viewer, Role::Operator, Role::Admin] {
        let secret = token(role.as_str(), &unique(role.as_str())).await;
        all.push(bearer(format!("a token, {role}"), &secret, Some(role)));
        if role != Role::Agent {
            let name = format!("walker-{role}");
            let browser = Browser::signed_in(server, &name, role.as_str()).await;
            all.push(session(format!("a session, {role}"), &browser, Some(role)));
        }
    }
    all
}

/// What the answer says about the caller.
#[derive(Debug, PartialEq)]
enum Said {
    LetIn,
    SignIn,
    Unauthorized,
    Forbidden,
}

fn said(answer: &Response) -> Said {
    let to = answer.headers().get("location");
    let to = to.and_then(|it| it.to_str().ok()).unwrap_or_default();
    match answer.status().as_u16() {
        401 => Said::Unauthorized,
        403 => Said::Forbidden,
        303 if to.starts_with("/signin?next=") => Said::SignIn,
        _ => Said::LetIn,
    }
}

fn due(door: Door, role: Option<Role>) -> Said {
    let asked = |action: Action, nobody| match role {
        None => nobody,
        Some(role) if role.may(action) => Said::LetIn,
        Some(_) => Said::Forbidden,
    };
    match door {
        Door::Open => Said::LetIn,
        Door::Needs(action) => asked(action, Said::Unauthorized),
        Door::Page(action) => asked(action, Said::SignIn),
    }
}

async fn every_route_and_function_answers_as_it_declares(on: Engine) {
    let server = Server::start(on).await;
    let callers = callers(&server).await;
    let mut declared = server::declared().expect("every route declares its access");
    assert!(declared.len() > 60, "only {} routes", declared.len());
    // Signing out ends the session that walks.
    declared.sort_by_key(|(_, path, _)| path == "/signout");
    let run = server.api().create(json!({})).await;
    let walker = Browser::of(&server);
    let mut wrong = Vec::new();
    for (method, path, door) in declared {
        let address = path.replace("{id}", &run).replace("{seq}", "1");
        let address = address.replace("{n}", "0");
        assert!(!address.contains('{'), "a value for {path}");
        for caller in &callers {
            let method = Method::from_bytes(method.as_str().as_bytes()).expect("a method");
            let mut request = walker.request(method, &address);
            if let Some((name, value)) = &caller.header {
                request = request.header(*name, value);
            }
            // Arguments are missing on purpose: who may come in hears that, or is answered.
            let answer = request.json(&json!({})).send().await.expect("an answer");
            let (said, due) = (said(&answer), due(door, caller.role));
            let what = format!("{path} ({door:?}) to {}: {said:?}", caller.what);
            if said != due {
                wrong.push(format!("{what}, not {due:?}"));
            }
            if answer.status().as_u16() == 500 {
                wrong.push(format!("{what}: 500"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A route that nobody has is no way to learn anything: it answers like its neighbours.
async fn what_is_no_route_lets_nobody_in(on: Engine) {
    let server = Server::start(on).await;
    let nobody = server.api().without_token();
    nobody.get("/v1/none").await.refused(401, "unauthorized");
    nobody.get("/api/none").await.refused(401, "unauthorized");
    let posted = nobody.post("/v1/none", json!({})).await;
    posted.refused(401, "unauthorized");
    let viewer = server.api_as("viewer", "vera").await;
    viewer.get("/v1/none").await.refused(404, "not_found");
    let posted = viewer.post("/v1/none", json!({})).await;
    posted.refused(403, "forbidden");
    let agent = server.api_as("agent", "al").await;
    agent
        .post("/v1/none", json!({}))
        .await
        .refused(404, "not_found");
}

both_engines!(
    every_route_and_function_answers_as_it_declares,
    what_is_no_route_lets_nobody_in,
);
