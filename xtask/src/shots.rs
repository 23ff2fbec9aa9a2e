//! `cargo xtask shots`: the pictures of the README, taken by Playwright from the running demo into `docs/images/`.

use anyhow::Result;

use crate::{e2e, process, workspace::Workspace};

pub fn run(workspace: &Workspace) -> Result<()> {
    let browser = e2e::Browser::ready(workspace)?;
    process::step("take pictures of the demo", || {
        let mut playwright = browser.npx("playwright");
        playwright.args(["test", "--config", "shots/playwright.config.ts"]);
        process::run(&mut playwright)
    })
}
