//! The document against the router: nothing is left out, and nothing is left vague.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::{described, protocol};
use crate::{domain::Code, server::router};

/// Path, method, call.
fn calls(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let calls = paths.flat_map(|(path, item)| {
        let calls = item.as_object().into_iter().flatten();
        calls.map(move |(method, call)| (path.as_str(), method.as_str(), call))
    });
    calls.collect()
}

fn responses(call: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = call["responses"].as_object().into_iter().flatten();
    all.map(|(status, response)| (status.as_str(), response))
}

// Asking for the pages' routes needs a runtime.
#[tokio::test]
async fn every_route_is_in_the_document() {
    let routed: BTreeSet<_> = router::declared()
        .unwrap()
        .into_iter()
        .map(|(method, path, _)| (path, method.as_str().to_lowercase()))
        // The document itself aside: it is for everybody, and says nothing about itself.
        .filter(|(path, _)| path.starts_with("/v1/") && path != "/v1/openapi.json")
        .collect();
    let document = described(protocol().router.into_openapi());
    let calls = calls(&document).into_iter();
    let described: BTreeSet<_> = calls
        .map(|(path, method, _)| (path.to_owned(), method.to_owned()))
        .collect();
    assert_eq!(described, routed);
}

#[test]
fn every_call_says_each_status_that_it_may_answer() {
    let document = described(protocol().router.into_openapi());
    for (path, method, call) in calls(&document) {
        let mut expected = vec!["401", "403", "422", "429", "500", "503"];
        if call["requestBody"].is_object() {
            expected.extend(["400", "409", "413"]);
        }
        if path.contains("{id}") {
            expected.push("404");
        }
        for status in expected {
            let content = &call["responses"][status]["content"];
            let schema = &content["application/problem+json"]["schema"];
            assert!(schema.is_object(), "{method} {path} lacks {status}");
        }
        for (status, response) in responses(call) {
            assert!(status.parse::<u16>().is_ok(), "{method} {path}: {status}");
            assert_ne!(response["description"], json!(null), "{method} {path}");
        }
    }
}

#[test]
fn a_handler_describes_its_refusals_by_their_codes_alone() {
    let document = json!(protocol().router.into_openapi());
    for (path, method, call) in calls(&document) {
        for (status, response) in responses(call).filter(|(status, _)| *status >= "400") {
            let words = response["description"].as_str().unwrap_or_default();
            for word in words.split(", ") {
                let code: Result<Code, _> = word.parse();
                let code = code.unwrap_or_else(|why| panic!("{method} {path} {status}: {why}"));
                assert_eq!(code.status().to_string(), status, "{method} {path}: {code}");
            }
        }
    }
}

#[test]
fn every_text_of_a_new_run_has_its_limit() {
    let document = described(protocol().router.into_openapi());
    let fields = &document["components"]["schemas"]["CreateRun"]["properties"];
    let fields = fields.as_object().expect("the fields of a new run");
    for (field, schema) in fields {
        let of = &schema["type"];
        let text = *of == json!("string") || *of == json!(["string", "null"]);
        assert!(!text || schema["maxLength"].is_u64(), "{field}: {schema}");
    }
}
