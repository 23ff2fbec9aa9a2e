//! A client that keeps to every limit and asks for as much as they allow: the largest input, states of the largest size,
//! results of very many values, and all of them again as a replay. It hears that they are stored or that the server is
//! busy, and the heartbeats of others are measured beside it.

use reqwest::Method;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{
    cast::Part,
    scene::{Scene, SceneHandle},
};
use crate::support::{Answer, eventually, unique};

/// One value of a large state: sixteen bytes of JSON and a comma.
const ITEM: &str = r#""0123456789abcd""#;

/// How large its requests are.
#[derive(Clone, Copy)]
pub struct Large {
    /// Bytes of a run's input.
    pub input: usize,
    /// Bytes of a state.
    pub state: usize,
    /// Values of a result.
    pub values: usize,
}

pub struct Careless {
    /// Sent once more in each round, under one id: it is parsed and compared anew, and stored once.
    input: String,
    /// The same size as one text and as very many.
    states: [String; 2],
    results: String,
    values: usize,
    under_way: AtomicUsize,
    served: [AtomicUsize; 3],
}

impl Careless {
    pub fn start(scene: &Scene, large: Large) -> Arc<Self> {
        let quoted = |letter: &str, bytes: usize| format!("\"{}\"", letter.repeat(bytes));
        let items = (large.state - 2) / (ITEM.len() + 1);
        let list = format!("{ITEM},").repeat(items - 1);
        let careless = Arc::new(Self {
            input: format!(
                r#"{{"id": "{}", "agent": "careless", "input": {}}}"#,
                unique("input"),
                quoted("x", large.input)
            ),
            states: [quoted("y", large.state - 2), format!("[{list}{ITEM}]")],
            results: format!("[{}[]]", "[],".repeat(large.values - 2)),
            values: large.values - 1,
            under_way: AtomicUsize::new(0),
            served: Default::default(),
        });
        let shared = careless.clone();
        scene.repeat(Duration::from_secs(1), move |place| {
            let careless = shared.clone();
            async move { careless.round(&place).await }
        });
        careless
    }

    /// One of its requests is being answered.
    pub fn is_under_way(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    /// Each kind of its requests was stored at least once, beside everything else.
    pub async fn was_served(&self) {
        eventually("the largest requests are stored", async || {
            let mut counts = self.counts().into_iter();
            counts.all(|it| it > 0).then_some(())
        })
        .await;
        let [inputs, states, results] = self.counts();
        println!(
            "the largest requests: {inputs} inputs, {states} states and {results} results stored"
        );
    }

    fn counts(&self) -> [usize; 3] {
        self.served.each_ref().map(|it| it.load(Ordering::SeqCst))
    }

    async fn round(&self, place: &SceneHandle) {
        let create = "/v1/runs".to_owned();
        if self
            .send(place, &create, self.input.clone())
            .await
            .is_some()
        {
            self.served[0].fetch_add(1, Ordering::SeqCst);
        }
        for state in &self.states {
            let id = unique("state");
            let body = format!(r#"{{"id": "{id}", "agent": "careless", "state": {state}}}"#);
            if self.send(place, &create, body).await.is_some() {
                self.served[1].fetch_add(1, Ordering::SeqCst);
            }
        }
        if self.results(place).await.is_some() {
            self.served[2].fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A run whose one step has a very large result, which is then given back to the agent that begins it again.
    async fn results(&self, place: &SceneHandle) -> Option<()> {
        let id = unique("results");
        let path = |rest: &str| format!("/v1/runs/{id}/{rest}");
        let create = json!({"id": id, "agent": "careless"}).to_string();
        self.send(place, "/v1/runs", create).await?;
        let lease = json!({"worker": id, "ttl_ms": 600_000}).to_string();
        let lease = self.send(place, &path("lease"), lease).await?;
        let epoch = &lease["epoch"];
        let begin = json!({"epoch": epoch, "key": "one", "name": "one"}).to_string();
        let begun = self.send(place, &path("steps"), begin.clone()).await?;
        assert_eq!(begun["outcome"], "execute", "{begun}");
        let commit = format!(
            r#"{{"epoch": {epoch}, "attempt": 1, "result": {}}}"#,
            self.results
        );
        self.send(place, &path("steps/1/commit"), commit).await?;
        let again = self.send(place, &path("steps"), begin).await?;
        assert_eq!(again["outcome"], "replay");
        let values = again["result"].as_array().map(Vec::len);
        assert_eq!(values, Some(self.values), "the result came back changed");
        let finish = json!({"epoch": epoch, "outcome": "done"}).to_string();
        self.send(place, &path("finish"), finish).await?;
        Some(())
    }

    /// What it was answered; nothing if the server was busy, or on its way down or up.
    async fn send(&self, place: &SceneHandle, path: &str, body: String) -> Option<Value> {
        let request = place.api(Part::Careless).request(Method::POST, path);
        let request = request.header("content-type", "application/json");
        let bytes = body.len();
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let what = format!("POST {path} ({bytes} bytes)");
        let answer = Answer::try_to(request.body(body), what).await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        let answer = answer.ok()?;
        let allowed = answer.status < 300 || answer.status == 503;
        assert!(
            allowed,
            "{path}, {bytes} bytes: {} {}",
            answer.status, answer.text
        );
        (answer.status < 300).then(|| answer.body())
    }
}
