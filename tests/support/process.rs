//! Child processes that never outlive the tests, however those end.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tokio::sync::oneshot;

/// Where it can be set, a bound on a server's memory: what goes wrong there must not take the machine along.
const BOUNDED: &str = r#"ulimit -v 6000000 2>/dev/null; exec "$0" "$@""#;

/// The server's binary, away from the settings of whoever runs the tests.
pub fn step47(dir: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", BOUNDED, env!("CARGO_BIN_EXE_step47")]);
    command.current_dir(dir);
    for (name, _) in std::env::vars() {
        if name.starts_with("STEP47_") {
            command.env_remove(name);
        }
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

/// A running `step47 serve`.
pub struct Process {
    child: Child,
    /// Waits for the end of its input, that is of these tests, and ends what they left behind.
    guard: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a server; the receiver gets the address it listens on.
    pub fn serve(url: &str, dir: &Path, log: &str) -> (Self, oneshot::Receiver<String>) {
        let log = dir.join(log);
        let mut child = step47(dir)
            .args(["serve", "--store", url, "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).expect("a log file"))
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("its stdout");
        let (found, address) = oneshot::channel();
        std::thread::spawn(move || {
            let mut found = Some(found);
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let Some((_, address)) = line.split_once("listening on http://") else {
                    continue;
                };
                let address = address.split_whitespace().next().unwrap_or_default();
                if let Some(found) = found.take() {
                    let _ = found.send(format!("http://{address}"));
                }
            }
        });
        let guard = guard(child.id(), dir);
        (Self { child, guard, log }, address)
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
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    pub fn log(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- the server's last words ---\n{}", self.log());
        }
    }
}

fn guard(pid: u32, dir: &Path) -> Child {
    Command::new("sh")
        .args(["-c", r#"cat; kill -9 "$1"; rm -rf "$2""#, "guard"])
        .arg(pid.to_string())
        .arg(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell")
}
