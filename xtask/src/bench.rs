//! `cargo xtask bench NAME`: `ui` measures the console in a browser, `snapshots` the states beside other stores; other
//! names are files of `benches/`, run on both engines at full durability.

use std::{fs, process::Command};

use anyhow::Result;
use clap::Args;

use crate::{
    install,
    postgres::{Durability, Postgres, URL_VARIABLE},
    process, release,
    workspace::Workspace,
};

#[derive(Args)]
pub struct Options {
    /// The benchmark: `ui`, or a file of benches/ without .rs
    name: String,
    /// Passed to the benchmark
    #[arg(last = true)]
    args: Vec<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    match options.name.as_str() {
        "ui" => ui(workspace, &options.args),
        "snapshots" => snapshots(workspace, &options.args),
        _ => engines(workspace, options),
    }
}

/// The store of states beside LangGraph's from PyPI and a diff from npm, each installed in the target directory.
fn snapshots(workspace: &Workspace, args: &[String]) -> Result<()> {
    let tmp = workspace.target.join("tmp");
    fs::create_dir_all(&tmp)?;
    let (venv, npm) = (tmp.join("bench-venv"), tmp.join("bench-npm"));
    process::step("install what it is measured beside", || {
        if !venv.join("bin/python").exists() {
            let mut python = Command::new("python3");
            process::run(python.args(["-m", "venv"]).arg(&venv))?;
        }
        let mut pip = Command::new(venv.join("bin/pip"));
        process::run(pip.args(["install", "--quiet", "langgraph-checkpoint-sqlite"]))?;
        fs::create_dir_all(&npm)?;
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--prefix"]).arg(&npm);
        process::run(install.arg("jsondiffpatch"))
    })?;
    process::step("bench snapshots", || {
        let mut cargo = workspace.cargo("bench");
        cargo
            .args(["--features", "ssr", "--bench", "snapshots", "--"])
            .args(args)
            .env("STEP47_BENCH_PYTHON", venv.join("bin/python"))
            .env("STEP47_BENCH_NODE", &npm);
        process::run(&mut cargo)
    })
}

/// The release in Chromium, on a store in the target directory: real disk, where a temporary directory may be memory.
fn ui(workspace: &Workspace, args: &[String]) -> Result<()> {
    let chromium = install::chromium()?;
    let directory = workspace.end2end();
    install::npm_packages(&directory)?;
    release::build(workspace)?;
    let tmp = workspace.target.join("tmp");
    fs::create_dir_all(&tmp)?;
    process::step("bench ui", || {
        let mut playwright = Command::new("npx");
        playwright
            .args(["--no-install", "playwright", "test"])
            .args(["--config", "bench/playwright.config.ts"])
            .args(args)
            .current_dir(&directory)
            .env("STEP47_BIN", release::binary(workspace))
            .env("STEP47_CHROMIUM", &chromium)
            .env("STEP47_LOG", "warn")
            .env("STEP47_BENCH_OUT", tmp.join("bench-ui.json"))
            .env("TMPDIR", &tmp);
        process::run(&mut playwright)
    })
}

fn engines(workspace: &Workspace, options: &Options) -> Result<()> {
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
