//! The wire: raw JSON out, raw JSON back, and what must hold of every refusal.

use reqwest::{Client, Method, RequestBuilder};
use serde::{
    Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, json};
use std::{collections::HashSet, sync::LazyLock, time::Duration};

use tokio::time::Instant;

use super::{Agent, DEADLINE, pause, unique};

static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(90))
        .build()
        .expect("a client")
});

/// `base` with the fields of `more` in place of its own.
pub fn merged(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}

/// One server as one token sees it.
#[derive(Clone)]
pub struct Api {
    base: String,
    token: Option<String>,
    /// Reads that are put off with 503 are asked again.
    patient: bool,
}

impl Api {
    pub fn new(base: &str, token: &str) -> Self {
        Self {
            base: base.to_owned(),
            token: Some(token.to_owned()),
            patient: false,
        }
    }

    /// To read beside faults: a store that just lost its connections puts reads off, and a client asks again.
    pub fn patient(&self) -> Self {
        Self {
            patient: true,
            ..self.clone()
        }
    }

    /// Its address and token, for another process.
    pub fn parts(&self) -> (&str, &str) {
        (&self.base, self.token.as_deref().unwrap_or_default())
    }

    pub fn with_token(&self, token: &str) -> Self {
        Self::new(&self.base, token)
    }

    pub fn without_token(&self) -> Self {
        Self {
            token: None,
            ..self.clone()
        }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = CLIENT.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        // Not `eventually`: the future of a closure that borrows is not `Send` for every lifetime.
        let end = Instant::now() + DEADLINE;
        loop {
            let answer = self.get_once(path).await;
            if !self.patient || answer.status != 503 {
                return answer;
            }
            assert!(Instant::now() < end, "GET {path}: still put off");
            pause(20).await;
        }
    }

    async fn get_once(&self, path: &str) -> Answer {
        let request = self.request(Method::GET, path);
        let request = request.header("accept", "application/json");
        Answer::to(request, format!("GET {path}")).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.try_post(path, &body)
            .await
            .unwrap_or_else(|e| panic!("POST {path}: {e}"))
    }

    /// Without a word on failure: the server may be gone.
    pub async fn try_post(&self, path: &str, body: &Value) -> Result<Answer, reqwest::Error> {
        let request = self.request(Method::POST, path).json(body);
        Answer::try_to(
            request,
            format!("POST {path} {}", shortened(&body.to_string())),
        )
        .await
    }

    /// With an `Idempotency-Key`.
    pub async fn post_once(&self, key: &str, path: &str, body: Value) -> Answer {
        let request = self.request(Method::POST, path).json(&body);
        let request = request.header("idempotency-key", key);
        Answer::to(request, format!("POST {path} {body} as {key}")).await
    }

    /// More than a server may want to read: it may answer and hang up before it has all, so the connection is not kept.
    pub async fn post_large(&self, path: &str, body: Value) -> Answer {
        let request = self.request(Method::POST, path).json(&body);
        Answer::to(
            request.header("connection", "close"),
            format!("POST {path} (large)"),
        )
        .await
    }

    /// Bytes that may not be JSON at all.
    pub async fn post_bytes(&self, path: &str, body: Vec<u8>) -> Answer {
        let what = format!("POST {path} {}", shortened(&String::from_utf8_lossy(&body)));
        let request = self.request(Method::POST, path).body(body);
        Answer::to(request.header("content-type", "application/json"), what).await
    }

    /// A new run with an id of its own; gives the id.
    pub async fn create(&self, more: Value) -> String {
        let body = merged(json!({"id": unique("run"), "agent": "tests"}), more);
        let made = self.post("/v1/runs", body).await.is(201);
        made["run"]["id"].as_str().expect("an id").to_owned()
    }

    /// A new run, leased.
    pub async fn agent(&self, more: Value) -> Agent {
        let run = self.create(more).await;
        self.lease(&run, json!({})).await
    }

    pub async fn lease(&self, run: &str, more: Value) -> Agent {
        let body = merged(json!({"worker": "w"}), more);
        let worker = body["worker"].as_str().expect("a worker").to_owned();
        let lease = self
            .post(&format!("/v1/runs/{run}/lease"), body)
            .await
            .is(200);
        Agent::new(self, &worker, lease)
    }

    pub async fn decide(&self, run: &str, body: Value) -> Answer {
        self.post(&format!("/v1/runs/{run}/decisions"), body).await
    }

    pub async fn run(&self, id: &str) -> Value {
        self.get(&format!("/v1/runs/{id}")).await.is(200)["run"].clone()
    }

    pub async fn status(&self, id: &str) -> String {
        self.run(id).await["status"]
            .as_str()
            .expect("a status")
            .to_owned()
    }

    pub async fn step(&self, run: &str, seq: i64) -> Value {
        self.get(&format!("/v1/runs/{run}/steps/{seq}"))
            .await
            .is(200)["step"]
            .clone()
    }

    pub async fn snapshot(&self, run: &str, n: i64) -> Value {
        self.get(&format!("/v1/runs/{run}/snapshots/{n}"))
            .await
            .is(200)
    }

    /// All events after `after`, of one run if `of` names it.
    pub async fn events(&self, after: i64, of: Option<&str>) -> Vec<Value> {
        let run = of.map(|run| format!("&run={run}")).unwrap_or_default();
        let mut cursor = after;
        let mut all = Vec::new();
        loop {
            let page = self
                .get(&format!("/v1/events?after={cursor}{run}"))
                .await
                .is(200);
            let events = page["events"].as_array().expect("events").clone();
            if events.is_empty() {
                return all;
            }
            cursor = page["next"].as_i64().expect("a cursor");
            all.extend(events);
        }
    }

    /// All that a refused request must leave as it was: the run, its steps, their attempts, its events.
    pub async fn facts(&self, run: &str) -> Value {
        let steps = self
            .get(&format!("/v1/runs/{run}/steps?limit=1000"))
            .await
            .is(200);
        let mut details = Vec::new();
        for step in steps["steps"].as_array().expect("steps") {
            details.push(self.step(run, step["seq"].as_i64().expect("a seq")).await);
        }
        let head = self
            .events(0, Some(run))
            .await
            .last()
            .map(|e| e["id"].clone());
        json!({"run": self.run(run).await, "steps": details, "head": head})
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], text.len()),
        None => text.to_owned(),
    }
}

/// Whether no field of a JSON object stands twice in it.
fn is_unambiguous(object: &str) -> bool {
    struct Fields;
    impl<'de> Visitor<'de> for Fields {
        type Value = bool;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<bool, M::Error> {
            let mut seen = HashSet::new();
            let mut once = true;
            while let Some((field, _)) = map.next_entry::<String, Value>()? {
                once &= seen.insert(field);
            }
            Ok(once)
        }
    }
    serde_json::Deserializer::from_str(object)
        .deserialize_map(Fields)
        .unwrap_or(false)
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub retry_after: Option<String>,
    pub text: String,
    what: String,
}

impl Answer {
    async fn to(request: RequestBuilder, what: String) -> Self {
        let answer = Self::try_to(request, what.clone()).await;
        answer.unwrap_or_else(|e| panic!("{what}: {e:?}"))
    }

    pub async fn try_to(request: RequestBuilder, what: String) -> Result<Self, reqwest::Error> {
        let response = request.send().await?;
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let answer = Self {
            status: response.status().as_u16(),
            content_type: header("content-type").unwrap_or_default(),
            retry_after: header("retry-after"),
            text: response.text().await?,
            what,
        };
        // Damage that a test planted is `corrupt`; a store that cannot be written is `busy`. Nothing else may fail.
        let failed = answer.status == 500 && answer.code() == "internal";
        assert!(!failed, "{}\n→ {}", answer.what, answer.text);
        Ok(answer)
    }

    pub fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// `code` of a refusal, else nothing.
    pub fn code(&self) -> String {
        self.body()["code"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}\n→ {}", self.what, self.text);
        self.body()
    }

    /// A refusal as RFC 9457 and the protocol want it.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let problem = self.refusal();
        let got = (self.status, problem["code"].as_str().unwrap_or_default());
        assert_eq!(got, (status, code), "{}\n→ {}", self.what, self.text);
        problem
    }

    /// Any refusal: a 4xx with problem+json whose code and status agree.
    #[track_caller]
    pub fn refusal(&self) -> Value {
        let told = format!("{}\n→ {} {}", self.what, self.status, self.text);
        assert!((400..500).contains(&self.status), "not a refusal: {told}");
        assert!(
            self.content_type.starts_with("application/problem+json"),
            "content-type {:?}: {told}",
            self.content_type
        );
        let problem = self.body();
        assert!(problem["code"].is_string(), "no code: {told}");
        if let Some(status) = problem["status"].as_u64() {
            assert_eq!(status, u64::from(self.status), "{told}");
        }
        assert!(is_unambiguous(&self.text), "a field stands twice: {told}");
        let fixed = match problem["code"].as_str().unwrap_or_default() {
            "malformed" => 400,
            "unauthorized" => 401,
            "forbidden" => 403,
            "not_found" => 404,
            "too_large" => 413,
            "invalid" | "patch_failed" => 422,
            _ => self.status,
        };
        assert_eq!(self.status, fixed, "code and status disagree: {told}");
        problem
    }

    /// Bad input: `malformed` or `invalid`, the latter with the field it is about.
    #[track_caller]
    pub fn bad_input(&self, field: &str) {
        let problem = self.refusal();
        let told = format!("{}\n→ {} {}", self.what, self.status, self.text);
        match problem["code"].as_str().unwrap_or_default() {
            "malformed" => {}
            "invalid" => {
                let path = problem["path"].as_str();
                let path = path.unwrap_or_else(|| panic!("invalid without path: {told}"));
                assert!(path.contains(field), "path does not name {field}: {told}");
            }
            code => panic!("{code} is not bad input: {told}"),
        }
    }
}
