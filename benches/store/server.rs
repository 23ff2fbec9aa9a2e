//! A real server process on a real store, and a client that speaks plain JSON.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

pub struct Server {
    child: Child,
    url: String,
    token: String,
    client: reqwest::Client,
}

/// The server that is measured: this build's, or the one that `STEP47_BIN` names, to hold two builds side by side.
fn binary() -> String {
    std::env::var("STEP47_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_step47").to_owned())
}

impl Server {
    pub async fn start(store: &str) -> Self {
        let binary = binary();
        let binary = binary.as_str();
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--store", store])
            .env("STEP47_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("a pipe");
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let url = lines
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("the server says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        let token = Command::new(binary)
            .args([
                "token", "create", "--role", "admin", "--name", "bench", "--store", store,
            ])
            .output()
            .expect("a token");
        let token = String::from_utf8(token.stdout)
            .expect("text")
            .trim()
            .to_owned();
        // Another server of this process may have done so before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(60))
            .tcp_nodelay(true)
            .build()
            .expect("a client");
        Self {
            child,
            url,
            token,
            client,
        }
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let request = self
            .client
            .post(format!("{}{path}", self.url))
            .bearer_auth(&self.token);
        let response = request.json(&body).send().await.expect("an answer");
        let status = response.status();
        let answer: Value = response.json().await.expect("JSON");
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    /// A run with an empty list of messages, leased; answers its epoch.
    pub async fn open(&self, run: &str) -> Value {
        self.post(
            "/v1/runs",
            json!({"id": run, "agent": "bench", "state": {"messages": []}}),
        )
        .await;
        let lease = json!({"worker": "bench", "ttl_ms": 600_000});
        self.post(&format!("/v1/runs/{run}/lease"), lease).await["epoch"].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An empty database on the PostgreSQL that `cargo xtask bench` started.
pub async fn fresh_database() -> String {
    let admin =
        std::env::var("STEP47_TEST_POSTGRES").expect("run this by `cargo xtask bench store`");
    let name = format!("bench_{}", uuid::Uuid::now_v7().simple());
    let pool = sqlx::PgPool::connect(&admin).await.expect("PostgreSQL");
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&pool)
        .await
        .expect("a database");
    let (server, _) = admin.rsplit_once('/').expect("a database in the URL");
    format!("{server}/{name}")
}
