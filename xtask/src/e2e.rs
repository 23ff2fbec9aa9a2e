//! The browser tests in `end2end/`: Playwright with the installed Chromium, against the built server.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{
    found, install, process, release,
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
    /// Finds or installs all of it, checks the types of the scripts and builds the server, unless `STEP47_BIN` names one.
    pub fn ready(workspace: &Workspace) -> Result<Self> {
        Self::with(workspace, || match env::var_os("STEP47_BIN") {
            Some(binary) => Ok(Built {
                binary: binary.into(),
                site: env::var_os("LEPTOS_SITE_ROOT").unwrap_or_default().into(),
            }),
            None => server::build(workspace),
        })
    }

    /// The same with the release: its site is inside.
    pub fn ready_on_release(workspace: &Workspace) -> Result<Self> {
        Self::with(workspace, || {
            release::build(workspace)?;
            Ok(Built {
                binary: release::binary(workspace),
                site: PathBuf::new(),
            })
        })
    }

    fn with(workspace: &Workspace, build: impl FnOnce() -> Result<Built>) -> Result<Self> {
        let chromium = install::chromium()?;
        let directory = workspace.end2end();
        install::npm_packages(&directory)?;
        process::step("check the types of end2end/", || {
            process::run(npx(&directory, "tsc").arg("--noEmit"))
        })?;
        let built = build()?;
        Ok(Self {
            directory,
            chromium,
            built,
        })
    }

    /// A program of npm's packages that finds the browser and the server.
    pub fn npx(&self, program: &str) -> Command {
        let mut npx = npx(&self.directory, program);
        if !self.built.site.as_os_str().is_empty() {
            npx.env("LEPTOS_SITE_ROOT", &self.built.site);
        }
        npx.env("STEP47_BIN", &self.built.binary)
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

pub fn run(workspace: &Workspace, browser: &Browser, args: &[String]) -> Result<()> {
    process::step("browser tests", || {
        let mut playwright = browser.npx("playwright");
        playwright
            .args(["test", "--pass-with-no-tests"])
            .args(args)
            .env("STEP47_E2E_REPORT", report(workspace))
            .env(found::VARIABLE, found::file(workspace));
        process::run(&mut playwright)
    })
}
