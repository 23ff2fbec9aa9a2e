//! Pages that load side by side: each is whole, and each is its own reader's and its own run's.

use reqwest::{Method, redirect::Policy};
use serde_json::json;
use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use crate::support::{Api, Engine, Server, campaigns, rounds, run, together};

/// Loaded at the same time.
const AT_ONCE: usize = 16;

/// A person with a session, as a browser has one.
#[derive(Clone)]
struct Person {
    name: &'static str,
    api: Api,
    cookie: String,
}

impl Person {
    /// Spends the one-time link of a new operator.
    async fn sign_in(server: &Server, name: &'static str) -> Self {
        let change = json!({"change": {"change": "add_user", "name": name, "role": "operator"}});
        let added = server
            .api()
            .post("/api/access/change", change)
            .await
            .is(200);
        let url = added["Link"]["url"].as_str().expect("a link");
        let (_, token) = url.split_once("token=").expect("a token");
        let api = server.api().without_token();
        let browser = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .build()
            .expect("a client");
        let answer = browser
            .post(format!("{}/signin", api.parts().0))
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("token={token}"))
            .send()
            .await
            .expect("an answer");
        let cookie = answer.headers().get("set-cookie").expect("a session");
        let cookie = cookie.to_str().expect("text").split(';').next();
        Self {
            name,
            api,
            cookie: cookie.expect("a cookie").to_owned(),
        }
    }
}

/// What one page must show.
struct Wanted {
    path: String,
    status: u16,
    title: String,
    /// The one run it is about; it names no other.
    about: Option<usize>,
    /// Whether the reader's name stands in its bar.
    named: bool,
}

/// A name that stands in everything that belongs to one run.
fn marker(run: usize) -> String {
    format!("mark{run:02}x")
}

fn id(run: usize) -> String {
    format!("{}-run", marker(run))
}

const RUNS: usize = 10;

/// Runs in every state, each with its own marker in its id, title, steps, state and question. Their agent is one: every page
/// knows which agents there are.
async fn runs(api: &Api) {
    for n in 0..RUNS {
        let mark = marker(n);
        let agent = api
            .agent(json!({
                "id": id(n), "agent": "marked", "title": format!("{mark} <title>"),
                "state": {"of": format!("{mark}-state"), "list": [1, 2, 3]},
            }))
            .await;
        let patch = json!([{"op": "add", "path": "/more", "value": format!("{mark}-more")}]);
        agent
            .does(&format!("{mark}-one"), json!({"patch": patch}))
            .await;
        let second = format!("{mark}-two");
        match n % 5 {
            0 => {
                agent
                    .executes(
                        &second,
                        json!({"effect": {"target": format!("{mark}-effect")}}),
                    )
                    .await;
                agent.release(json!({})).await.is(200);
            }
            1 => {
                let seq = agent.executes(&second, json!({})).await;
                let error = json!({"kind": "Broken", "message": format!("{mark}-error")});
                let body = json!({"error": error, "retryable": false});
                agent.fail(seq, 1, body).await.is(200);
            }
            2 => {
                let gate = json!({"title": format!("{mark}-question?")});
                agent
                    .begin(&second, json!({"kind": "gate", "gate": gate}))
                    .await
                    .is(200);
            }
            3 => {
                agent.finish(json!({})).await.is(200);
            }
            _ => {
                agent.executes(&second, json!({})).await;
            }
        }
    }
}

/// The kinds of pages there are, and what each must show; `n` picks one.
fn wanted(n: usize) -> Wanted {
    const KINDS: usize = 17;
    let about = n / KINDS % RUNS;
    let (mark, id) = (marker(about), id(about));
    let named = format!("{mark} &lt;title>");
    let of = |path: String, title: String| Wanted {
        path,
        status: 200,
        title,
        about: Some(about),
        named: true,
    };
    let plain = |path: &str, title: &str| Wanted {
        path: path.to_owned(),
        status: 200,
        title: title.to_owned(),
        about: None,
        named: true,
    };
    match n % KINDS {
        0 => of(format!("/runs/{id}"), named),
        1 => of(format!("/runs/{id}?step=1&tab=state"), named),
        2 => of(format!("/runs/{id}?ask=resume"), named),
        3 => of(format!("/runs/{id}?step=1&tab=diff"), named),
        4 => of(format!("/runs/{id}/diff"), "Snapshot 0 → 1".into()),
        5 => of(format!("/runs/{id}/resume"), format!("Resume {named}")),
        6 => of(format!("/runs/{id}/edit"), format!("Edit {named}")),
        7 => of(format!("/runs/{id}/edit?path=/of"), format!("Edit {named}")),
        8 => plain("/", "Runs"),
        9 => plain("/?status=crashed", "Runs"),
        10 => plain("/?view=needs", "Runs"),
        11 => plain("/inbox", "Inbox"),
        12 => plain("/audit", "Audit"),
        13 => plain("/workers", "Workers"),
        14 => plain("/settings", "Settings"),
        15 => Wanted {
            status: 404,
            ..match about % 2 {
                0 => plain("/nowhere", "Not found"),
                _ => plain("/runs/no-such-run", "No such run"),
            }
        },
        _ => Wanted {
            named: false,
            ..plain("/signin", "Sign in")
        },
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let parts = text.split(open).skip(1);
    parts
        .filter_map(|part| part.split_once(close).map(|(inner, _)| inner))
        .collect()
}

/// What is wrong with a page; nothing if it is its own through and through.
fn wrong(
    wanted: &Wanted,
    reader: &Person,
    status: u16,
    policy: &str,
    html: &str,
) -> Option<String> {
    if status != wanted.status {
        return Some(format!("status {status}"));
    }
    // The timeline's marks have titles of their own, in the body.
    let (head, _) = html.split_once("</head>").unwrap_or((html, ""));
    let titles = between(head, "<title>", "</title>");
    let [title] = titles[..] else {
        return Some(format!("titles {titles:?}"));
    };
    // The number of runs that need a person stands before it, and changes while agents write.
    let counted = title.strip_prefix('(').and_then(|it| it.split_once(") "));
    let title = counted.map_or(title, |(_, title)| title);
    if title != format!("{} · Step47", wanted.title) {
        return Some(format!("title {title:?}"));
    }
    let names = between(html, "class=\"account-name\">", "<");
    let expected: &[&str] = if wanted.named { &[reader.name] } else { &[] };
    if names != expected {
        return Some(format!("the reader is {names:?}"));
    }
    let nonces = between(policy, "'nonce-", "'");
    let used = between(html, "nonce=\"", "\"");
    if nonces.len() != 1 || used.is_empty() || used.iter().any(|it| *it != nonces[0]) {
        return Some(format!("nonces {nonces:?}, used {used:?}"));
    }
    if let Some(about) = wanted.about {
        if !html.contains(&marker(about)) {
            return Some("its own run is missing".into());
        }
        let other = (0..RUNS).find(|n| *n != about && html.contains(&marker(*n)));
        if let Some(other) = other {
            return Some(format!("run {other} shows up"));
        }
    }
    (!html.trim_end().ends_with("</html>") && !html.contains("</html>")).then(|| "cut off".into())
}

async fn pages_that_load_at_once_are_each_their_own(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    runs(&api).await;
    let people = [
        Person::sign_in(&server, "person-ana").await,
        Person::sign_in(&server, "person-ben").await,
    ];
    let writing = Arc::new(AtomicBool::new(true));
    let writer = tokio::spawn(write(api.clone(), writing.clone()));
    let pages = match rounds(1) {
        1 => 204,
        _ => 20_000,
    };
    let next = Arc::new(AtomicUsize::new(0));
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let began = std::time::Instant::now();
    let failures = together(AT_ONCE, |_| {
        let (next, seen, people) = (next.clone(), seen.clone(), people.clone());
        async move {
            let mut failures = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= pages {
                    return failures;
                }
                let (wanted, reader) = (wanted(n), &people[n % people.len()]);
                let request = reader.api.request(Method::GET, &wanted.path);
                let request = request
                    .header("accept", "text/html")
                    .header("cookie", &reader.cookie);
                let answer = match request.send().await {
                    Ok(answer) => answer,
                    Err(why) => {
                        failures.push(format!("{}: no answer: {why:?}", wanted.path));
                        continue;
                    }
                };
                let status = answer.status().as_u16();
                let policy = answer.headers().get("content-security-policy");
                let policy = policy.and_then(|it| it.to_str().ok()).unwrap_or_default();
                let policy = policy.to_owned();
                let html = answer.text().await.expect("a page");
                let again = !seen.lock().unwrap().insert(policy.clone());
                let said = wrong(&wanted, reader, status, &policy, &html);
                let said = said.or_else(|| again.then(|| "a nonce twice".into()));
                failures.extend(said.map(|said| format!("{}: {said}", wanted.path)));
                failures.extend(told(reader).await);
            }
        }
    })
    .await
    .concat();
    writing.store(false, Ordering::Relaxed);
    let written = writer.await.expect("the writer lives");
    println!(
        "{on:?}: {pages} pages in {:?} beside {written} commits",
        began.elapsed()
    );
    assert!(
        failures.is_empty(),
        "{} of {pages}: {:#?}",
        failures.len(),
        &failures[..failures.len().min(20)]
    );
    assert!(written > 0, "agents wrote meanwhile");
    let log = std::fs::read_to_string(server.log()).expect("a log");
    assert!(
        !log.contains("panicked") && !log.contains("disposed"),
        "{log}"
    );
}

/// A server function, too, answers the one who asked.
async fn told(reader: &Person) -> Option<String> {
    let request = reader.api.request(Method::POST, "/api/session/me");
    let request = request
        .header("cookie", &reader.cookie)
        .header("sec-fetch-site", "same-origin");
    let me: serde_json::Value = match request.json(&json!({})).send().await {
        Ok(answer) => answer.json().await.expect("JSON"),
        Err(why) => return Some(format!("{} is told nothing: {why:?}", reader.name)),
    };
    (me["name"] != reader.name).then(|| format!("{} is told to be {me}", reader.name))
}

/// An agent at work; gives how often it committed.
async fn write(api: Api, on: Arc<AtomicBool>) -> usize {
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let mut commits = 0;
    while on.load(Ordering::Relaxed) {
        let patch = json!([{"op": "replace", "path": "/n", "value": commits}]);
        agent
            .does(&format!("write-{commits}"), json!({"patch": patch}))
            .await;
        commits += 1;
    }
    commits
}

#[test]
fn pages_that_load_at_once_are_each_their_own_on_sqlite() {
    run(Engine::Sqlite, pages_that_load_at_once_are_each_their_own);
}

campaigns!(pages_that_load_at_once_are_each_their_own);
