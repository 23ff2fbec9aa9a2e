//! The resume plan on the wire.

use serde_json::{Value, json};

use crate::{
    decisions::{charge, crashed, resumes},
    support::{Engine, both_engines},
};

fn actions(plan: &Value) -> Vec<&str> {
    let steps = plan["steps"].as_array().expect("steps");
    steps
        .iter()
        .map(|step| step["action"].as_str().expect("an action"))
        .collect()
}

async fn every_recorded_step_has_its_line_and_announced_ones_are_expected(on: Engine) {
    let api = on.shared().await;
    let plan = json!([{"name": "one"}, {"name": "charge"}, {"key": "mail", "name": "mail", "effect": {"target": "smtp"}}]);
    let agent = api.agent(json!({"plan": plan})).await;
    agent.does("one", json!({"usage": {"cost_usd": 1.5}})).await;
    agent.executes("charge", charge()).await;
    agent.release(json!({})).await.is(200);
    let plan = api.get(&agent.path("plan")).await.is(200);
    assert_eq!(actions(&plan), ["replay", "decide", "expected"]);
    assert_eq!(
        (&plan["steps"][0]["seq"], &plan["steps"][0]["key"]),
        (&json!(1), &json!("one"))
    );
    let held = &plan["steps"][1];
    assert!(
        held["why"].as_str().unwrap().contains("stripe.charges"),
        "{held}"
    );
    assert_eq!(held["effect"]["words"], "charge 12 € to cus_1");
    assert_eq!(held["effect"]["key"], format!("{}:2", agent.run));
    assert!(held["effect"]["window_ends"].is_string());
    assert_eq!(plan["steps"][2]["seq"], Value::Null);
    assert_eq!(plan["saved"]["steps"], 1);
    assert_eq!(plan["saved"]["cost_usd"], 1.5);
    assert_eq!(plan["integrity"]["good"], 1);
    assert_eq!(plan["version"], api.run(&agent.run).await["version"]);
    api.get("/v1/runs/nobody/plan")
        .await
        .refused(404, "not_found");
}

async fn the_plan_follows_the_recovery_rule_and_the_gate(on: Engine) {
    let api = on.shared().await;
    for (recovery, action, status) in [
        ("retry", "execute", "ready"),
        ("check", "check", "ready"),
        ("ask", "decide", "crashed"),
    ] {
        let agent = api.agent(json!({})).await;
        let more = crate::support::merged(charge(), json!({"recovery": recovery}));
        agent.executes("c", more).await;
        agent.release(json!({})).await.is(200);
        let plan = api.get(&agent.path("plan")).await.is(200);
        assert_eq!(actions(&plan), [action], "{recovery}");
        assert_eq!(plan["status"], status);
    }
    let agent = api.agent(json!({})).await;
    agent
        .begin("g", json!({"kind": "gate", "gate": {"title": "?"}}))
        .await
        .is(200);
    agent.release(json!({})).await.is(200);
    assert_eq!(
        actions(&api.get(&agent.path("plan")).await.is(200)),
        ["wait"]
    );
}

async fn references_are_said_to_be_checked_on_resume_then_by_whom(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"version": "3.2.1"})).await;
    let refs = json!({"refs": [{"uri": "file:po.csv", "hash": "a"}]});
    let seq = agent.executes("read", refs.clone()).await;
    agent.commit(seq, 1, json!({})).await.is(200);
    agent.executes("charge", charge()).await;
    agent.release(json!({})).await.is(200);
    let gap = api.get(&agent.path("plan")).await.is(200)["gap"].clone();
    assert_eq!(gap[0]["uri"], "file:po.csv");
    assert_eq!(gap[0]["now"], Value::Null, "checked on resume");
    resumes(&api, &agent.run, json!([{"kind": "skip", "step": 2}])).await;
    let next = api.lease(&agent.run, json!({"worker": "w-2"})).await;
    next.begin("read", refs).await.is(200);
    let gap = api.get(&agent.path("plan")).await.is(200)["gap"].clone();
    assert_eq!(
        (&gap[0]["now"], &gap[0]["checked_by"]),
        (&json!("a"), &json!("w-2"))
    );
    let changed = json!({"refs": [{"uri": "file:po.csv", "hash": "b"}]});
    assert_eq!(next.begin("read", changed).await.is(200)["drift"], true);
    let gap = api.get(&agent.path("plan")).await.is(200)["gap"].clone();
    assert_eq!((&gap[0]["was"], &gap[0]["now"]), (&json!("a"), &json!("b")));
}

async fn the_plan_of_a_held_run_has_a_decision_for_each_crash(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 46).await;
    assert_eq!(seq, 47);
    let plan = api.get(&agent.path("plan")).await.is(200);
    let actions = actions(&plan);
    assert_eq!(actions.iter().filter(|it| **it == "replay").count(), 46);
    assert_eq!(actions[46], "decide");
    assert_eq!(plan["from"], 47);
}

both_engines!(
    every_recorded_step_has_its_line_and_announced_ones_are_expected,
    the_plan_follows_the_recovery_rule_and_the_gate,
    references_are_said_to_be_checked_on_resume_then_by_whom,
    the_plan_of_a_held_run_has_a_decision_for_each_crash,
);
