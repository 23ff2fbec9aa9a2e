//! Schemas of 2 kB that would ask a question 2^25 times: refused where they are registered, with the place and the
//! reason. What is let through is checked beside the writer.

use serde_json::{Map, Value, json};

use crate::support::{Agent, Answer, Engine, both_engines, unique};

/// Each level applies the next one twice.
fn doubling(keyword: &str, levels: usize) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        defs.insert(format!("l{level}"), json!({keyword: [next, next]}));
    }
    defs.insert(format!("l{levels}"), json!({"type": "string"}));
    json!({"$defs": defs, "$ref": "#/$defs/l0"})
}

fn hostile() -> Vec<Value> {
    let repeated = json!({"properties": {"a": {"pattern": "((a{100}){100}){100}"}}});
    let outside = json!({"items": {"$ref": "http://169.254.169.254/latest/meta-data"}});
    let round = json!({"allOf": [{"$ref": "#"}]});
    // By these nothing can be checked: a gate with one could never be answered.
    let unknown = json!({"type": "object", "properties": {"a": {"type": "nope"}}});
    let negative = json!({"properties": {"a": {"minLength": -1}}});
    let unclosed = json!({"properties": {"a": {"pattern": "("}}});
    let foreign = json!({"$schema": "http://example.com/no-such-dialect"});
    vec![
        doubling("anyOf", 25),
        doubling("allOf", 30),
        doubling("oneOf", 40),
        repeated,
        outside,
        round,
        unknown,
        negative,
        unclosed,
        foreign,
    ]
}

/// An expression: each kind holds others, so a checker tries both at every level.
fn expression() -> Value {
    let each = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, "of": {"$ref": "#/$defs/term"}}});
    json!({
        "$defs": {"term": {"anyOf": [each("and"), each("or"), {"type": "string"}]}},
        "$ref": "#/$defs/term",
    })
}

fn term(depth: usize) -> Value {
    (0..depth).fold(json!("x"), |inner, _| json!({"kind": "or", "of": inner}))
}

fn refused(answer: &Answer, path: &str) {
    let problem = answer.refused(422, "invalid");
    let named = problem["path"].as_str().unwrap_or_default();
    assert!(named.starts_with(path), "{problem}");
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|it| it.len() > path.len() + 10),
        "{problem}"
    );
}

async fn a_hostile_schema_is_refused_wherever_it_is_registered(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    for schema in hostile() {
        let id = unique("run");
        let create = json!({"id": id, "agent": "a", "state_schema": schema});
        refused(&api.post("/v1/runs", create).await, "state_schema");
        api.get(&format!("/v1/runs/{id}"))
            .await
            .refused(404, "not_found");
        let free = api.create(json!({})).await;
        let lease = json!({"worker": "w", "state_schema": schema});
        let leased = api.post(&format!("/v1/runs/{free}/lease"), lease).await;
        refused(&leased, "state_schema");
        let gate = json!({"kind": "gate", "gate": {"title": "?", "schema": schema}});
        refused(&agent.begin("g", gate.clone()).await, "gate/schema");
        let next = crate::support::merged(json!({"key": "g", "name": "g"}), gate);
        refused(
            &agent.commit(1, 1, json!({"next": next})).await,
            "next/gate/schema",
        );
    }
    assert_eq!(api.run(&agent.run).await["steps"], 1, "nothing was begun");
}

async fn asked(agent: &Agent, schema: Value) -> i64 {
    let gate = json!({"kind": "gate", "gate": {"title": "Which?", "schema": schema}});
    agent.begin("g", gate).await.is(200)["seq"]
        .as_i64()
        .unwrap()
}

async fn answers_are_checked_by_ordinary_schemas_and_refused_where_that_is_too_much_work(
    on: Engine,
) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = asked(&agent, expression()).await;
    let answer = async |result: Value| {
        let version = api.run(&agent.run).await["version"].clone();
        let body = json!({"kind": "answer", "step": seq, "if_version": version, "result": result});
        api.decide(&agent.run, body).await
    };
    let wrong = answer(json!({"kind": "xor", "of": "x"})).await;
    refused(&wrong, "result");
    let deep = answer(term(100)).await;
    assert!(
        deep.refused(422, "invalid")["detail"]
            .as_str()
            .unwrap()
            .contains("too much work")
    );
    assert_eq!(api.step(&agent.run, seq).await["status"], "waiting");
    answer(term(6)).await.is(200);
    assert_eq!(api.step(&agent.run, seq).await["result"], term(6));
}

async fn an_edit_is_checked_by_the_schema_that_the_run_has_now(on: Engine) {
    let api = on.shared().await;
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "e": expression()["$defs"]["term"]["anyOf"][2]}});
    let agent = api
        .agent(json!({"state": {"n": 1}, "state_schema": schema}))
        .await;
    agent.release(json!({})).await.is(200);
    let edit = async |change: Value| {
        let version = api.run(&agent.run).await["version"].clone();
        let body = crate::support::merged(
            json!({"kind": "edit", "if_version": version, "reason": "r"}),
            change,
        );
        api.decide(&agent.run, body).await
    };
    refused(&edit(json!({"state": {"n": "one"}})).await, "state/n");
    let patch = json!([{"op": "replace", "path": "/n", "value": 1.5}]);
    refused(&edit(json!({"patch": patch})).await, "state/n");
    edit(json!({"patch": [{"op": "replace", "path": "/n", "value": 2}]}))
        .await
        .is(200);
    let texts = json!({"type": "object", "properties": {"n": {"type": "string"}}});
    let again = api.lease(&agent.run, json!({"state_schema": texts})).await;
    again.release(json!({})).await.is(200);
    refused(&edit(json!({"state": {"n": 3}})).await, "state/n");
    edit(json!({"state": {"n": "three"}})).await.is(200);
    let now = api.run(&agent.run).await["snapshot"].as_i64().unwrap();
    assert_eq!(
        api.snapshot(&agent.run, now).await["state"],
        json!({"n": "three"})
    );
}

async fn a_run_cannot_be_named_like_the_folder_above(on: Engine) {
    let api = on.shared().await;
    for id in [".", ".."] {
        let created = api.post("/v1/runs", json!({"id": id, "agent": "a"})).await;
        refused(&created, "id");
    }
    let run = api.create(json!({})).await;
    let fork = json!({"kind": "fork", "new_run_id": ".."});
    refused(&api.decide(&run, fork).await, "new_run_id");
}

both_engines!(
    a_hostile_schema_is_refused_wherever_it_is_registered,
    answers_are_checked_by_ordinary_schemas_and_refused_where_that_is_too_much_work,
    an_edit_is_checked_by_the_schema_that_the_run_has_now,
    a_run_cannot_be_named_like_the_folder_above,
);
