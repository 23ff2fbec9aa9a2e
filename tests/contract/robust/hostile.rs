//! Peers that mean harm, or are only badly written: half-sent requests, unfinished bodies, wrong tokens, schemas that
//! explode, bodies of millions of values. None of them may cost anyone else anything.

use reqwest::Method;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{
    cast::Part,
    scene::{Scene, SceneHandle},
};
use crate::support::{Answer, eventually, unique};

/// How three of four sockets begin; the fourth sends an unfinished body. None of them ever ends its request.
const HALVES: [&str; 3] = [
    "GET /v1/ru",
    "POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "GET /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /v1/ru",
];
/// What an unfinished body promises, and what comes of it.
const PROMISED: usize = 31 << 20;
const SENT: usize = 2 << 20;

/// How often each attack was refused for what it is, and not only put off.
#[derive(Default)]
pub struct Hostile {
    schemas: AtomicUsize,
    bodies: AtomicUsize,
}

impl Hostile {
    pub fn start(scene: &Scene, sockets: usize) -> Arc<Self> {
        let hostile = Arc::<Self>::default();
        for n in 0..sockets {
            scene.repeat(Duration::from_millis(500), move |place| half_sent(place, n));
        }
        scene.repeat(Duration::from_millis(300), wrong_token);
        let seen = hostile.clone();
        scene.repeat(Duration::from_millis(500), move |place| {
            exploding_schema(place, seen.clone())
        });
        let seen = hostile.clone();
        scene.repeat(Duration::from_secs(2), move |place| {
            millions_of_values(place, seen.clone())
        });
        hostile
    }

    /// Each attack reached what it is aimed at, at least once.
    pub async fn was_refused(&self) {
        let counts = || [&self.schemas, &self.bodies].map(|it| it.load(Ordering::SeqCst));
        eventually("hostile requests are refused", async || {
            counts().into_iter().all(|it| it > 0).then_some(())
        })
        .await;
        let [schemas, bodies] = counts();
        println!("refused: {schemas} hostile schemas, {bodies} bodies of millions of values");
    }
}

/// Sends half a request, and waits until the server hangs up or enough time is over.
async fn half_sent(place: SceneHandle, n: usize) {
    let api = place.api(Part::Flooder);
    let (base, token) = api.parts();
    let Ok(mut socket) = TcpStream::connect(base.trim_start_matches("http://")).await else {
        return;
    };
    let half = match HALVES.get(n % 4) {
        Some(half) => (*half).to_owned(),
        None => format!(
            "POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {PROMISED}\r\n\r\n\
             {{\"agent\": \"{}",
            "x".repeat(SENT)
        ),
    };
    let mut said = [0; 64];
    let talk = async {
        // A server that hung up takes nothing more; what it said before is read all the same.
        let _ = socket.write_all(half.as_bytes()).await;
        socket.read(&mut said).await.unwrap_or(0)
    };
    let length = tokio::select! {
        length = talk => length,
        () = place.rest(Duration::from_secs(3)) => 0,
    };
    let said = String::from_utf8_lossy(&said[..length]).into_owned();
    assert!(!said.starts_with("HTTP/1.1 500"), "{said}");
}

async fn wrong_token(place: SceneHandle) {
    let api = place.api(Part::Hostile).with_token("s47_not_a_token");
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

async fn exploding_schema(place: SceneHandle, seen: Arc<Hostile>) {
    for keyword in ["anyOf", "allOf"] {
        let body = json!({
            "id": unique("schema"), "agent": "hostile", "state": {"n": 1}, "state_schema": doubling(keyword, 25),
        });
        let api = place.api(Part::Hostile);
        if let Ok(answer) = api.try_post("/v1/runs", &body).await {
            refused(&answer, 422, &seen.schemas);
        }
    }
}

/// Small to send, expensive to hold: 4 MB of empty lists, more than a body may have.
async fn millions_of_values(place: SceneHandle, seen: Arc<Hostile>) {
    let lists = format!("[{}[]]", "[],".repeat(1_400_000));
    let body = format!(
        r#"{{"id": "{}", "agent": "hostile", "input": {lists}}}"#,
        unique("lists")
    );
    let request = place.api(Part::Hostile).request(Method::POST, "/v1/runs");
    let request = request
        .header("content-type", "application/json")
        .body(body);
    if let Ok(answer) = Answer::try_to(request, "millions of values".into()).await {
        refused(&answer, 413, &seen.bodies);
    }
}

/// Refused for what it is, which is counted, or put off.
fn refused(answer: &Answer, status: u16, seen: &AtomicUsize) {
    assert!(
        answer.status == status || answer.status == 503,
        "{} {}",
        answer.status,
        answer.text
    );
    if answer.status == status {
        seen.fetch_add(1, Ordering::SeqCst);
    }
}
