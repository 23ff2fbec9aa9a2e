//! The JSON editor of `editor/`: CodeMirror bundled into one script that only the edit page loads. Without Node the
//! script is empty, and the page keeps its plain field.

use std::{fs, path::Path, process::Command};

use anyhow::Result;

use crate::{install, process, site::is_newer, workspace::Workspace};

/// What stands in place of the bundle where there is no Node to make it.
const NONE: &str = "// built without Node: the edit page keeps its plain field\n";

/// Writes `editor.js` into `pkg`.
pub fn bundle(workspace: &Workspace, pkg: &Path) -> Result<()> {
    let source = workspace.root.join("editor");
    let output = pkg.join("editor.js");
    if install::find("npm").is_none() {
        eprintln!("\n   Node.js not found: the edit page gets a plain field instead of an editor.");
        return Ok(fs::write(output, NONE)?);
    }
    let inputs = [source.join("editor.js"), source.join("package-lock.json")];
    let made = workspace.target.join("editor.js");
    if !inputs.iter().all(|input| is_newer(&made, input)) {
        install::npm_packages(&source)?;
        process::step("bundle the JSON editor (esbuild)", || {
            let mut esbuild = Command::new("npx");
            esbuild
                .args(["--no-install", "esbuild", "editor.js"])
                .args([
                    "--bundle",
                    "--minify",
                    "--format=esm",
                    "--log-level=warning",
                ])
                .arg(format!("--outfile={}", made.display()))
                .current_dir(&source);
            process::run(&mut esbuild)
        })?;
    }
    fs::copy(made, output)?;
    Ok(())
}
