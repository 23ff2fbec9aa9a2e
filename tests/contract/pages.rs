//! Pages that load side by side: each is whole, and each is its own reader's and its own run's.
//!
//! There is no CSRF token to mix up: whether a change comes from our own pages is told by its `Origin` and
//! `Sec-Fetch-Site` alone (see `access` and `server/auth/origin`). What a page carries for its reader alone is the name in
//! its bar, the nonce of its scripts, and the secret that a posted form made.

mod wanted;

use reqwest::{Method, redirect::Policy};
use serde_json::json;
use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use self::wanted::{KINDS, RUNS, Wanted, guest, marker, runs, wanted};
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
    /// Spends the one-time link of a new person.
    async fn sign_in(server: &Server, name: &'static str, role: &str) -> Self {
        let change = json!({"change": {"change": "add_user", "name": name, "role": role}});
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

fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let parts = text.split(open).skip(1);
    parts
        .filter_map(|part| part.split_once(close).map(|(inner, _)| inner))
        .collect()
}

/// The sign-in links on a page, each once: it stands in the field to copy it from, and in the data that the field is
/// made of again in the browser.
fn links(html: &str) -> HashSet<&str> {
    let starts = html.split("/signin?token=").skip(1);
    let is_secret = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    starts
        .map(|rest| {
            let end = rest.find(|c| !is_secret(c)).unwrap_or(rest.len());
            &rest[..end]
        })
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
    let markup = without_scripts(html);
    // A list also reads, and sends along, what it shows under another filter: there, only what is shown counts.
    let searched = if wanted.runs.len() > 1 {
        &*markup
    } else {
        html
    };
    for run in 0..RUNS {
        let must = wanted.runs.contains(&run);
        if must && !markup.contains(&marker(run)) {
            return Some(format!("run {run} is missing"));
        }
        let shown = searched.contains(&marker(run));
        if shown && !must && !wanted.others.contains(&run) {
            return Some(format!("run {run} shows up"));
        }
    }
    let given = between(html, "class=\"given\"", "</bdi>");
    let given: Vec<_> = given
        .iter()
        .filter_map(|it| it.rsplit("<bdi>").next()?.split('<').next())
        .collect();
    let asked: Vec<_> = wanted.link_for.iter().map(String::as_str).collect();
    if given != asked {
        return Some(format!("links of {given:?} are shown"));
    }
    if links(html).len() != asked.len() {
        return Some(format!("{} links are shown", links(html).len()));
    }
    (!html.trim_end().ends_with("</html>") && !html.contains("</html>")).then(|| "cut off".into())
}

/// What is shown, without the data that is sent along for the browser.
fn without_scripts(html: &str) -> String {
    let parts = html.split("<script").enumerate();
    let shown = parts.map(|(n, part)| match n {
        0 => part,
        _ => part.split_once("</script>").map_or("", |(_, rest)| rest),
    });
    shown.collect()
}

async fn pages_that_load_at_once_are_each_their_own(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    runs(&api).await;
    for n in 0..RUNS {
        let change = json!({"change": "add_user", "name": guest(n), "role": "viewer"});
        let body = json!({"change": change});
        api.post("/api/access/change", body).await.is(200);
    }
    let people = [
        Person::sign_in(&server, "person-ana", "operator").await,
        Person::sign_in(&server, "person-ben", "admin").await,
    ];
    let writing = Arc::new(AtomicBool::new(true));
    let writer = tokio::spawn(write(api.clone(), writing.clone()));
    let pages = match rounds(1) {
        1 => 12 * KINDS,
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
                let wanted = wanted(n);
                let form = wanted.form();
                // Links are made by an admin.
                let reader = match &form {
                    Some(_) => &people[1],
                    None => &people[n % people.len()],
                };
                let request = match form {
                    Some(form) => {
                        let request = reader.api.request(Method::POST, &wanted.path);
                        let kind = "application/x-www-form-urlencoded";
                        let request = request.header("content-type", kind);
                        request.header("sec-fetch-site", "same-origin").body(form)
                    }
                    None => reader.api.request(Method::GET, &wanted.path),
                };
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
                let known = links(&html)
                    .into_iter()
                    .any(|link| !seen.lock().unwrap().insert(link.to_owned()));
                let said = said.or_else(|| known.then(|| "another page's link".into()));
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
