//! `cargo xtask torture`: the tests marked `#[ignore]`, long campaigns of crashes and load that CI does not wait for. They
//! are built as a release, or use the server that `STEP47_BIN` names.

use std::{env, time::SystemTime};

use anyhow::Result;
use clap::Args;

use crate::{
    postgres::{CRASH_VARIABLE, Durability, Postgres, URL_VARIABLE},
    process,
    workspace::Workspace,
};

/// What chance begins from in tests made by proptest.
const CHANCE: &str = "PROPTEST_RNG_SEED";

#[derive(Args)]
pub struct Options {
    /// Passed to the test runner: names of campaigns, or its options
    #[arg(last = true)]
    args: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let postgres = Postgres::start(Durability::Full)?;
    let crash = postgres.crash_script()?;
    process::step("torture", || {
        let mut cargo = workspace.cargo("test");
        // A server that is named is the release already: then the tests need not be one, too.
        if env::var_os("STEP47_BIN").is_none() {
            cargo.arg("--release");
        }
        cargo
            .args(["--features", "ssr", "--", "--ignored", "--nocapture"])
            .args(&options.args);
        if env::var_os(CHANCE).is_none() {
            cargo.env(CHANCE, now_in_nanoseconds().to_string());
        }
        process::run(
            cargo
                .env("STEP47_TORTURE", "1")
                .env(URL_VARIABLE, &postgres.url)
                .env(CRASH_VARIABLE, crash),
        )
    })
}

fn now_in_nanoseconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
