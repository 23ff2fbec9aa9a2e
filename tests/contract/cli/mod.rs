//! Operators' decisions from the command line: the same rules as everywhere, by the real binary.

mod bad_orders;
mod demo;
mod editor;
mod gates;
mod licenses;
mod marks;
mod readers;
mod sources;
mod stops;
mod store_orders;
mod watching;
mod ways_out;

use serde_json::{Value, json};

use crate::support::Api;

/// A token of this role on a server that this one administers.
async fn api_as(api: &Api, role: &str) -> Api {
    let made = json!({"change": "create_token", "name": role, "role": role});
    let made = api
        .post("/api/access/change", json!({"change": made}))
        .await;
    let made = made.is(200);
    api.with_token(made["Secret"]["secret"].as_str().expect("a secret"))
}

/// The newest state of a run.
async fn state(api: &Api, run: &str) -> Value {
    let newest = api.run(run).await["snapshot"].as_i64().expect("a number");
    api.snapshot(run, newest).await["state"].clone()
}
