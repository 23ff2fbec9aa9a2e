//! `cargo xtask`: builds, runs and tests Step47 with cargo alone.

mod bench;
mod css;
mod e2e;
mod editor;
mod fixture;
mod found;
mod install;
mod lint;
mod postgres;
mod process;
mod python;
mod release;
mod report;
mod server;
mod shots;
mod site;
mod supply;
mod test;
mod torture;
mod venv;
mod wasm;
mod wire;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Builds, runs and tests Step47.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the release: one binary with the site inside
    Build,
    /// Build the site and the server, then run `step47 serve`
    Serve(server::Run),
    /// Build the site and the server, then run `step47 demo`: a server with sample agents
    Demo(server::Run),
    /// Run everything that CI runs: format, lints, Rust tests on both engines, the Python SDK,
    /// requests made from the OpenAPI document, browser tests
    Test(test::Options),
    /// Run clippy on every feature set (a warning is an error) and check the supply chain against deny.toml
    Lint,
    /// Run a benchmark: `bench store` on both engines, `bench snapshots` beside others, `bench ui` in the browser
    Bench(bench::Options),
    /// Take the README's pictures from the running demo, or with --all pictures of every page and state
    Shots(shots::Options),
    /// Write a small store of the newest schema into tests/fixtures, for later versions to open
    Fixture,
    /// Run the long crash campaigns, which `test` leaves out
    Torture(torture::Options),
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    process::finish_on_signals()?;
    let workspace = Workspace::find()?;
    match cli.command {
        Command::Build => release::build(&workspace),
        Command::Serve(run) => server::run(&workspace, "serve", &run),
        Command::Demo(run) => server::run(&workspace, "demo", &run),
        Command::Test(options) => test::run(workspace, &options),
        Command::Lint => lint::run(&workspace.linting()?),
        Command::Bench(options) => bench::run(&workspace, &options),
        Command::Fixture => fixture::run(&workspace),
        Command::Shots(options) => shots::run(&workspace, &options),
        Command::Torture(options) => torture::run(&workspace, &options),
    }
}
