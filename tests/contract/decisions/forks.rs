//! Forks: a new run with the same past, and a way of its own.

use serde_json::json;

use super::{charge, crashed};
use crate::support::{Engine, Server, both_engines, unique};

async fn a_fork_shares_its_past_and_goes_its_own_way(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 3).await;
    let id = unique("fork");
    let before = agent.facts().await;
    let body = json!({"kind": "fork", "step": seq, "again": [seq], "new_run_id": id, "reason": "try again"});
    let answer = api.decide(&agent.run, body).await.is(200);
    assert_eq!(answer["run"]["id"], id);
    assert_eq!(answer["run"]["status"], "ready");
    assert_eq!(
        answer["run"]["parent"],
        json!({"run": agent.run, "seq": seq})
    );
    assert_eq!(answer["decision"]["new_run"], id);
    assert_eq!(
        api.run(&agent.run).await["version"],
        before["run"]["version"],
        "a fork moves no version"
    );
    for n in 0..=3 {
        let (mine, theirs) = (
            api.snapshot(&id, n).await,
            api.snapshot(&agent.run, n).await,
        );
        assert_eq!(
            (&mine["state"], &mine["hash"]),
            (&theirs["state"], &theirs["hash"])
        );
    }
    let next = api.lease(&id, json!({})).await;
    assert_eq!(next.lease["state"], json!({"n": 3}));
    for i in 0..3 {
        let replay = next.begin(&format!("s{i}"), json!({})).await.is(200);
        assert_eq!(
            (&replay["outcome"], &replay["result"]),
            (&json!("replay"), &json!(i))
        );
    }
    let begun = next.begin("charge", charge()).await.is(200);
    assert_eq!(begun["outcome"], "execute");
    assert_eq!(
        begun["idempotency_key"],
        format!("{id}:{seq}"),
        "another key than the origin's"
    );
    let patch = json!([{"op": "replace", "path": "/n", "value": 9}]);
    assert_eq!(
        next.commit(seq, 1, json!({"patch": patch})).await.is(200)["snapshot"],
        4
    );
    next.does(
        "after",
        json!({"patch": [{"op": "add", "path": "/m", "value": 1}]}),
    )
    .await;
    assert_eq!(api.snapshot(&id, 4).await["state"], json!({"n": 9}));
    assert_eq!(api.snapshot(&id, 5).await["state"], json!({"n": 9, "m": 1}));
    assert_eq!(
        agent.facts().await["steps"],
        before["steps"],
        "the origin is as it was"
    );
    next.release(json!({})).await.is(200);
}

async fn a_fork_of_a_fork_reads_all_its_past(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    agent.does("a", json!({"state": {"n": 1}})).await;
    let first = api
        .decide(&agent.run, json!({"kind": "fork"}))
        .await
        .is(200)["run"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let worker = api.lease(&first, json!({})).await;
    worker.does("b", json!({"state": {"n": 2}})).await;
    let second = api.decide(&first, json!({"kind": "fork"})).await.is(200)["run"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (n, run) in [(0, 0), (1, 1), (2, 2)] {
        assert_eq!(api.snapshot(&second, n).await["state"], json!({"n": run}));
    }
    let worker = api.lease(&second, json!({})).await;
    assert_eq!(
        worker.begin("a", json!({})).await.is(200)["outcome"],
        "replay"
    );
    assert_eq!(
        worker.begin("b", json!({})).await.is(200)["outcome"],
        "replay"
    );
    worker.does("c", json!({"state": {"n": 3}})).await;
    let taken = api
        .decide(&agent.run, json!({"kind": "fork", "new_run_id": first}))
        .await;
    taken.refused(409, "run_conflict");
}

/// What is copied was looked at before it is copied: a run that goes on meanwhile is forked as it is in the end.
async fn a_run_that_goes_on_is_forked_as_a_whole(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let works = async {
        for i in 1..=60 {
            let seq = agent.executes(&format!("s{i}"), json!({})).await;
            let body = json!({"result": i, "state": {"n": i}});
            agent.commit(seq, 1, body).await.is(200);
        }
    };
    let forks = async {
        let mut forks = Vec::new();
        for _ in 0..6 {
            let body = json!({"kind": "fork", "reason": "look"});
            let answer = api.decide(&agent.run, body).await.is(200);
            forks.push(answer["run"].clone());
        }
        forks
    };
    let ((), forks) = tokio::join!(works, forks);
    for fork in forks {
        let id = fork["id"].as_str().expect("an id");
        let steps = api.get(&format!("/v1/runs/{id}/steps?limit=1000")).await;
        let steps = steps.is(200)["steps"].clone();
        let steps = steps.as_array().expect("steps");
        let committed = steps.iter().filter(|it| it["status"] == "committed");
        let committed = committed.count();
        assert!(steps.len() <= committed + 1, "{steps:?}");
        let worker = api.lease(id, json!({})).await;
        assert_eq!(worker.lease["state"], json!({"n": committed}));
    }
    let verified = server.store.command(&["verify"]).await;
    assert!(verified.status.success(), "{verified:?}");
}

both_engines!(
    a_run_that_goes_on_is_forked_as_a_whole,
    a_fork_shares_its_past_and_goes_its_own_way,
    a_fork_of_a_fork_reads_all_its_past,
);
