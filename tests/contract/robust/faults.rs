//! What is done to the server on purpose, and how it is undone.

use serde_json::json;
use std::{fs, path::PathBuf, process::Command};

use super::{Size, schedule::Fault};
use crate::support::{Answer, DEADLINE, Engine, Server, disk, disk::SmallDisk, eventually};

/// A script that kills PostgreSQL and starts it again; `cargo xtask torture` names it.
const CRASH: &str = "STEP47_TEST_POSTGRES_CRASH";
/// Half-sent requests are cut off soon, so that many come and go while the campaign lasts, and a deploy does not wait
/// for bodies that never end.
const SETTINGS: &str =
    "connections.header_ms = 2000\nconnections.body_ms = 3000\nconnections.shutdown_ms = 4000";
/// What a store that may still write into room it has already is filled up with.
const PAD: usize = 4 << 20;

/// The server that everything happens to.
pub struct Faults {
    pub server: Server,
    /// What each of its processes said.
    logs: Vec<PathBuf>,
    /// The disk of an embedded store, where one may be mounted. After the server, which is gone when its disk is.
    disk: Option<SmallDisk>,
}

impl Faults {
    pub async fn on(engine: Engine, size: &Size) -> Self {
        let disk = match engine {
            Engine::Sqlite => SmallDisk::of(size.disk_mib),
            Engine::Postgres => None,
        };
        let server = match &disk {
            Some(disk) => Server::start_in_with(disk.path(), SETTINGS).await,
            None => Server::start_with(engine, SETTINGS).await,
        };
        server.may_fail();
        let logs = vec![server.log().to_owned()];
        Self { server, logs, disk }
    }

    /// Whether a disk can really be full here.
    pub fn has_a_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Processes that the server has been so far.
    pub fn processes(&self) -> usize {
        self.logs.len()
    }

    /// Until it is over: the server answers again.
    pub async fn happens(&mut self, fault: Fault) {
        match fault {
            Fault::Kill => {
                self.server.restart().await;
                self.logs.push(self.server.log().to_owned());
            }
            Fault::Deploy => {
                self.server.redeploy(DEADLINE).await;
                self.logs.push(self.server.log().to_owned());
            }
            Fault::FullDisk => {
                let disk = self.disk.as_ref().expect("a disk of its own");
                disk.fill();
                self.refuses(&["disk_full"]).await;
                disk.free();
            }
            Fault::IoError => {
                disk::stops_taking_writes(self.server.pid());
                self.refuses(&["io_error", "disk_full"]).await;
                disk::takes_writes_again(self.server.pid());
            }
            Fault::MovedFile => {
                let (file, elsewhere) =
                    (self.server.store.file(""), self.server.store.file(".moved"));
                fs::rename(&file, &elsewhere).expect("moved");
                self.refuses(&["file_gone"]).await;
                fs::rename(&elsewhere, &file).expect("put back");
            }
            Fault::LostDatabase => match std::env::var_os(CRASH) {
                Some(script) => {
                    let crash =
                        tokio::task::spawn_blocking(|| Command::new("sh").arg(script).status());
                    let crashed = crash.await.expect("a thread").expect("a shell");
                    assert!(crashed.success(), "PostgreSQL did not come back");
                }
                None => {
                    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'";
                    self.server.store.administer(cut).await;
                }
            },
        }
        self.is_ready().await;
    }

    /// A write is refused for one of these reasons. Small writes may still find room in the `-wal` that is there, so
    /// these are large, and one of them is too much.
    async fn refuses(&self, reasons: &[&str]) {
        let api = self.server.api();
        let pad = json!({"agent": "pad", "input": "x".repeat(PAD)});
        eventually(&format!("a write is refused: {reasons:?}"), async || {
            let answer = api.try_post("/v1/runs", &pad).await.ok()?;
            assert!(
                matches!(answer.status, 201 | 503),
                "{} {}",
                answer.status,
                answer.text
            );
            let reason = answer.body()["reason"].as_str()?.to_owned();
            reasons.contains(&reason.as_str()).then_some(())
        })
        .await;
    }

    /// The server says that it can work.
    async fn is_ready(&self) {
        let api = self.server.api();
        eventually("/readyz answers 200", async || {
            let request = api.request(reqwest::Method::GET, "/readyz");
            let answer = Answer::try_to(request, "GET /readyz".into()).await.ok()?;
            assert!(matches!(answer.status, 200 | 503), "{answer:?}");
            (answer.status == 200).then_some(())
        })
        .await;
    }

    /// Every seal and both chains hold.
    pub async fn store_is_sound(&self) {
        let verified = self.server.store.command(&["verify"]).await;
        assert!(verified.status.success(), "{verified:?}");
    }

    pub fn nobody_panicked(&self) {
        for log in &self.logs {
            let said = fs::read(log).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let panicked = said.lines().find(|line| line.contains("panicked"));
            assert_eq!(panicked, None, "in {}", log.display());
        }
    }
}
