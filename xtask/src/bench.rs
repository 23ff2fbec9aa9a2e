//! `cargo xtask bench NAME`: runs `benches/NAME.rs` on both engines, at full durability.

use anyhow::Result;
use clap::Args;

use crate::{
    postgres::{Durability, Postgres, URL_VARIABLE},
    process,
    workspace::Workspace,
};

#[derive(Args)]
pub struct Options {
    /// The benchmark: a file of benches/, without .rs
    name: String,
    /// Passed to the benchmark
    #[arg(last = true)]
    args: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let bench = |cargo_args: &[&str]| {
        let mut cargo = workspace.cargo("bench");
        cargo
            .args(["--features", "ssr", "--bench", &options.name])
            .args(cargo_args);
        cargo
    };
    process::step("compile the benchmark", || {
        process::run(&mut bench(&["--no-run"]))
    })?;
    let postgres = Postgres::start(Durability::Full)?;
    process::step(&format!("bench {}", options.name), || {
        let mut cargo = bench(&["--"]);
        process::run(cargo.args(&options.args).env(URL_VARIABLE, &postgres.url))
    })
}
