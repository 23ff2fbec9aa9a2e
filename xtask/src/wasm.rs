//! The browser's half: compiles the library to WASM and binds it to JavaScript.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use wasm_bindgen_cli_support::Bindgen;

use crate::{install, process, site::Kind, workspace::Workspace};

/// The compiled library, not yet bound.
pub fn compile(workspace: &Workspace, kind: Kind) -> Result<PathBuf> {
    install::wasm_target()?;
    let profile = match kind {
        Kind::Dev => "wasm-dev",
        Kind::Release => "wasm-release",
    };
    process::step(&format!("compile the browser's WASM ({profile})"), || {
        let mut cargo = workspace.cargo("build");
        cargo.args([
            "--lib",
            "--features",
            "hydrate",
            "--target",
            "wasm32-unknown-unknown",
            "--profile",
            profile,
        ]);
        process::run(&mut cargo)
    })?;
    Ok(workspace
        .target
        .join("wasm32-unknown-unknown")
        .join(profile)
        .join("step47.wasm"))
}

/// Writes `step47.js` and `step47.wasm` (the name that the pages ask for) into `pkg`.
pub fn bind(wasm: &Path, pkg: &Path, kind: Kind) -> Result<()> {
    process::step("bind it to JavaScript (wasm-bindgen)", || {
        let mut bindgen = Bindgen::new();
        bindgen
            .input_path(wasm)
            .out_name("step47")
            .web(true)?
            .typescript(false);
        if kind == Kind::Release {
            bindgen
                .demangle(false)
                .remove_name_section(true)
                .remove_producers_section(true);
        }
        bindgen.generate(pkg)?;
        fs::rename(pkg.join("step47_bg.wasm"), pkg.join("step47.wasm"))?;
        Ok(())
    })
}
