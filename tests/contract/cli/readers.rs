//! Who reads what a command prints may stop at any line.

use serde_json::json;
use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use crate::support::{Engine, Server, both_engines};

/// As `step47 show RUN --at 0 | head -n 1`.
async fn a_reader_that_has_seen_enough_ends_a_command_quietly(on: Engine) {
    let server = Server::start(on).await;
    let long: Vec<_> = (0..100_000).collect();
    let run = server.api().create(json!({"state": long})).await;
    let mut show = Command::new(env!("CARGO_BIN_EXE_step47"))
        .args(["show", &run, "--at", "0", "--store", &server.store.url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut reader = BufReader::new(show.stdout.take().expect("its output"));
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    assert_eq!(line.trim(), "[");
    drop(reader);
    let ended = show.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(said, "", "quietly");
    assert_eq!(ended.status.code(), Some(141), "as any program in a pipe");
}

both_engines!(a_reader_that_has_seen_enough_ends_a_command_quietly);
