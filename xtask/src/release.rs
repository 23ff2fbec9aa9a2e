//! `cargo xtask build`: the release, one binary with the compressed site inside.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};

use crate::{
    process,
    site::{self, Kind},
    supply,
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
    supply::write_sbom(workspace, &binary.with_file_name("step47.cdx.json"))?;
    let bytes = fs::read(&binary)?;
    ensure!(
        holds_site(&bytes, &site)?,
        "{} does not hold the site: does the server still serve it through server::site?",
        binary.display()
    );
    let notices = process::output(Command::new(&binary).arg("licenses"))?;
    ensure!(
        notices.contains("\nleptos "),
        "`{} licenses` does not name what it is made of",
        binary.display()
    );
    eprintln!(
        "\n{}  {:.1} MB, the site inside",
        binary.display(),
        bytes.len() as f64 / 1e6
    );
    Ok(())
}

/// Whether the compressed WASM is in the binary: the linker drops a table that nothing reads.
fn holds_site(binary: &[u8], site: &Path) -> Result<bool> {
    let wasm = fs::read(site.join("pkg/step47.wasm.br"))?;
    let start = &wasm[..wasm.len().min(1024)];
    Ok(binary.windows(start.len()).any(|window| window == start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_without_the_site_is_noticed() {
        let site = tempfile::tempdir().unwrap();
        fs::create_dir(site.path().join("pkg")).unwrap();
        fs::write(site.path().join("pkg/step47.wasm.br"), b"wasm").unwrap();
        assert!(holds_site(b"code wasm data", site.path()).unwrap());
        assert!(!holds_site(b"code data", site.path()).unwrap());
    }
}
