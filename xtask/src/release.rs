//! `cargo xtask build`: the release, one binary with the compressed site inside.

use std::{fs, path::PathBuf};

use anyhow::Result;

use crate::{
    process,
    site::{self, Kind},
    workspace::Workspace,
};

pub fn binary(workspace: &Workspace) -> PathBuf {
    workspace.target.join("release/step47")
}

pub fn build(workspace: &Workspace) -> Result<()> {
    let site = site::build(workspace, Kind::Release)?;
    process::step("compile the server with the site inside (release)", || {
        let mut cargo = workspace.cargo("build");
        cargo.args(["--release", "--bin", "step47", "--features", "ssr"]);
        process::run(cargo.env("STEP47_SITE", &site))
    })?;
    let binary = binary(workspace);
    let size = fs::metadata(&binary)?.len();
    eprintln!(
        "\n{}  {:.1} MB, the site inside",
        binary.display(),
        size as f64 / 1e6
    );
    Ok(())
}
