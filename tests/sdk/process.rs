//! A sample agent in a process of its own, to be killed and stopped.

use std::{collections::BTreeMap, path::PathBuf, process::Stdio};
use tokio::process::{Child, Command};

use crate::server::{BINARY, Server};

/// The agent of the tests: 52 steps, one of which fails once before it works.
pub struct Agent {
    child: Child,
}

/// How a process ended: its code (none if killed), and what it said.
pub struct Ended {
    pub code: Option<i32>,
    pub said: String,
}

impl Agent {
    pub fn start(server: &Server, run: &str, args: &[&str]) -> Self {
        let child = Command::new(BINARY)
            .args(["agent", "invoice-reconciler", "--run", run])
            .arg("--count-file")
            .arg(counts(server, run))
            .args(args)
            .env("STEP47_URL", &server.url)
            .env("STEP47_TOKEN", &server.token)
            .env("STEP47_LOG", "warn")
            .current_dir(server.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self { child }
    }

    pub async fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id().unwrap());
        let done = Command::new("sh").args(["-c", &kill]).status().await;
        assert!(done.unwrap().success());
    }

    /// It ended by a signal, not by itself.
    pub async fn was_killed(self) {
        let Ended { code, said } = self.ended().await;
        assert_eq!(code, None, "{said}");
    }

    pub async fn ended(self) -> Ended {
        let output = self.child.wait_with_output().await.unwrap();
        Ended {
            code: output.status.code(),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn counts(server: &Server, run: &str) -> PathBuf {
    server.folder.path().join(format!("{run}.executed"))
}

/// How often each step of the run was executed, by key.
pub fn executed(server: &Server, run: &str) -> BTreeMap<String, usize> {
    let mut counts_by_key = BTreeMap::new();
    for key in std::fs::read_to_string(counts(server, run))
        .unwrap_or_default()
        .lines()
    {
        *counts_by_key.entry(key.to_owned()).or_default() += 1;
    }
    counts_by_key
}

/// The steps that were executed more than once.
pub fn repeated(server: &Server, run: &str) -> Vec<String> {
    let counts = executed(server, run).into_iter();
    counts.filter(|(_, n)| *n > 1).map(|(key, _)| key).collect()
}
