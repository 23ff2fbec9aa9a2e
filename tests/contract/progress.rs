//! `POST …/progress`: the last partial and a bounded log, shown on the step.

use serde_json::{Value, json};

use crate::support::{Engine, both_engines, is_time};

async fn partial_replaces_and_the_log_grows(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let line = |level: &str, message: &str| json!([{"level": level, "message": message}]);
    agent
        .progress(
            1,
            1,
            json!({"partial": {"pages": 1}, "log": line("info", "page 1")}),
        )
        .await
        .is(204);
    agent
        .progress(1, 1, json!({"partial": {"pages": 2}}))
        .await
        .is(204);
    let answer = agent
        .progress(1, 1, json!({"log": line("warn", "slow")}))
        .await;
    answer.is(204);
    assert_eq!(answer.text, "");
    let step = api.step(&agent.run, 1).await;
    assert_eq!(step["attempts"][0]["partial"], json!({"pages": 2}));
    let log = step["log"].as_array().unwrap();
    let told: Vec<_> = log.iter().map(|l| (&l["level"], &l["message"])).collect();
    assert_eq!(
        told,
        [
            (&json!("info"), &json!("page 1")),
            (&json!("warn"), &json!("slow"))
        ]
    );
    assert!(is_time(&log[0]["at"]), "{}", log[0]);
}

async fn the_log_of_an_attempt_is_bounded_and_keeps_the_newest(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    for block in 0..30 {
        let lines: Vec<Value> = (0..500)
            .map(|i| json!({"level": "info", "message": format!("line {}", block * 500 + i)}))
            .collect();
        agent.progress(1, 1, json!({"log": lines})).await.is(204);
    }
    let step = api.step(&agent.run, 1).await;
    let log = step["log"].as_array().unwrap();
    assert!(log.len() < 15_000, "{} lines", log.len());
    assert_eq!(log.last().unwrap()["message"], "line 14999");
}

async fn progress_is_nothing_for_an_attempt_that_is_over(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({"result": 1})).await;
    let before = agent.facts().await;
    agent.progress(1, 1, json!({"partial": 1})).await.refusal();
    assert_eq!(agent.facts().await, before);
}

async fn progress_of_an_old_epoch_is_lost(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({})).await;
    let new = old.dies().await;
    new.begin("one", json!({})).await.is(200);
    let before = new.facts().await;
    for attempt in [1, 2] {
        old.progress(1, attempt, json!({"partial": "zombie"}))
            .await
            .refused(409, "lease_lost");
    }
    assert_eq!(new.facts().await, before);
}

both_engines!(
    partial_replaces_and_the_log_grows,
    the_log_of_an_attempt_is_bounded_and_keeps_the_newest,
    progress_is_nothing_for_an_attempt_that_is_over,
    progress_of_an_old_epoch_is_lost,
);
