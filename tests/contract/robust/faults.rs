//! What is done to the server on purpose, and how it is undone.

use std::{path::PathBuf, process::Command};

use super::Size;
use crate::support::{Engine, Server, disk, eventually};

/// A script that kills PostgreSQL and starts it again; `cargo xtask torture` names it.
const CRASH: &str = "STEP47_TEST_POSTGRES_CRASH";
/// Half-sent requests are cut off soon, so that many come and go while the campaign lasts.
const SETTINGS: &str = "connections.header_ms = 2000\nconnections.body_ms = 3000";

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// SIGKILL, and a new process.
    Kill,
    /// No room for another byte, then room again.
    FullDisk,
    /// PostgreSQL killed and started again, or all of its connections cut.
    LostDatabase,
}

impl Fault {
    /// All faults of a campaign that this engine can meet, kinds spread evenly.
    pub fn mixed(on: Engine, size: &Size) -> Vec<Self> {
        let own = match on {
            Engine::Sqlite => (Self::FullDisk, size.full_disks),
            Engine::Postgres => (Self::LostDatabase, size.lost_databases),
        };
        let mut placed: Vec<(f64, Self)> = Vec::new();
        for (fault, count) in [(Self::Kill, size.kills), own] {
            placed.extend((0..count).map(|n| ((n as f64 + 0.5) / count as f64, fault)));
        }
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        placed.into_iter().map(|(_, fault)| fault).collect()
    }
}

/// The server that everything happens to.
pub struct Faults {
    pub server: Server,
    /// What each of its processes said.
    logs: Vec<PathBuf>,
}

impl Faults {
    pub async fn on(engine: Engine) -> Self {
        let server = Server::start_with(engine, SETTINGS).await;
        server.may_fail();
        let logs = vec![server.log().to_owned()];
        Self { server, logs }
    }

    /// Until it is over: the server answers again.
    pub async fn happens(&mut self, fault: Fault) {
        match fault {
            Fault::Kill => {
                self.server.restart().await;
                self.logs.push(self.server.log().to_owned());
            }
            Fault::FullDisk => {
                disk::stops_taking_writes(self.server.pid());
                self.becomes(503).await;
                disk::takes_writes_again(self.server.pid());
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
        self.becomes(200).await;
    }

    /// The server says that it can work, or that it cannot.
    async fn becomes(&self, status: u16) {
        let api = self.server.api();
        eventually(&format!("/readyz answers {status}"), async || {
            (api.get("/readyz").await.status == status).then_some(())
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
            let said = std::fs::read_to_string(log).unwrap_or_default();
            let panicked = said.lines().find(|line| line.contains("panicked"));
            assert_eq!(panicked, None, "in {}", log.display());
        }
    }
}
