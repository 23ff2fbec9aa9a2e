//! The browser's half: compiles the library to WASM and binds it to JavaScript.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;
use wasm_bindgen_cli_support::Bindgen;

use crate::{install, process, site::Kind, workspace::Workspace};

/// The compiled library, not yet bound.
pub fn compile(workspace: &Workspace, kind: Kind) -> Result<PathBuf> {
    install::wasm_target()?;
    process::step(
        &format!("compile the browser's WASM ({})", kind.profile()),
        || process::run(&mut cargo(workspace, kind)),
    )?;
    Ok(workspace
        .target
        .join("wasm32-unknown-unknown")
        .join(kind.profile())
        .join("step47.wasm"))
}

/// The build itself. Only here is the library made into a module of its own: a server or a test would otherwise link
/// all of it once more, for nobody.
pub fn cargo(workspace: &Workspace, kind: Kind) -> Command {
    let mut cargo = workspace.cargo("rustc");
    cargo.args([
        "--lib",
        "--crate-type",
        "cdylib",
        "--features",
        "hydrate",
        "--target",
        "wasm32-unknown-unknown",
        "--profile",
        kind.profile(),
    ]);
    cargo
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
