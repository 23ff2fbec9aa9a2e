//! Fifty operators race on one run: each version has one winner, nothing is resumed twice, and every loser hears who won.

use serde_json::{Value, json};

use crate::{
    decisions::crashed,
    support::{Engine, both_engines, together},
};

const OPERATORS: usize = 50;

async fn one_decision_wins_each_version(on: Engine) {
    let server = crate::support::Server::start(on).await;
    let admin = server.api();
    let (agent, seq) = crashed(&admin, 1).await;
    let mut operators = Vec::new();
    for i in 0..OPERATORS {
        operators.push(server.api_as("operator", &format!("op-{i}")).await);
    }
    // Each takes what it sees: skips, retries, resumes, pauses; then looks again.
    let run = agent.run.clone();
    let all = together(OPERATORS, |i| {
        let (api, run) = (operators[i].clone(), run.clone());
        async move {
            let mut heard = Vec::new();
            for round in 0..4 {
                let version = api.run(&run).await["version"].as_i64().expect("a version");
                let body = match (i + round) % 3 {
                    0 => json!({"kind": "resume", "choices": [{"kind": "retry", "step": seq}]}),
                    1 => {
                        json!({"kind": "edit", "patch": [{"op": "add", "path": "/by", "value": i}]})
                    }
                    _ => json!({"kind": "retry", "step": seq}),
                };
                let body =
                    crate::support::merged(body, json!({"if_version": version, "reason": "race"}));
                heard.push((version, api.decide(&run, body).await));
            }
            heard
        }
    })
    .await;
    let heard: Vec<_> = all.into_iter().flatten().collect();
    let mut won: Vec<_> = heard
        .iter()
        .filter(|(_, answer)| answer.status == 200)
        .map(|(version, answer)| (*version, answer.body()["decision"].clone()))
        .collect();
    won.sort_by_key(|(version, _)| *version);
    let versions: Vec<_> = won.iter().map(|(version, _)| *version).collect();
    assert!(
        versions.windows(2).all(|pair| pair[0] < pair[1]),
        "two won one version: {versions:?}"
    );
    let resumes = won
        .iter()
        .filter(|(_, decision)| decision["kind"] == "resume");
    assert!(resumes.count() <= 1, "a run is resumed once: {won:?}");
    for (version, answer) in heard.iter().filter(|(_, answer)| answer.status != 200) {
        let problem = answer.refusal();
        match problem["code"].as_str().unwrap() {
            // Somebody resumed it before this one looked.
            "decision_refused" => {}
            "version_conflict" => {
                let winner = won
                    .iter()
                    .find(|(won, _)| won >= version)
                    .map(|(_, decision)| decision);
                let author = winner.map_or(&Value::Null, |decision| &decision["author"]);
                assert_eq!(&problem["decided_by"], author, "{version}: {problem}");
                assert!(problem["decided_at"].is_string(), "{problem}");
            }
            code => panic!("{code}: {problem}"),
        }
    }
    let events = admin.events(0, Some(&run)).await;
    let released = events
        .iter()
        .filter(|event| event["kind"] == "run_status" && event["data"]["to"] == "ready");
    assert!(released.count() <= 1);
}

both_engines!(one_decision_wins_each_version);
