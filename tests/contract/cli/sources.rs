//! Where a command looks: the server or the store that it was told of, the same for reading and deciding; and a command
//! that only reads makes nothing.

use serde_json::{Value, json};
use std::net::TcpListener;

use crate::{
    decisions::crashed,
    support::{Api, Cli, Engine, Server, block_on, both_engines, unique},
};

/// One command of each kind that reads, and some that decide.
fn readers(run: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["runs", "list"],
        vec!["runs", "show", run],
        vec!["runs", "watch", run],
        vec!["show", run],
        vec!["show", run, "--at", "0"],
        vec!["diff", run, "0", "1"],
        vec!["plan", run],
        vec!["inbox"],
        vec!["notes", run],
        vec!["audit"],
    ]
}

/// A run that is over, with two notes; and a question that waits.
async fn history(api: &Api) -> String {
    let (agent, seq) = crashed(api, 2).await;
    let run = agent.run.clone();
    for text in ["called the bank", "they call\nback"] {
        let note = json!({"kind": "note", "text": text});
        api.decide(&run, note).await.is(200);
    }
    let cancel = json!({"kind": "cancel", "reason": "given up"});
    api.decide(&run, cancel).await.is(200);
    let asks = api.agent(json!({"title": "Refunds"})).await;
    let gate = json!({"title": "Refund 12 €?", "choices": ["full", "half"]});
    asks.begin("g", json!({"kind": "gate", "gate": gate}))
        .await
        .is(200);
    asks.release(json!({})).await.is(200);
    assert_eq!(seq, 3);
    run
}

async fn a_server_and_its_store_say_the_same(on: Engine) {
    let server = Server::start(on).await;
    let run = history(&server.api()).await;
    let run = run.as_str();
    let more = [
        vec!["runs", "list", "--json"],
        vec!["runs", "list", "--status", "cancelled", "--json"],
        vec!["runs", "show", run, "--json"],
        vec!["runs", "watch", run, "--json"],
        vec!["show", run, "--at", "1", "--json"],
        vec!["diff", run, "0", "2", "--json"],
        vec!["diff", run, "0", "2", "--patch"],
        vec!["diff", run, "1", "1"],
        vec!["inbox", "--json"],
        vec!["notes", run, "--json"],
        vec!["audit", "--kind", "decision", "--json"],
        vec!["audit", "--run", run],
        vec!["audit", "--actor", "tests", "--action", "note"],
    ];
    let remote = Cli::of(&server.api());
    let local = Cli::on_store(&server.store.url);
    for order in readers(run).into_iter().chain(more) {
        let (there, here) = (remote.says(&order).await, local.says(&order).await);
        assert!(!there.done().is_empty(), "{order:?}");
        assert_eq!(there.out, here.done(), "{order:?}");
    }
    assert_eq!(remote.files(), [""; 0], "nothing is made");
}

async fn what_waits_what_was_noted_and_what_was_done_can_be_read(on: Engine) {
    let server = Server::start(on).await;
    let run = history(&server.api()).await;
    let cli = Cli::of(&server.api());
    let inbox = cli.says(&["inbox"]).await;
    for words in ["Refund 12 €?", "full", "half", "Refunds", "step47 approve"] {
        assert!(inbox.done().contains(words), "no {words:?} in {inbox:?}");
    }
    let notes = cli.says(&["notes", &run]).await;
    let (first, last) = (notes.out.find("called the bank"), notes.out.find("back"));
    assert!(last.is_some() && last < first, "newest first: {notes:?}");
    let lines = cli.says(&["notes", &run, "--json"]).await;
    let lines = lines.done().lines().map(serde_json::from_str::<Value>);
    let texts: Vec<_> = lines.map(|it| it.expect("JSON")["text"].clone()).collect();
    assert_eq!(texts, ["they call\nback", "called the bank"]);
    let trail = cli.says(&["audit", "--run", &run]).await;
    for words in ["tests", "cancel", "given up", &run] {
        assert!(trail.done().contains(words), "no {words:?} in {trail:?}");
    }
    let only = cli
        .says(&["audit", "--action", "cancel", "--limit", "1"])
        .await;
    assert_eq!(only.done().matches("given up").count(), 1, "{only:?}");
    let exported = server.api().get("/audit.jsonl?kind=decision").await.text;
    let lines = cli.says(&["audit", "--kind", "decision", "--json"]).await;
    assert_eq!(lines.done(), exported, "as the page's export");
}

async fn who_finds_nothing_is_told_where_it_was_looked_for(on: Engine) {
    let server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let api = server.api();
    let (url, _) = api.parts();
    let remote = Cli::of(&server.api());
    let local = Cli::on_store(&server.store.url);
    let shown = match on {
        Engine::Sqlite => server.store.url.clone(),
        // The rest of a PostgreSQL's URL may be secret.
        Engine::Postgres => "postgres://…".to_owned(),
    };
    for (order, words) in [
        (vec!["runs", "list", "--agent", "nobody"], "No runs"),
        (vec!["inbox"], "No question"),
        (vec!["notes", &run], "No notes"),
        (vec!["audit", "--actor", "nobody"], "No entries"),
    ] {
        let said = remote.says(&order).await;
        let line = said.done().trim_end();
        assert!(line.starts_with(words), "{said:?}");
        assert!(line.ends_with(&format!(" on {url}")), "{said:?}");
        assert_eq!(line.lines().count(), 1, "{said:?}");
        let said = local.says(&order).await;
        let line = said.done().trim_end();
        assert!(line.starts_with(words), "{said:?}");
        assert!(line.contains(&format!(" in {shown}")), "{said:?}");
    }
    let order = ["show", "no-such-run"];
    remote.says(&order).await.refused(&format!("on {url}"));
    local.says(&order).await.refused(&format!("in {shown}"));
}

/// What a flag says counts, then STEP47_URL, then STEP47_STORE.
async fn a_flag_wins_over_the_environment_and_a_server_over_a_store(on: Engine) {
    let (one, two) = (Server::start(on).await, Server::start(on).await);
    let (first, second) = (unique("first"), unique("second"));
    one.api().create(json!({"id": first})).await;
    two.api().create(json!({"id": second})).await;
    let (api, store) = (one.api(), &two.store.url);
    let (url, token) = api.parts();
    let both = Cli::of(&api).told("STEP47_STORE", store);
    let list = ["runs", "list"];
    assert!(both.says(&list).await.done().contains(&first));
    let flag = ["runs", "list", "--store", store];
    assert!(both.says(&flag).await.done().contains(&second));
    let plan = ["plan", &second, "--store", store];
    both.says(&plan).await.done();
    for name in ["--url", "--server"] {
        let cli = Cli::on_store(store);
        let flag = ["runs", "list", name, url, "--token", token];
        assert!(cli.says(&flag).await.done().contains(&first), "{name}");
    }
    let said = both.says(&[&flag[..], &["--url", url]].concat()).await;
    said.refused("--url");
    assert_eq!(said.code, Some(2), "wrong usage: {said:?}");
}

#[test]
fn a_command_that_finds_no_store_makes_none_and_says_what_to_name() {
    block_on(async {
        let cli = Cli::bare();
        let decide = vec!["cancel", "r", "-m", "x"];
        let access = [vec!["token", "list"], vec!["user", "list"], vec!["verify"]];
        for order in readers("r").into_iter().chain([decide]).chain(access) {
            let said = cli.says(&order).await;
            assert_eq!(said.code, Some(1), "{order:?} {said:?}");
            let words = ["step47.db", "--store", "STEP47_STORE"];
            words.iter().for_each(|words| said.refused(words));
            assert_eq!(cli.files(), [""; 0], "{order:?}");
        }
        let said = cli.says(&["runs", "list"]).await;
        said.refused("--url");
        said.refused("STEP47_URL");
        let named = ["runs", "list", "--store", "sqlite:other.db"];
        cli.says(&named).await.refused("other.db");
        assert_eq!(cli.files(), [""; 0]);
    });
}

#[test]
fn a_server_that_cannot_be_asked_is_named() {
    block_on(async {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let nobody = format!("http://{}", free.local_addr().expect("an address"));
        drop(free);
        let cli = Cli::bare().told("STEP47_TOKEN", "s47_x");
        let list = |url| ["runs", "list", "--url", url];
        cli.says(&list(&nobody)).await.refused(&nobody);
        let said = cli.says(&list("localhost:3047")).await;
        said.refused("http://127.0.0.1:3047");
        assert_eq!(said.code, Some(2), "{said:?}");
        let told = Cli::bare().told("STEP47_URL", "localhost:3047");
        told.says(&["inbox"]).await.refused("STEP47_URL");
        let bare = Cli::bare().told("STEP47_URL", &nobody);
        bare.says(&["inbox"]).await.refused("STEP47_TOKEN");
        let lost = ["plan", "r", "--token", "s47_x"];
        Cli::bare().says(&lost).await.refused("--url");
        assert_eq!(cli.files(), [""; 0]);
    });
}

async fn a_store_that_is_not_ready_is_left_as_it_is(on: Engine) {
    let cli = Cli::bare();
    let url = on.fresh_store(cli.home()).await.expect("a store");
    if on == Engine::Sqlite {
        cli.file("step47.db", "");
    }
    for _ in 0..2 {
        let said = cli.says(&["runs", "list", "--store", &url]).await;
        said.refused("step47 migrate");
    }
    cli.says(&["migrate", "--store", &url]).await.done();
    let said = cli.says(&["runs", "list", "--store", &url]).await;
    assert!(said.done().starts_with("No runs in "), "{said:?}");
}

both_engines!(
    a_server_and_its_store_say_the_same,
    what_waits_what_was_noted_and_what_was_done_can_be_read,
    who_finds_nothing_is_told_where_it_was_looked_for,
    a_flag_wins_over_the_environment_and_a_server_over_a_store,
    a_store_that_is_not_ready_is_left_as_it_is,
);
