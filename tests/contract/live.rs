//! `GET /live`: what keeps open pages current. It is put together once for all of them, and nobody waits for a slow one.

use reqwest::Method;
use serde_json::{Value, json};
use std::{collections::HashMap, time::Duration};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
};

use crate::support::{
    Agent, Api, Engine, Server, Stream, both_engines, eventually, ids, rounds, together,
};

async fn head(api: &Api) -> i64 {
    ids(&api.events(0, None).await).last().copied().unwrap_or(0)
}

/// Reads frames until one has `wanted`, and gives all that came.
async fn until(stream: &mut Stream, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut frames = Vec::new();
    loop {
        let frame = stream.next().await.expect("the stream goes on");
        let found = wanted(&frame);
        frames.push(frame);
        if found {
            return frames;
        }
    }
}

fn run_in<'a>(frame: &'a Value, id: &str) -> Option<&'a Value> {
    frame["runs"].as_array()?.iter().find(|run| run["id"] == id)
}

async fn a_commit_arrives_as_the_run_and_its_step_as_they_are_now(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({"title": "Weekly brief"})).await;
    let other = api.agent(json!({})).await;
    let after = head(&api).await;
    let mut list = Stream::live(&api, &format!("?after={after}")).await;
    let mut page = Stream::live(&api, &format!("?after={after}&run={}", agent.run)).await;
    other.does("elsewhere", json!({"state": 1})).await;
    agent.does("here", json!({"state": 1})).await;

    let committed =
        |frame: &Value| run_in(frame, &agent.run).is_some_and(|run| run["committed"] == 1);
    let frames = until(&mut list, committed).await;
    assert!(frames.iter().any(|it| run_in(it, &other.run).is_some()));
    assert!(frames.iter().all(|it| it["steps"].is_null()), "{frames:?}");
    let frames = until(&mut page, committed).await;
    assert!(frames.iter().all(|it| run_in(it, &other.run).is_none()));
    let step = &frames.last().unwrap()["steps"][0];
    assert_eq!(
        (&step["key"], &step["status"]),
        (&json!("here"), &json!("committed"))
    );
    let told = run_in(frames.last().unwrap(), &agent.run).unwrap();
    assert_eq!(*told, as_listed(&api, told).await);
}

/// What a list says of the run of this row.
async fn as_listed(api: &Api, row: &Value) -> Value {
    let list = api
        .get(&format!("/v1/runs?q={}", row["id"].as_str().unwrap()))
        .await
        .is(200);
    list["runs"][0].clone()
}

async fn counts_follow_when_a_run_moves(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({})).await;
    let mut page = Stream::live(&api, "?run=another-run").await;
    agent.finish(json!({})).await.is(200);
    let done = |frame: &Value| {
        let counts = frame["counts"]["by_status"].as_array();
        counts.is_some_and(|all| all.contains(&json!(["done", 1])))
    };
    let frames = until(&mut page, done).await;
    assert!(frames.iter().all(|it| it["runs"].is_null()), "{frames:?}");
}

async fn what_is_acknowledged_leaves_the_count_of_what_needs_a_person(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    agent.executes("a", json!({})).await;
    agent.release(json!({})).await.is(200);
    let after = head(&api).await;
    let mut page = Stream::live(&api, &format!("?after={after}&run=another-run")).await;
    let version = api.run(&agent.run).await["version"].clone();
    let seen = json!({"kind": "acknowledge", "if_version": version});
    api.decide(&agent.run, seen).await.is(200);
    until(&mut page, |frame| frame["counts"]["in_need"] == 0).await;
}

/// What a page knows: the newest row of each run and step.
#[derive(Default)]
struct Screen {
    cursor: i64,
    runs: HashMap<String, Value>,
    steps: HashMap<i64, Value>,
    read_again: usize,
}

impl Screen {
    /// Takes a frame, and panics if it goes back behind what was seen.
    fn take(&mut self, frame: Value) {
        let event = frame["event"].as_i64().expect("a cursor");
        assert!(event >= self.cursor, "{event} after {}", self.cursor);
        self.cursor = event;
        self.read_again += usize::from(frame["read_again"] == true);
        for run in frame["runs"].as_array().into_iter().flatten() {
            let before = self
                .runs
                .insert(run["id"].as_str().unwrap().into(), run.clone());
            let age = |run: &Value| (run["steps"].as_i64(), run["committed"].as_i64());
            assert!(
                before.is_none_or(|it| age(&it) <= age(run)),
                "an older state: {run}"
            );
        }
        for step in frame["steps"].as_array().into_iter().flatten() {
            let seq = step["seq"].as_i64().unwrap();
            let before = self.steps.insert(seq, step.clone());
            let went_back = before
                .is_some_and(|it| it["status"] == "committed" && step["status"] != "committed");
            assert!(!went_back, "an older state: {step}");
        }
    }
}

/// Hangs up and comes back with its cursor, at any door, while agents write.
async fn a_page_that_reconnects_misses_nothing_and_never_goes_back(on: Engine) {
    let server = Server::start(on).await;
    let second = match on {
        Engine::Postgres => Some(server.another().await),
        Engine::Sqlite => None,
    };
    let mut apis = vec![server.api()];
    apis.extend(second.as_ref().map(Server::api));
    let agents: Vec<Agent> = {
        let api = server.api();
        together(6, move |_| {
            let api = api.clone();
            async move { api.agent(json!({})).await }
        })
        .await
    };
    let watched = agents[0].run.clone();
    let work = tokio::spawn(together(agents.len(), {
        let (agents, apis) = (agents.clone(), apis.clone());
        move |i| {
            let agent = agents[i].through(&apis[i % apis.len()]);
            async move {
                for n in 0..rounds(40) {
                    agent.does(&format!("k{n}"), json!({"state": n})).await;
                }
            }
        }
    }));
    let pages = together(6, {
        let (apis, watched) = (apis.clone(), watched.clone());
        move |i| {
            let (apis, watched) = (apis.clone(), watched.clone());
            async move { watch(apis, (i % 2 == 0).then_some(watched)).await }
        }
    })
    .await;
    work.await.unwrap();
    for (i, screen) in pages.iter().enumerate() {
        assert_eq!(screen.read_again, 0, "so few events are sent");
        let shown = if i % 2 == 0 {
            &agents[..1]
        } else {
            &agents[..]
        };
        for agent in shown {
            let row = &screen.runs[&agent.run];
            assert_eq!(*row, as_listed(&server.api(), row).await);
        }
        if i % 2 == 0 {
            let statuses: Vec<_> = (1..=rounds(40) as i64)
                .map(|n| &screen.steps[&n]["status"])
                .collect();
            assert!(
                statuses.iter().all(|it| **it == "committed"),
                "{statuses:?}"
            );
        }
    }
}

/// Follows, with interruptions, until everything it shows is finished.
async fn watch(apis: Vec<Api>, run: Option<String>) -> Screen {
    let mut screen = Screen::default();
    let all = rounds(40) as i64;
    loop {
        let api = &apis[rand::random_range(0..apis.len())];
        let only = run
            .as_ref()
            .map(|run| format!("&run={run}"))
            .unwrap_or_default();
        let mut stream = Stream::live(api, &format!("?after={}{only}", screen.cursor)).await;
        for _ in 0..rand::random_range(1..6) {
            match stream.within(Duration::from_millis(500)).await {
                Some(frame) => screen.take(frame.expect("the stream goes on")),
                None => break,
            }
        }
        let rows = if run.is_some() { 1 } else { 6 };
        let over = screen
            .runs
            .values()
            .filter(|it| it["committed"] == all)
            .count();
        if over == rows {
            return screen;
        }
    }
}

async fn a_page_that_was_away_too_long_is_told_to_read_again(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({})).await;
    for n in 0..505 {
        agent.does(&format!("k{n}"), json!({"patch": []})).await;
    }
    let head = head(&api).await;
    for after in [0, head + 1_000] {
        let mut stream = Stream::live(&api, &format!("?after={after}")).await;
        let first = stream.next().await.unwrap();
        assert_eq!(
            first,
            json!({"event": head, "read_again": true}),
            "after {after}"
        );
    }
    let mut stream = Stream::live(&api, &format!("?after={}", head - 900)).await;
    let first = stream.next().await.unwrap();
    assert_eq!(run_in(&first, &agent.run).unwrap()["committed"], 505);
    let one = format!("?after={}&run={}", head - 900, agent.run);
    let first = Stream::live(&api, &one).await.next().await.unwrap();
    assert_eq!(
        first["read_again"], true,
        "450 steps are too many for one frame"
    );
}

async fn three_hundred_pages_get_the_same_frames(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({})).await;
    let after = head(&api).await;
    let mut pages = together(300, |_| {
        let api = api.clone();
        async move { Stream::live(&api, &format!("?after={after}")).await }
    })
    .await;
    for n in 0..5 {
        agent.does(&format!("k{n}"), json!({"state": n})).await;
    }
    let committed =
        |frame: &Value| run_in(frame, &agent.run).is_some_and(|run| run["committed"] == 5);
    let mut all = Vec::new();
    for page in &mut pages {
        all.push(until(page, committed).await);
    }
    assert!(all.iter().all(|frames| *frames == all[0]));
    let last = all[0].last().unwrap();
    assert_eq!(
        last["crowd"], 6,
        "many pages read for themselves less often"
    );
}

/// A reader that never reads, with as small a buffer as the system allows.
async fn stalled(api: &Api) -> TcpStream {
    let (base, token) = api.parts();
    let address = base.trim_start_matches("http://").to_owned();
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4_096).expect("a small buffer");
    let mut stream = socket
        .connect(address.parse().expect("an address"))
        .await
        .expect("a server");
    let request =
        format!("GET /live HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("a request");
    stream
}

async fn a_stalled_page_costs_little_and_is_told_to_read_again(on: Engine) {
    // On a busy machine the page stalls longer than a server puts up with otherwise.
    let server = Server::start_with(on, "connections.write_ms = 600000").await;
    let api = server.api();
    // Large rows: 40 runs are more than 150 KB a frame, and still one frame.
    let title = "t".repeat(400);
    let labels: serde_json::Map<_, _> = (0..16)
        .map(|n| (format!("label-{n}"), json!("v".repeat(200))))
        .collect();
    let agents = together(40, |_| {
        let (api, run) = (api.clone(), json!({"title": title, "labels": labels}));
        async move { api.agent(run).await }
    })
    .await;
    let mut slow = stalled(&api).await;
    let mut quick = Stream::live(&api, "").await;
    let before = memory(&server);
    // Enough to fill every buffer on the way.
    let enough = rounds(6) << 20;
    let (mut sent, mut n) = (0, 0_i64);
    while sent < enough {
        together(agents.len(), |i| {
            let agent = agents[i].clone();
            async move { agent.does(&format!("k{n}"), json!({"patch": []})).await }
        })
        .await;
        n += 1;
        // On a machine that stalls, the quick page may fall behind too.
        let all = |frame: &Value| {
            let runs = frame["runs"].as_array();
            let there = runs.is_some_and(|it| it.iter().any(|run| run["committed"] == n));
            there || frame["read_again"] == true
        };
        sent += until(&mut quick, all)
            .await
            .iter()
            .map(|it| it.to_string().len())
            .sum::<usize>();
    }
    let grown = memory(&server).saturating_sub(before);
    assert!(
        grown < 64 << 20,
        "{grown} bytes for one page that does not read"
    );

    // It reads at last: what is left of the old frames, then that it has to read again.
    let mut text = String::new();
    eventually("the slow page is told", async || {
        let mut bytes = vec![0; 1 << 20];
        let read = tokio::time::timeout(
            Duration::from_secs(1),
            tokio::io::AsyncReadExt::read(&mut slow, &mut bytes),
        );
        if let Ok(Ok(n)) = read.await {
            text.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
        text.contains(r#""read_again":true"#).then_some(())
    })
    .await;
}

/// Resident memory of the server, in bytes.
fn memory(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|it| it.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.unwrap_or_default() << 10
}

async fn who_is_signed_out_gets_no_stream(on: Engine) {
    let api = on.shared().await;
    api.without_token()
        .get("/live")
        .await
        .refused(401, "unauthorized");
    api.with_token("no-such-token")
        .get("/live?after=0")
        .await
        .refused(401, "unauthorized");
    let viewer = api.get("/live?after=-1").await;
    viewer.refused(422, "invalid");
    api.get("/live?run=%20").await.refused(422, "invalid");
    api.get("/live?since=4").await.refused(422, "invalid");
}

async fn one_page_too_many_is_refused_until_another_closes(on: Engine) {
    let server = Server::start_with(on, "viewers_max = 2").await;
    let api = server.api();
    let first = Stream::live(&api, "").await;
    let _second = Stream::live(&api, "").await;
    let request = api.request(Method::GET, "/live");
    let refused = request.send().await.expect("an answer");
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    let problem: Value = refused.json().await.expect("a problem");
    assert_eq!(
        (&problem["code"], &problem["limit"]),
        (&json!("busy"), &json!(2))
    );
    drop(first);
    eventually("a place is free", async || {
        Stream::try_live(&api, "").await.ok()
    })
    .await;
}

async fn streams_end_when_the_server_stops(on: Engine) {
    let mut server = Server::start(on).await;
    let api = server.api();
    let mut pages = Vec::new();
    for _ in 0..20 {
        pages.push(Stream::live(&api, "").await);
    }
    server.terminates_within(Duration::from_secs(5)).await;
    for page in &mut pages {
        assert_eq!(page.next().await, None);
    }
}

both_engines!(
    a_commit_arrives_as_the_run_and_its_step_as_they_are_now,
    counts_follow_when_a_run_moves,
    what_is_acknowledged_leaves_the_count_of_what_needs_a_person,
    a_page_that_reconnects_misses_nothing_and_never_goes_back,
    a_page_that_was_away_too_long_is_told_to_read_again,
    three_hundred_pages_get_the_same_frames,
    a_stalled_page_costs_little_and_is_told_to_read_again,
    who_is_signed_out_gets_no_stream,
    one_page_too_many_is_refused_until_another_closes,
    streams_end_when_the_server_stops,
);
