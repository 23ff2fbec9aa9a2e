//! The browser tests in `end2end/`: Playwright with the installed Chromium, against the built server.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{
    install, process,
    server::{self, Built},
    workspace::Workspace,
};

/// What drives a browser: Chromium, npm's packages, the built server.
pub struct Browser {
    directory: PathBuf,
    chromium: PathBuf,
    built: Built,
}

impl Browser {
    /// Finds or installs all of it, checks the types of the scripts and builds the server.
    pub fn ready(workspace: &Workspace) -> Result<Self> {
        let chromium = install::chromium()?;
        let directory = workspace.end2end();
        install::npm_packages(&directory)?;
        process::step("check the types of end2end/", || {
            process::run(npx(&directory, "tsc").arg("--noEmit"))
        })?;
        let built = server::build(workspace)?;
        Ok(Self {
            directory,
            chromium,
            built,
        })
    }

    /// A program of npm's packages that finds the browser and the server.
    pub fn npx(&self, program: &str) -> Command {
        let mut npx = npx(&self.directory, program);
        npx.env("STEP47_BIN", &self.built.binary)
            .env("LEPTOS_SITE_ROOT", &self.built.site)
            .env("STEP47_CHROMIUM", &self.chromium);
        npx
    }
}

fn npx(directory: &Path, program: &str) -> Command {
    let mut npx = Command::new("npx");
    npx.args(["--no-install", program]).current_dir(directory);
    npx
}

/// Where Playwright writes what it timed.
pub fn report(workspace: &Workspace) -> PathBuf {
    workspace.target.join("e2e.json")
}

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let browser = Browser::ready(workspace)?;
    process::step("browser tests", || {
        let mut playwright = browser.npx("playwright");
        playwright
            .args(["test", "--pass-with-no-tests"])
            .args(args)
            .env("STEP47_E2E_REPORT", report(workspace));
        process::run(&mut playwright)
    })
}
