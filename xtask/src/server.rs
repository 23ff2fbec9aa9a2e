//! The server's half in a development build, and the commands that run it.

use std::{env, os::unix::process::CommandExt as _, path::PathBuf, process::Command};

use anyhow::{Context, Result};
use clap::Args;

use crate::{
    process, python, release,
    site::{self, Kind},
    workspace::Workspace,
};

/// Where `step47 demo` looks for a Python with LangGraph.
const DEMO_PYTHON: &str = "STEP47_DEMO_PYTHON";

#[derive(Args)]
pub struct Run {
    /// Build and run the release instead: slower to build, faster to run
    #[arg(long)]
    release: bool,
    /// Passed to step47, e.g. `-- --listen 127.0.0.1:4000`
    #[arg(last = true)]
    args: Vec<String>,
}

/// A development binary. It embeds nothing, so that a change of the site does not rebuild it: it finds the site
/// through `LEPTOS_SITE_ROOT`.
pub struct Built {
    pub binary: PathBuf,
    pub site: PathBuf,
}

pub fn build(workspace: &Workspace) -> Result<Built> {
    let site = site::build(workspace, Kind::Dev)?;
    let binary = compile(workspace)?;
    Ok(Built { binary, site })
}

/// The binary alone, for those who open no page.
pub fn compile(workspace: &Workspace) -> Result<PathBuf> {
    process::step("compile the server", || {
        process::run(
            workspace
                .cargo("build")
                .args(["--bin", "step47", "--features", "ssr"]),
        )
    })?;
    Ok(workspace.target.join("debug/step47"))
}

/// The binary that `STEP47_BIN` names, or else the one that is built here.
pub fn chosen(workspace: &Workspace) -> Result<PathBuf> {
    match env::var_os("STEP47_BIN") {
        Some(binary) => Ok(binary.into()),
        None => compile(workspace),
    }
}

/// Builds and becomes `step47 SUBCOMMAND …`: from here on the terminal and every signal are its own.
pub fn run(workspace: &Workspace, subcommand: &str, run: &Run) -> Result<()> {
    let mut step47 = if run.release {
        release::build(workspace)?;
        Command::new(release::binary(workspace))
    } else {
        let built = build(workspace)?;
        let mut step47 = Command::new(built.binary);
        step47.env("LEPTOS_SITE_ROOT", built.site);
        step47
    };
    if subcommand == "demo" && env::var_os(DEMO_PYTHON).is_none() {
        match python::for_demo(workspace) {
            Ok(python) => _ = step47.env(DEMO_PYTHON, python),
            // The demo says that it goes on without.
            Err(error) => eprintln!("\nno LangGraph for the demo: {error:#}"),
        }
    }
    eprintln!();
    let error = step47
        .current_dir(&workspace.root)
        .arg(subcommand)
        .args(&run.args)
        .exec();
    Err(error).with_context(|| format!("cannot run {}", step47.get_program().display()))
}
