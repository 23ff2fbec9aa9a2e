//! Two servers on one PostgreSQL are one store.

use serde_json::json;
use std::collections::HashMap;

use crate::support::{
    Agent, Engine, Server, Stream, eventually, ids, is_strictly_rising, on_postgres, together,
};

async fn two_servers_never_hand_one_run_to_two_workers(on: Engine) {
    let (a, b) = pair(on).await;
    let apis = [a.api(), b.api()];
    for i in 0..200 {
        apis[i % 2].create(json!({})).await;
    }
    let claimed = together(16, |i| {
        let api = apis[i % 2].clone();
        let other = apis[(i + 1) % 2].clone();
        async move {
            let worker = format!("w{i}");
            let mut mine = Vec::new();
            loop {
                let body = json!({"worker": worker, "ttl_ms": 60_000});
                let answer = api.post("/v1/claims", body).await;
                if answer.status == 204 {
                    return mine;
                }
                let agent = Agent::new(&api, &worker, answer.is(200));
                agent.executes("one", json!({})).await;
                agent
                    .through(&other)
                    .commit(1, 1, json!({"result": worker}))
                    .await
                    .is(200);
                agent.finish(json!({})).await.is(200);
                mine.push((agent.run, agent.epoch));
            }
        }
    })
    .await
    .concat();
    let mut epochs: HashMap<_, Vec<i64>> = HashMap::new();
    for (run, epoch) in claimed {
        epochs.entry(run).or_default().push(epoch);
    }
    assert_eq!(epochs.len(), 200, "every run was handed out");
    assert!(
        epochs.values().all(|epochs| epochs.len() == 1),
        "{epochs:?}"
    );
    let (from_a, from_b) = (apis[0].events(0, None).await, apis[1].events(0, None).await);
    assert!(is_strictly_rising(&ids(&from_a)));
    assert_eq!(from_a, from_b, "both tell the same history");
}

async fn pair(on: Engine) -> (Server, Server) {
    let a = Server::start(on).await;
    let b = a.another().await;
    (a, b)
}

async fn a_race_for_one_lease_over_two_servers_has_one_winner(on: Engine) {
    let (a, b) = pair(on).await;
    let apis = [a.api(), b.api()];
    for _ in 0..10 {
        let run = apis[0].create(json!({})).await;
        let path = format!("/v1/runs/{run}/lease");
        let answers = together(8, |i| {
            let (api, path) = (apis[i % 2].clone(), path.clone());
            async move {
                api.post(&path, json!({"worker": format!("w{i}")}))
                    .await
                    .status
            }
        })
        .await;
        assert_eq!(
            answers.iter().filter(|&&status| status == 200).count(),
            1,
            "{answers:?}"
        );
    }
}

async fn what_one_server_writes_the_other_tells_at_once(on: Engine) {
    let (a, b) = pair(on).await;
    let agent = a.api().agent(json!({})).await;
    let head = *ids(&a.api().events(0, Some(&agent.run)).await)
        .last()
        .unwrap();
    let mut stream = Stream::open(&b.api(), &format!("?run={}", agent.run), Some(head)).await;
    agent.executes("one", json!({})).await;
    assert_eq!(stream.next().await.expect("an event")["seq"], 1);
    let api = b.api();
    let waiting = tokio::spawn(async move {
        let body = json!({"worker": "w", "agents": ["later"], "wait_ms": 60_000});
        api.post("/v1/claims", body).await
    });
    let started = std::time::Instant::now();
    let run = a.api().create(json!({"agent": "later"})).await;
    assert_eq!(waiting.await.unwrap().is(200)["run"]["id"], json!(run));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

async fn when_one_server_dies_the_other_goes_on(on: Engine) {
    let (mut a, b) = pair(on).await;
    let healthy = a.api().agent(json!({})).await;
    let seq = healthy.executes("one", json!({})).await;
    let run = a.api().create(json!({})).await;
    let silent = a.api().lease(&run, json!({"ttl_ms": 1000})).await;
    silent.executes("one", json!({})).await;
    a.kill();
    let api = b.api();
    eventually("the silent worker's run is ready", async || {
        (api.status(&run).await == "ready").then_some(())
    })
    .await;
    let healthy = healthy.through(&api);
    healthy.heartbeat(json!({})).await.is(200);
    healthy.commit(seq, 1, json!({"state": 1})).await.is(200);
    a.restart().await;
    healthy.through(&a.api()).finish(json!({})).await.is(200);
}

on_postgres!(
    two_servers_never_hand_one_run_to_two_workers,
    a_race_for_one_lease_over_two_servers_has_one_winner,
    what_one_server_writes_the_other_tells_at_once,
    when_one_server_dies_the_other_goes_on,
);
