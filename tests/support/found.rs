//! What no test passes over: a server that panicked, or that answered 500 where no damage explains it. It is in the
//! server's log, whatever was done with the answer.

use std::{
    env,
    fs::{self, OpenOptions},
    io::Write as _,
    path::Path,
    thread,
};

/// What a panic says of itself.
pub const PANICKED: &str = "panicked at";
/// What the server's log says of each answer of 500 that no damage explains.
pub const ANSWERED_500: &str = "answered 500";
/// The file that `cargo xtask test` reads: a second try that passes hides nothing.
pub const KEPT: &str = "STEP47_FOUND";

/// Panics in this log, and answers of 500 unless the test makes the store fail.
pub fn in_log(log: &Path, store_may_fail: bool) -> Vec<String> {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().peekable();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if line.contains(PANICKED) {
            let why = lines.peek().copied().unwrap_or_default();
            found.push(format!("{line} {why}"));
        } else if line.contains(ANSWERED_500) && !store_may_fail {
            found.push(line.to_owned());
        }
    }
    found
}

/// Keeps what was found for the end of the run, one line each.
pub fn keep(found: &[String]) {
    let Some(file) = env::var_os(KEPT).filter(|_| !found.is_empty()) else {
        return;
    };
    let test = test_name();
    let lines: String = found
        .iter()
        .map(|line| format!("{test}\t{line}\n"))
        .collect();
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .expect("the file that STEP47_FOUND names");
    // In one piece: other tests write to it, too.
    file.write_all(lines.as_bytes())
        .expect("room for what was found");
}

/// The test that runs: nextest starts a process for each and says which.
pub fn test_name() -> String {
    let named = env::var("NEXTEST_TEST_NAME").ok();
    let thread = thread::current().name().map(str::to_owned);
    let thread = thread.filter(|name| name.contains("::"));
    let asked = || env::args().skip(1).find(|it| !it.starts_with('-'));
    let name = named.or(thread).or_else(asked);
    name.unwrap_or_else(|| "a test".to_owned())
}
