//! What a run's page reads: a timeline whose size follows the screen, and a list of which only a window is read.

use serde_json::{Value, json};

use crate::support::{Agent, Api, Engine, both_engines};
use step47::domain::Time;

async fn timeline(api: &Api, run: &str, query: Value) -> Value {
    let mut whole = json!({"axis": "time", "window": null, "cells": 60, "fold": null});
    for (name, value) in query.as_object().expect("a query") {
        whole[name] = value.clone();
    }
    let body = json!({"run": run, "query": whole});
    api.post("/api/timeline/read", body).await.is(200)
}

/// Bars as (first step, last step, look).
fn bars(timeline: &Value) -> Vec<(i64, i64, String)> {
    let bar = |bar: &Value| {
        let first = bar[0].as_i64().unwrap();
        let look = bar[4].as_str().unwrap().to_owned();
        (first, first + bar[1].as_i64().unwrap(), look)
    };
    timeline["bars"]
        .as_array()
        .unwrap()
        .iter()
        .map(bar)
        .collect()
}

/// Commits this many steps, each commit beginning the next one; the last one stays open.
async fn works(agent: &Agent, steps: i64) {
    let mut at = agent.begin("s1", json!({"name": "work"})).await.is(200);
    for n in 1..steps {
        let next = json!({"key": format!("s{}", n + 1), "name": "work"});
        let more = json!({"next": next});
        let attempt = at["attempt"].as_i64().unwrap();
        let answer = agent.commit(n, attempt, more).await.is(200);
        at = answer["next"].clone();
    }
}

async fn a_long_run_has_no_more_bars_than_fit_and_loses_no_step(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    works(&agent, 300).await;
    agent.release(json!({})).await.is(200);
    for axis in ["time", "steps"] {
        let drawn = bars(&timeline(&api, &agent.run, json!({"axis": axis})).await);
        assert!(drawn.len() <= 61, "{} bars on {axis}", drawn.len());
        let mut expected = 1;
        for (first, last, _) in &drawn {
            assert_eq!(*first, expected, "steps follow on {axis}: {drawn:?}");
            expected = last + 1;
        }
        assert_eq!(expected, 301, "on {axis}");
        let (_, last, look) = drawn.last().unwrap();
        assert_eq!((*last, look.as_str()), (300, "crashed"), "on {axis}");
        assert!(
            drawn[..drawn.len() - 1]
                .iter()
                .all(|bar| bar.2 == "committed")
        );
    }
}

async fn a_run_without_steps_has_no_bars(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    for axis in ["time", "steps"] {
        let drawn = bars(&timeline(&api, &run, json!({"axis": axis})).await);
        assert_eq!(drawn, [], "on {axis}");
    }
}

async fn a_part_that_fits_is_shown_step_by_step_with_names(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    works(&agent, 100).await;
    let window = json!({"from": 20, "to": 31});
    let part = timeline(&api, &agent.run, json!({"axis": "steps", "window": window})).await;
    let drawn = bars(&part);
    assert_eq!(drawn.len(), 11);
    assert_eq!((drawn[0].0, drawn[10].1), (20, 30));
    assert_eq!(part["bars"][0][6], "work");
    assert_eq!(part["whole"], json!({"from": 1, "to": 101}));
}

async fn tries_gaps_phases_flags_and_children_are_told(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    agent.does("a", json!({})).await;
    let milestone = json!({"name": "Gather", "kind": "milestone"});
    agent.begin("m", milestone).await.is(200);
    agent.commit(2, 1, json!({})).await.is(200);
    let retried = json!({"name": "flaky", "retry": {"max_attempts": 3, "backoff_ms": 0}});
    agent.begin("f", retried.clone()).await.is(200);
    let error = json!({"error": {"kind": "Timeout", "message": "no answer"}});
    agent.fail(3, 1, error).await.is(200);
    let again = agent.begin("f", retried).await.is(200);
    agent
        .commit(3, again["attempt"].as_i64().unwrap(), json!({}))
        .await
        .is(200);
    agent
        .begin(
            "c",
            json!({"name": "charge", "effect": {"target": "stripe"}}),
        )
        .await
        .is(200);
    let child = api
        .create(json!({"parent": {"run": agent.run, "seq": 3}, "title": "A part"}))
        .await;
    agent.release(json!({})).await.is(200);
    api.decide(&agent.run, json!({"kind": "note", "text": "looking"}))
        .await
        .is(200);

    let told = timeline(&api, &agent.run, json!({"fold": false})).await;
    let looks: Vec<_> = bars(&told).into_iter().map(|bar| (bar.0, bar.2)).collect();
    let of = |seq: i64, look: &str| (seq, look.to_owned());
    let expected = [
        of(1, "committed"),
        of(2, "committed"),
        of(3, "failed"),
        of(3, "committed"),
        of(4, "crashed"),
    ];
    assert_eq!(looks, expected);
    let texts: Vec<_> = told["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["text"].clone())
        .collect();
    assert_eq!(texts, ["4 crashed mid-flight", "3 tried twice"]);
    let gap = told["gaps"]
        .as_array()
        .unwrap()
        .last()
        .expect("a gap")
        .clone();
    assert_eq!(gap["open"], true);
    assert_eq!(told["phases"][0]["name"], "Gather");
    assert_eq!(
        (&told["phases"][0]["first"], &told["phases"][0]["last"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(told["phases"][1]["first"], 3);
    assert_eq!(told["flags"][0]["kind"], "note");
    assert_eq!(told["children"][0]["id"], child.as_str());
}

/// A gate under a live lease, and a stop that somebody ended: people took both, whatever else was going on.
async fn what_people_took_is_told_and_takes_no_room(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    agent.does("a", json!({})).await;
    let gate = json!({"name": "ask", "kind": "gate", "gate": {"title": "Go on?"}});
    agent.begin("g", gate).await.is(200);
    let version = api.run(&agent.run).await["version"].clone();
    let approve = json!({"kind": "approve", "step": 2, "if_version": version, "reason": "yes"});
    api.decide(&agent.run, approve).await.is(200);
    agent.commit(2, 1, json!({})).await.is(200);
    agent.executes("b", json!({})).await;
    agent.release(json!({})).await.is(200);
    let version = api.run(&agent.run).await["version"].clone();
    let resume = json!({"kind": "resume", "if_version": version, "reason": "again"});
    api.decide(&agent.run, resume).await.is(200);
    let next = api.lease(&agent.run, json!({})).await;
    next.executes("b", json!({})).await;
    next.commit(3, 2, json!({})).await.is(200);
    next.finish(json!({"outcome": "done"})).await.is(200);

    let told = timeline(&api, &agent.run, json!({})).await;
    let waited: Vec<Value> = told["folds"].as_array().unwrap().clone();
    let waited: Vec<&Value> = waited
        .iter()
        .filter(|it| it["person"].is_object())
        .collect();
    assert_eq!(waited.len(), 2, "{told}");
    let moment = |value: &Value| serde_json::from_value::<Time>(value.clone()).unwrap().0;
    let flags = told["flags"].as_array().unwrap();
    for (fold, flag) in waited.iter().zip(flags) {
        assert_eq!(fold["to"], moment(&flag["at"]), "until the decision");
        assert_eq!(fold["person"]["open"], false);
    }
    let asked = api.step(&agent.run, 2).await;
    assert_eq!(waited[0]["from"], moment(&asked["begun_at"]));
    let shown = timeline(&api, &agent.run, json!({"fold": false})).await;
    assert_eq!(shown["folds"], json!([]), "everything to scale");
}

async fn a_superseded_step_keeps_the_look_it_had(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    agent.does("a", json!({})).await;
    agent.does("b", json!({})).await;
    agent.executes("c", json!({})).await;
    agent.release(json!({})).await.is(200);
    let version = api.run(&agent.run).await["version"].clone();
    let rewind = json!({"kind": "rewind", "step": 2, "if_version": version, "reason": "again"});
    api.decide(&agent.run, rewind).await.is(200);
    for axis in ["time", "steps"] {
        let told = timeline(&api, &agent.run, json!({"axis": axis})).await;
        let mut looked: Vec<(i64, String)> =
            serde_json::from_value(told["superseded"].clone()).unwrap();
        looked.sort();
        let expected = [(2, "committed".to_owned()), (3, "crashed".to_owned())];
        assert_eq!(looked, expected, "on {axis}");
    }
}

async fn a_child_that_runs_is_told_however_many_came_after_it(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("a", json!({})).await;
    let parent = json!({"parent": {"run": agent.run, "seq": 1}});
    let first = api.create(parent.clone()).await;
    api.lease(&first, json!({})).await;
    for _ in 0..54 {
        api.create(parent.clone()).await;
    }
    let told = timeline(&api, &agent.run, json!({})).await;
    let children = told["children"].as_array().unwrap();
    assert_eq!(
        children[0]["id"],
        json!(first),
        "in the order they were made"
    );
    assert_eq!(
        children.len() as i64 + told["children_more"].as_i64().unwrap(),
        55
    );
}

async fn a_window_of_rows_surrounds_the_step_that_matters(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"plan": [{"name": "later"}]})).await;
    works(&agent, 120).await;
    let read = |at: Value, base: Value| {
        let body = json!({"run": agent.run, "at": at, "base": base});
        async { api.post("/api/steps/window", body).await.is(200)["value"].clone() }
    };
    let here = read(Value::Null, Value::Null).await;
    assert_eq!(here["outline"]["steps"], 120);
    let steps = here["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["seq"], 120);
    assert!(steps.len() <= 50);
    assert_eq!(here["outline"]["announced"][0]["name"], "later");
    let first = read(json!(1), Value::Null).await;
    assert_eq!(
        (first["base"].clone(), first["steps"][0]["seq"].clone()),
        (json!(0), json!(1))
    );
    let from = read(Value::Null, json!(30)).await;
    assert_eq!(from["steps"][0]["seq"], 31);
}

async fn steps_are_found_and_problems_walked(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    works(&agent, 60).await;
    agent
        .begin("Charge-7", json!({"name": "charge_card", "kind": "tool"}))
        .await
        .is(200);
    agent.release(json!({})).await.is(200);
    let find = |text: &str| {
        let body = json!({"run": agent.run, "text": text, "after": 0});
        async { api.post("/api/steps/find", body).await.is(200) }
    };
    let seqs = |page: &Value| -> Vec<i64> {
        let steps = page["steps"].as_array().unwrap();
        steps
            .iter()
            .map(|step| step["seq"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(seqs(&find("CHARGE").await), [61]);
    assert_eq!(seqs(&find("charge-7 kind:tool").await), [61]);
    assert_eq!(seqs(&find("status:crashed").await), [60, 61]);
    let many = find("work").await;
    assert_eq!((seqs(&many).len(), many["next"].clone()), (50, json!(50)));
    let problem = |seq: i64, direction: &str| {
        let body = json!({"run": agent.run, "seq": seq, "direction": direction});
        async { api.post("/api/steps/problem", body).await.is(200) }
    };
    assert_eq!(problem(1, "later").await, 60);
    assert_eq!(problem(60, "later").await, 61);
    assert_eq!(problem(61, "later").await, Value::Null);
    assert_eq!(problem(61, "earlier").await, 60);
}

async fn a_steps_events_are_its_own(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    works(&agent, 12).await;
    let body = json!({"run": agent.run, "seq": 5});
    let events = api.post("/api/steps/events", body).await.is(200);
    let kinds: Vec<_> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["kind"].clone())
        .collect();
    assert_eq!(kinds, ["step_begun", "step_committed"]);
    assert!(events.as_array().unwrap().iter().all(|it| it["seq"] == 5));
}

async fn a_commit_says_by_how_much_the_state_grew(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"log": []}})).await;
    let add = |text: &str| json!({"patch": [{"op": "add", "path": "/log/-", "value": text}]});
    agent.does("a", add("0123456789")).await;
    agent.does("b", json!({})).await;
    agent
        .does("c", json!({"patch": [{"op": "remove", "path": "/log/0"}]}))
        .await;
    assert_eq!(api.step(&agent.run, 1).await["state_change"], 12);
    assert_eq!(api.step(&agent.run, 2).await["state_change"], Value::Null);
    assert_eq!(api.step(&agent.run, 3).await["state_change"], -12);
}

/// The picture of a running run is shared for a moment; one that stopped within that moment must not be.
async fn a_run_that_stopped_is_never_shown_as_it_ran(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    works(&agent, 3).await;
    let query = json!({"axis": "steps"});
    let running = bars(&timeline(&api, &agent.run, query.clone()).await);
    assert_eq!(running[2].2, "running");
    agent.release(json!({})).await.is(200);
    let stopped = bars(&timeline(&api, &agent.run, query).await);
    assert_eq!(stopped[2].2, "crashed");
}

async fn a_fork_says_where_its_own_steps_begin(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    for n in 1..=4 {
        agent.does(&format!("s{n}"), json!({})).await;
    }
    let fork = json!({"kind": "fork", "step": 3, "reason": "another way"});
    let made = api.decide(&agent.run, fork).await.is(200);
    let id = made["run"]["id"].as_str().expect("an id");
    let steps = json!({"axis": "steps"});
    let before = timeline(&api, id, steps.clone()).await;
    assert_eq!(before["own"], Value::Null, "nothing of its own yet");
    let next = api.lease(id, json!({})).await;
    next.does("another", json!({})).await;
    let after = timeline(&api, id, steps.clone()).await;
    assert_eq!(after["own"], 3, "{after}");
    let time = timeline(&api, id, json!({"axis": "time"})).await;
    assert_eq!(time["own"], Value::Null, "in time it begins with itself");
    let origin = timeline(&api, &agent.run, steps).await;
    assert_eq!(origin["own"], Value::Null, "{origin}");
}

both_engines!(
    a_fork_says_where_its_own_steps_begin,
    what_people_took_is_told_and_takes_no_room,
    a_superseded_step_keeps_the_look_it_had,
    a_child_that_runs_is_told_however_many_came_after_it,
    a_run_that_stopped_is_never_shown_as_it_ran,
    a_long_run_has_no_more_bars_than_fit_and_loses_no_step,
    a_run_without_steps_has_no_bars,
    a_part_that_fits_is_shown_step_by_step_with_names,
    tries_gaps_phases_flags_and_children_are_told,
    a_window_of_rows_surrounds_the_step_that_matters,
    steps_are_found_and_problems_walked,
    a_steps_events_are_its_own,
    a_commit_says_by_how_much_the_state_grew,
);
