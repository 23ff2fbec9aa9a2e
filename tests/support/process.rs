//! Child processes that never outlive the tests, however those end.

use std::{
    ffi::OsString,
    fs::File,
    net::TcpListener,
    os::{fd::OwnedFd, unix::process::parent_id},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::found::{self, ANSWERED_500, KEPT, PANICKED};

/// Where it can be set, a bound on a server's memory: what goes wrong there must not take the machine along. A write
/// past a limit on the size of files is an error and no signal: see `disk`.
const BOUNDED: &str = r#"ulimit -v 6000000 2>/dev/null; trap '' XFSZ; exec "$0" "$@""#;

/// The binary that is tested: this build's, or the one that `STEP47_BIN` names, such as a release.
fn binary() -> OsString {
    std::env::var_os("STEP47_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_step47").into())
}

/// The server's binary, away from the settings of whoever runs the tests.
pub fn step47(dir: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", BOUNDED]).arg(binary());
    command.current_dir(dir);
    for (name, _) in std::env::vars() {
        if name.starts_with("STEP47_") {
            command.env_remove(name);
        }
    }
    command
}

/// Where a server is to listen.
pub enum Address {
    /// On an address that it takes itself.
    Own(String),
    /// On a socket that outlives it.
    Held(TcpListener),
}

/// The same command, handed its standard input as a supervisor hands over a socket.
fn held(plain: Command) -> Command {
    let hand_over = r#"exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", hand_over]).arg(binary());
    if let Some(dir) = plain.get_current_dir() {
        command.current_dir(dir);
    }
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Sends a signal by name to one process.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid}")])
        .status()
        .expect("a shell");
    assert!(sent.success(), "kill -{name} {pid}");
}

/// When a process is over, whatever became of the test that started it.
#[derive(Clone, Copy)]
pub enum Until {
    /// The end of these tests' own process.
    Here,
    /// The end of the process that runs tests one by one.
    Runner,
}

/// A running `step47 serve`.
pub struct Process {
    child: Child,
    /// Ends what the tests left behind.
    guard: Child,
    /// What it says on stdout, and what on stderr.
    said: PathBuf,
    log: PathBuf,
    /// The test makes the store fail.
    store_may_fail: Arc<AtomicBool>,
}

/// How a server is started.
pub struct Start<'a> {
    /// Of the store.
    pub url: &'a str,
    pub dir: &'a Path,
    pub name: &'a str,
    /// What the environment tells it.
    pub told: &'a [(&'static str, OsString)],
    pub at: &'a Address,
    pub until: Until,
    pub store_may_fail: Arc<AtomicBool>,
}

impl Process {
    pub fn serve(start: Start<'_>) -> Self {
        let Start {
            url,
            dir,
            name,
            told,
            at,
            until,
            store_may_fail,
        } = start;
        let said = dir.join(format!("{name}.out"));
        let log = dir.join(format!("{name}.log"));
        let (mut command, listen, stdin) = match at {
            Address::Own(listen) => (step47(dir), listen.as_str(), Stdio::null()),
            Address::Held(socket) => {
                let socket = socket.try_clone().expect("a socket");
                let unused = "127.0.0.1:0";
                (held(step47(dir)), unused, OwnedFd::from(socket).into())
            }
        };
        let child = command
            .envs(told.iter().map(|(name, value)| (name, value)))
            .args(["serve", "--store", url, "--listen", listen])
            .stdin(stdin)
            .stdout(File::create(&said).expect("a file"))
            .stderr(File::create(&log).expect("a file"))
            .spawn()
            .expect("the server starts");
        let guard = guard(child.id(), &log, dir, until);
        Self {
            child,
            guard,
            said,
            log,
            store_may_fail,
        }
    }

    /// What it said on stdout so far.
    pub fn said(&self) -> Option<String> {
        std::fs::read_to_string(&self.said).ok()
    }

    /// The address it listens on, once it does.
    pub fn address(&self) -> Option<String> {
        let said = self.said()?;
        let (_, rest) = said.split_once("listening on http://")?;
        let (address, _) = rest.split_once('\n')?;
        Some(format!("http://{}", address.trim()))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: no goodbye.
    pub fn kill(&mut self) {
        let _ = self.guard.kill();
        let _ = self.guard.wait();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Whether it ended by itself.
    pub fn ended(&mut self) -> bool {
        self.exit().is_some()
    }

    /// How it ended by itself.
    pub fn exit(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    pub fn log(&self) -> &Path {
        &self.log
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let found = found::in_log(&self.log, self.store_may_fail.load(Ordering::Relaxed));
        found::keep(&found);
        if std::thread::panicking() {
            eprintln!("--- a server's last words ---\n{}", tail(&self.log));
        } else if !found.is_empty() {
            let last = tail(&self.log);
            panic!("the server panicked or answered 500, whoever asked: {found:#?}\n{last}");
        }
    }
}

/// The end of a log.
pub fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

fn guard(pid: u32, log: &Path, dir: &Path, until: Until) -> Child {
    let (wait, point, signs) = match until {
        // Its input ends with this process. Whether the store was made to fail is not known here.
        Until::Here => ("cat".to_owned(), None, PANICKED.to_owned()),
        Until::Runner => {
            let wait = format!("while kill -0 {}; do sleep 1; done", parent_id());
            let signs = format!("{PANICKED}|{ANSWERED_500}");
            (wait, super::shared::meeting_point(), signs)
        }
    };
    let test = found::test_name();
    let keep = format!(
        r#"if [ -n "${KEPT}" ]; then grep -E "$3" "$2" | while read -r it; do printf '%s\t%s\n' "$4" "$it"; done >>"${KEPT}"; fi"#
    );
    let script = format!(r#"{wait}; kill -9 "$1"; {keep}; shift 4; rm -rf "$@""#);
    Command::new("sh")
        .args(["-c", &script, "guard", &pid.to_string()])
        .arg(log)
        .args([&signs, &test])
        .arg(dir)
        .args(point)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell")
}
