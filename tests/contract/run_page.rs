//! What a run's page reads: its run once, however many parts of the page show something of it.

use serde_json::json;
use std::fs;

use crate::support::{Engine, Server, both_engines, eventually};

/// How often the server read a run's row, and what is large in it (input, result), from this byte of its log on.
fn reads_of_runs(server: &Server, from: usize) -> (usize, usize) {
    let log = fs::read_to_string(server.log()).expect("the log");
    // Which run of a fork's chain holds a state is another question, asked of the same table.
    let by_id = |line: &&str| {
        line.contains("FROM runs WHERE id = $1") && !line.contains("SELECT parent_run")
    };
    let (large, rows): (Vec<_>, Vec<_>) = log[from..]
        .lines()
        .filter(by_id)
        .partition(|line| line.contains("SELECT input, state_schema, result, error FROM"));
    (rows.len(), large.len())
}

async fn a_runs_page_reads_its_run_once(on: Engine) {
    let server = Server::start_logging(on, "info,sqlx::query=debug").await;
    let api = server.api();
    let plan = json!([{"name": "load"}, {"name": "pay"}, {"name": "later"}]);
    let agent = api.agent(json!({"state": {"n": 0}, "plan": plan})).await;
    agent.does("load", json!({"state": {"n": 1}})).await;
    agent
        .executes("pay", json!({"effect": {"target": "bank"}}))
        .await;
    agent.release(json!({})).await.is(200);
    let fork = json!({"kind": "fork", "step": 2, "again": [2], "new_run_id": "forked"});
    api.decide(&agent.run, fork).await.is(200);
    for path in [
        format!("/runs/{}", agent.run),
        format!("/runs/{}?step=1&tab=state", agent.run),
        format!("/runs/{}?tab=diff", agent.run),
        "/runs/forked".to_owned(),
    ] {
        let from = fs::read(server.log()).expect("the log").len();
        let page = api.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        // A statement is logged when it is over, which may be after its answer.
        eventually("the reads are logged", async || {
            let (rows, large) = reads_of_runs(&server, from);
            (rows > 0 && large > 0).then_some(())
        })
        .await;
        assert_eq!(reads_of_runs(&server, from), (1, 1), "{path}");
    }
}

both_engines!(a_runs_page_reads_its_run_once);
