//! The browser tests in `end2end/`: Playwright with the installed Chromium, against the built server.

use std::process::Command;

use anyhow::Result;

use crate::{install, process, server, workspace::Workspace};

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let chromium = install::chromium()?;
    let directory = workspace.end2end();
    install::npm_packages(&directory)?;
    let npx = |program: &str| {
        let mut npx = Command::new("npx");
        npx.args(["--no-install", program]).current_dir(&directory);
        npx
    };
    process::step("check the types of end2end/", || {
        process::run(npx("tsc").arg("--noEmit"))
    })?;
    let built = server::build(workspace)?;
    process::step("browser tests", || {
        let mut playwright = npx("playwright");
        playwright.args(["test", "--pass-with-no-tests"]).args(args);
        playwright
            .env("STEP47_BIN", &built.binary)
            .env("LEPTOS_SITE_ROOT", &built.site);
        process::run(playwright.env("STEP47_CHROMIUM", &chromium))
    })
}
