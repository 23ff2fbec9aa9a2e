//! `cargo xtask test`: everything that CI runs, stage by stage. A failed stage does not hide what the next would say.

use std::{
    env, fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::{
    e2e, found, install, lint,
    postgres::{Durability, Postgres, URL_VARIABLE},
    process, python, report, wire,
    workspace::Workspace,
};

#[derive(Args)]
pub struct Options {
    /// Run these stages alone, e.g. `--only fmt,lint`
    #[arg(long, value_delimiter = ',')]
    only: Vec<Stage>,
    /// Run the browser tests against the release, as it is shipped: slower to build, other timing
    #[arg(long)]
    release: bool,
    /// Passed to the test runners of the stages rust, python, wire and e2e, e.g. `--only rust -- zombie`
    #[arg(last = true)]
    args: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Stage {
    /// The format of the code
    Fmt,
    /// Clippy on every feature set
    Lint,
    /// The Rust tests, on SQLite and on PostgreSQL
    Rust,
    /// The Python SDK: format, lints, types, tests
    Python,
    /// Requests made from `/v1/openapi.json`, right and wrong ones: document and server say the same
    Wire,
    /// The browser tests
    E2e,
}

impl Stage {
    fn run(self, workspace: &Workspace, options: &Options) -> Result<()> {
        let args = &options.args;
        match self {
            Self::Fmt => process::step("format", || {
                process::run(workspace.cargo("fmt").args(["--all", "--check"]))
            }),
            Self::Lint => lint::run(workspace),
            Self::Rust => rust(workspace, args),
            Self::Python => python::run(workspace, args),
            Self::Wire => wire::run(workspace, args),
            Self::E2e if options.release => {
                e2e::run(workspace, &e2e::Browser::ready_on_release(workspace)?, args)
            }
            Self::E2e => e2e::run(workspace, &e2e::Browser::ready(workspace)?, args),
        }
    }
}

pub fn run(workspace: Workspace, options: &Options) -> Result<()> {
    let stages: Vec<Stage> = Stage::value_variants()
        .iter()
        .copied()
        .filter(|stage| options.only.is_empty() || options.only.contains(stage))
        .collect();
    // What was linted is what is tested: one build for both. Without lints, the build is the one that `cargo test` and
    // `cargo xtask demo` use too.
    let workspace = match stages.contains(&Stage::Lint) {
        true => workspace.linting()?,
        false => workspace,
    };
    forget_reports(&workspace)?;
    let mut results: Vec<(Stage, Result<()>, Duration)> = Vec::new();
    for stage in stages {
        let start = Instant::now();
        let result = stage.run(&workspace, options);
        let found = found::take(&found::file(&workspace))?;
        if !found.is_empty() {
            heading("answered 500 or panicked");
            for line in &found {
                eprintln!("   {line}");
            }
        }
        let result = found::judge(result, &found);
        results.push((stage, result, start.elapsed()));
        if process::interrupted() {
            break;
        }
    }
    timed_tests(&workspace)?;
    heading("steps");
    for (title, time) in process::take_steps() {
        eprintln!("   {:>12}  {title}", process::seconds(time));
    }

    heading("stages");
    for (stage, result, time) in &results {
        let name = format!("{stage:?}").to_lowercase();
        match result {
            Ok(()) => eprintln!("   {name:<6} passed in {}", process::seconds(*time)),
            Err(error) => eprintln!(
                "   {name:<6} FAILED in {}: {error:#}",
                process::seconds(*time)
            ),
        }
    }
    let passed = results
        .iter()
        .filter(|(_, result, _)| result.is_ok())
        .count();
    let failed = results.len() - passed;
    println!("{passed} passed, {failed} failed");
    if failed > 0 {
        bail!("not everything passed");
    }
    Ok(())
}

fn heading(title: &str) {
    eprintln!("\n── {title} {}", "─".repeat(97 - title.len()));
}

/// A report of an earlier run says nothing about this one.
fn forget_reports(workspace: &Workspace) -> Result<()> {
    let reports = [
        junit(workspace),
        e2e::report(workspace),
        found::file(workspace),
    ];
    for report in reports {
        if report.exists() {
            fs::remove_file(report)?;
        }
    }
    Ok(())
}

/// The tests that hide a race, and those that took longest.
fn timed_tests(workspace: &Workspace) -> Result<()> {
    let mut tests = report::of_nextest(&junit(workspace));
    tests.extend(report::of_playwright(&e2e::report(workspace))?);
    if tests.is_empty() {
        return Ok(());
    }
    heading("passed at the second try");
    for line in report::flaky(&tests) {
        eprintln!("   {line}");
    }
    heading("slowest tests");
    for line in report::slowest(tests) {
        eprintln!("   {line}");
    }
    Ok(())
}

/// Where `.config/nextest.toml` lets nextest write what it timed.
fn junit(workspace: &Workspace) -> PathBuf {
    workspace.target.join("nextest/default/junit.xml")
}

/// How many tests nextest runs at once, unless the environment or an option says so.
const THREADS: &str = "NEXTEST_TEST_THREADS";

/// Three for each core, as most of them wait; no more than PostgreSQL has connections for.
fn at_once() -> usize {
    let cores = thread::available_parallelism().map_or(2, |it| it.get());
    (3 * cores).clamp(6, 12)
}

/// The tests of the product on both engines, its documentation's examples, and the tests of xtask itself.
fn rust(workspace: &Workspace, args: &[String]) -> Result<()> {
    let nextest = install::find("cargo-nextest").is_some();
    let runner = |package: &[&str]| {
        let mut cargo = workspace.cargo(if nextest { "nextest" } else { "test" });
        if nextest {
            cargo.arg("run");
            if env::var_os(THREADS).is_none() {
                cargo.env(THREADS, at_once().to_string());
            }
        }
        cargo.args(package);
        cargo
    };
    process::step("compile the tests", || {
        process::run(runner(&["--features", "ssr"]).arg("--no-run"))
    })?;
    let postgres = Postgres::start(Durability::None)?;
    process::step("Rust tests on SQLite and PostgreSQL", || {
        process::run(
            runner(&["--features", "ssr"])
                .args(args)
                .env(URL_VARIABLE, &postgres.url)
                .env(found::VARIABLE, found::file(workspace)),
        )
    })?;
    if !args.is_empty() {
        return Ok(());
    }
    if nextest {
        process::step("examples in the documentation", || {
            process::run(workspace.cargo("test").args(["--doc", "--features", "ssr"]))
        })?;
    }
    process::step("tests of xtask", || {
        let mut cargo = workspace.cargo("test");
        process::run(cargo.args(["--quiet", "--package", "xtask"]))
    })
}
