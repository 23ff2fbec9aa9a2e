//! `cargo xtask lint`: clippy on every feature set that is shipped; a warning is an error.

use anyhow::Result;

use crate::{install, process, workspace::Workspace};

/// What each pass is called, and the arguments that choose it. The browser's pass uses the profile of the browser's
/// build, so that both share the proc macros.
const PASSES: [(&str, &[&str]); 4] = [
    (
        "server, with tests",
        &["--features", "ssr", "--all-targets"],
    ),
    (
        "browser",
        &[
            "--features",
            "hydrate",
            "--lib",
            "--target",
            "wasm32-unknown-unknown",
            "--profile",
            "wasm-dev",
        ],
    ),
    ("agents' SDK", &["--features", "client", "--lib"]),
    ("xtask", &["--package", "xtask", "--all-targets"]),
];

pub fn run(workspace: &Workspace) -> Result<()> {
    install::wasm_target()?;
    for (name, args) in PASSES {
        process::step(&format!("lint: {name}"), || {
            process::run(
                workspace
                    .cargo("clippy")
                    .args(args)
                    .args(["--", "--deny", "warnings"]),
            )
        })?;
    }
    Ok(())
}
