//! A server process with a store of its own.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use step47::{
    client::{Client, CreateRun, LeaseRun, RunId, Session, State},
    domain::{Run, RunStatus, StepStatus},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::{eventually, found};

/// A term that a busy machine does not miss, and that a crash does not outlive for long.
pub const TTL_MS: i64 = 4_000;
pub const BINARY: &str = env!("CARGO_BIN_EXE_step47");

pub struct Server {
    pub folder: TempDir,
    pub url: String,
    pub token: String,
    pub client: Client,
    child: Child,
    /// The test makes the store fail.
    store_may_fail: AtomicBool,
}

impl Server {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (child, url) = serve(&folder, "127.0.0.1:0").await;
        let token = token(&folder, "agent").await;
        let client = Client::new(&url, &token).unwrap();
        Self {
            folder,
            url,
            token,
            client,
            child,
            store_may_fail: AtomicBool::new(false),
        }
    }

    /// The test makes the store fail: what the server then answers with 500 fails no test. A panic still does.
    pub fn may_fail(&self) {
        self.store_may_fail.store(true, Ordering::Relaxed);
    }

    /// Gone without a goodbye, and back on the same address.
    pub async fn kill_and_start_again(&mut self) {
        self.child.kill().await.unwrap();
        let address = self.url.strip_prefix("http://").unwrap();
        (self.child, _) = serve(&self.folder, address).await;
    }

    /// From now on the server's files grow no further; or, without a limit, again.
    pub async fn limit_files(&self, bytes: &str) {
        let pid = self.child.id().unwrap().to_string();
        let limited = Command::new("prlimit")
            .args(["--pid", &pid, &format!("--fsize={bytes}:")])
            .status()
            .await;
        assert!(limited.expect("prlimit, of util-linux").success());
    }

    /// A client that may decide.
    pub async fn operator(&self) -> Client {
        Client::new(&self.url, &token(&self.folder, "operator").await).unwrap()
    }

    pub async fn run(&self, id: &str) -> Run {
        self.client.run(&id.parse().unwrap()).await.unwrap().run
    }

    pub async fn until_status(&self, id: &str, status: RunStatus) {
        let what = format!("{id} is {status}");
        eventually(&what, async || {
            (self.run(id).await.status == status).then_some(())
        })
        .await;
    }

    pub async fn until_step(&self, id: &str, seq: i64, status: StepStatus) {
        let run: RunId = id.parse().unwrap();
        eventually(&format!("step {seq} of {id} is {status}"), async || {
            let step = self.client.step(&run, seq, 0).await.ok()?;
            (step.step.status == status).then_some(())
        })
        .await;
    }

    /// Opens the run with a lease that does not outlive a crash for long.
    pub async fn open<S: State>(&self, id: &str) -> Session<S> {
        self.client.open(create(id), lease(TTL_MS)).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that ended by itself needs no end.
        let _ = self.child.start_kill();
        while matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let log = log(self.folder.path());
        let found = found::in_log(&log, self.store_may_fail.load(Ordering::Relaxed));
        found::keep(&found);
        if std::thread::panicking() {
            let said = fs::read_to_string(&log).unwrap_or_default();
            eprintln!("--- the server's log ---\n{said}");
        } else if !found.is_empty() {
            panic!("the server panicked or answered 500, whoever asked: {found:#?}");
        }
    }
}

/// What all processes of a server said on stderr.
fn log(folder: &Path) -> PathBuf {
    folder.join("log")
}

pub fn create(id: &str) -> CreateRun {
    CreateRun {
        id: Some(id.parse().unwrap()),
        ..CreateRun::new("test-agent")
    }
}

pub fn lease(ttl_ms: i64) -> LeaseRun {
    LeaseRun {
        ttl_ms,
        ..LeaseRun::from("test-worker")
    }
}

fn store(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("step47.db").display())
}

async fn serve(folder: &TempDir, listen: &str) -> (Child, String) {
    let log = File::options()
        .create(true)
        .append(true)
        .open(log(folder.path()))
        .unwrap();
    // A write past a limit on the size of files is an error and no signal.
    let mut child = Command::new("sh")
        .args(["-c", r#"trap '' XFSZ; exec "$0" "$@""#, BINARY])
        .args(["serve", "--store", &store(folder), "--listen", listen])
        .env("STEP47_LOG", "warn")
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next_line().await.unwrap();
    let url = first
        .as_deref()
        .and_then(|line| line.strip_prefix("listening on "));
    let url = url.expect("the server says where it listens").to_owned();
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

async fn token(folder: &TempDir, role: &str) -> String {
    let output = Command::new(BINARY)
        .args(["token", "create", "--role", role, "--name", "test"])
        .args(["--store", &store(folder)])
        .current_dir(folder.path())
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
