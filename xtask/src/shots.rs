//! `cargo xtask shots`: pictures of the console, taken by Playwright: those of the README from the running demo into
//! `docs/images/`; with `--all` every page and state, for reviewing, into the target directory.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use clap::Args;

use crate::{e2e, process, workspace::Workspace};

#[derive(Args)]
pub struct Options {
    /// Take every page and state in both themes at 1440, 1280 and 390 px into shots/ of the target directory, for
    /// reviewing; fails if anything is wider than its screen
    #[arg(long)]
    all: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let browser = e2e::Browser::ready(workspace)?;
    if options.all {
        all(&browser, &workspace.target.join("shots"))
    } else {
        readme(&browser)
    }
}

fn readme(browser: &e2e::Browser) -> Result<()> {
    process::step("take pictures of the demo", || {
        let mut playwright = browser.npx("playwright");
        playwright.args(["test", "--config", "shots/playwright.config.ts"]);
        process::run(&mut playwright)
    })
}

fn all(browser: &e2e::Browser, folder: &Path) -> Result<()> {
    // A picture of a state that is not taken any more would be taken for one of today.
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let taken = process::step("take pictures of every page and state", || {
        let mut playwright = browser.npx("playwright");
        playwright
            .args(["test", "--config", "shots/review.config.ts"])
            .env("STEP47_SHOTS", folder);
        process::run(&mut playwright)
    });
    // Also after a failure: what is too wide is looked at.
    eprintln!("   pictures: {}", folder.display());
    taken
}
