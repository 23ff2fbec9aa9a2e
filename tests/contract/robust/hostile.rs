//! Peers that mean harm, or are only badly written: half-sent requests, unfinished bodies, wrong tokens, schemas that
//! explode, bodies of millions of values. None of them may cost anyone else anything.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::scene::{Scene, SceneHandle};
use crate::support::{Answer, unique};

/// How each of the sockets begins; none of them ever ends its request.
const HALVES: [&str; 4] = [
    "GET /v1/ru",
    "POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 30000000\r\n\r\n{\"agent\": \"",
    "GET /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /v1/ru",
];

pub fn start(scene: &Scene, sockets: usize) {
    for n in 0..sockets {
        scene.repeat(Duration::from_millis(500), move |place| half_sent(place, n));
    }
    scene.repeat(Duration::from_millis(300), wrong_token);
    scene.repeat(Duration::from_millis(500), exploding_schema);
    scene.repeat(Duration::from_secs(2), millions_of_values);
}

/// Sends half a request and waits until the server hangs up.
async fn half_sent(place: SceneHandle, n: usize) {
    let api = place.api();
    let address = api.parts().0.trim_start_matches("http://").to_owned();
    let Ok(mut socket) = TcpStream::connect(address).await else {
        return;
    };
    if socket
        .write_all(HALVES[n % HALVES.len()].as_bytes())
        .await
        .is_ok()
    {
        place.rest(Duration::from_secs(3)).await;
    }
}

async fn wrong_token(place: SceneHandle) {
    let api = place.api().with_token("s47_not_a_token");
    if let Ok(answer) = api.try_post("/v1/claims", &json!({"worker": "w"})).await {
        assert!(matches!(answer.status, 401 | 429 | 503), "{answer:?}");
    }
}

/// Each level names the next one twice: two to the power of `levels` schemas, if one follows them all.
fn doubling(keyword: &str, levels: usize) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), json!({ keyword: [next, next] }));
    }
    definitions.insert(format!("l{levels}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/l0", "$defs": definitions})
}

async fn exploding_schema(place: SceneHandle) {
    for keyword in ["anyOf", "allOf"] {
        let body = json!({
            "id": unique("schema"), "agent": "hostile", "state": {"n": 1}, "state_schema": doubling(keyword, 25),
        });
        if let Ok(answer) = place.api().try_post("/v1/runs", &body).await {
            refused_or_stored(&answer);
        }
    }
}

/// Small to send, expensive to hold: 4 MB of empty lists, two million of them.
async fn millions_of_values(place: SceneHandle) {
    let lists = format!("[{}[]]", "[],".repeat(1_400_000));
    let body = format!(
        r#"{{"id": "{}", "agent": "hostile", "input": {lists}}}"#,
        unique("lists")
    );
    let request = place.api().request(reqwest::Method::POST, "/v1/runs");
    let request = request
        .header("content-type", "application/json")
        .body(body);
    if let Ok(answer) = Answer::try_to(request, "millions of values".into()).await {
        refused_or_stored(&answer);
    }
}

fn refused_or_stored(answer: &Answer) {
    assert!(
        matches!(answer.status, 201 | 413 | 422 | 503),
        "{} {}",
        answer.status,
        answer.text
    );
}
