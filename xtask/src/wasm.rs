//! The browser's half: compiles the library to WASM, binds it to JavaScript and, for a release, shrinks it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::{install, process, site::Kind, workspace::Workspace};

/// What rustc's WASM may use and `wasm-opt` must therefore accept.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

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

/// Makes the WASM about half as large, where `wasm-opt` is at hand.
pub fn shrink(workspace: &Workspace, wasm: &Path) -> Result<()> {
    let npm = workspace.end2end().join("node_modules/.bin/wasm-opt");
    let Some(wasm_opt) = install::find("wasm-opt").or_else(|| npm.is_file().then_some(npm)) else {
        eprintln!("\n   wasm-opt not found: the WASM stays about twice as large as it could be.");
        eprintln!("   To shrink it, install Debian's or npm's package binaryen.");
        return Ok(());
    };
    process::step("shrink it (wasm-opt -Oz)", || {
        let before = fs::metadata(wasm)?.len();
        let mut command = Command::new(wasm_opt);
        command
            .arg("-Oz")
            .args(WASM_FEATURES)
            .arg(wasm)
            .arg("-o")
            .arg(wasm);
        process::run(&mut command)?;
        let after = fs::metadata(wasm)?.len();
        ensure!(after > 0, "wasm-opt wrote an empty file");
        eprintln!("   {} KB → {} KB", before / 1000, after / 1000);
        Ok(())
    })
}
