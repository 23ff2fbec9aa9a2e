//! `step47 demo`, the first thing that a newcomer runs: it starts from nothing, tells its story and stops what it started.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
    sync::mpsc::channel,
    time::{Duration, Instant},
};

use crate::support::{Cli, block_on, eventually, found, signal};

/// Its story has a lease that must run out.
const STORY: Duration = Duration::from_secs(180);

/// Ends with the test, however that ends: the demo then stops what it started. With what it says on stderr.
struct Demo(Child, PathBuf);

impl Drop for Demo {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            signal(self.0.id(), "TERM");
        }
        let found = found::in_log(&self.1, false);
        found::keep(&found);
        assert!(
            found.is_empty() || std::thread::panicking(),
            "the demo panicked or answered 500: {found:#?}"
        );
    }
}

#[test]
fn the_demo_tells_its_story_from_an_empty_folder() {
    let cli = Cli::bare();
    let mut command = cli.command(&["demo", "--listen", "127.0.0.1:0", "--history", "20"]);
    let log = cli.home().join("log");
    command.stdout(Stdio::piped());
    command.stderr(File::create(&log).expect("a file"));
    let mut demo = Demo(command.spawn().expect("it starts"), log);
    let out = BufReader::new(demo.0.stdout.take().expect("its output"));
    let (told, lines) = channel();
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            // The test is over.
            if told.send(line).is_err() {
                return;
            }
        }
    });
    let (mut said, end) = (Vec::new(), Instant::now() + STORY);
    let opens = |it: &String| it.starts_with("sign in: http://127.0.0.1:");
    while !said.iter().any(opens) {
        let left = end.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left);
        said.push(line.unwrap_or_else(|why| panic!("{why}, after {said:#?}")));
    }
    for part in [
        "crashed mid-flight",
        "asks you",
        "is done",
        "failed for good",
        "doc-indexer",
    ] {
        assert!(said.iter().any(|it| it.contains(part)), "{part}: {said:#?}");
    }
    signal(demo.0.id(), "TERM");
    block_on(async {
        let ended = eventually("it stops", async || demo.0.try_wait().expect("a child")).await;
        assert!(ended.success(), "{ended}");
    });
}
