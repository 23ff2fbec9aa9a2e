//! What the build and the tests need beside cargo: found, or installed where that is possible (the WASM target with
//! rustup, Debian's packages when root, npm's packages), or asked for by name.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::process;

const WASM: &str = "wasm32-unknown-unknown";

/// Clippy's compiler driver, beside rustc.
pub fn clippy() -> Result<PathBuf> {
    let beside = sysroot()?.join("bin/clippy-driver");
    if beside.is_file() {
        return Ok(beside);
    }
    find("clippy-driver").context("clippy is missing: rustup component add clippy")
}

fn sysroot() -> Result<PathBuf> {
    let said = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    Ok(said.trim().into())
}

pub fn wasm_target() -> Result<()> {
    if sysroot()?
        .join("lib/rustlib")
        .join(WASM)
        .join("lib")
        .is_dir()
    {
        return Ok(());
    }
    if find("rustup").is_none() {
        bail!(
            "Rust's target {WASM} is missing: install it with your package manager, or use rustup"
        );
    }
    process::step(&format!("install Rust's target {WASM}"), || {
        process::run(Command::new("rustup").args(["target", "add", WASM]))
    })
}

/// The directory with PostgreSQL's `initdb` and `pg_ctl`.
pub fn postgres() -> Result<PathBuf> {
    let look = || {
        let on_path = find("initdb").and_then(|initdb| fs::canonicalize(initdb).ok());
        let bin = |initdb: PathBuf| initdb.parent().map(Path::to_owned);
        on_path
            .and_then(bin)
            .filter(|bin| bin.join("pg_ctl").is_file())
            .or_else(debian_postgres)
    };
    found_or_installed("PostgreSQL's server", &["postgresql"], look)
}

/// Debian keeps the server's programs off the PATH: the newest `/usr/lib/postgresql/*/bin`.
fn debian_postgres() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = versions.filter_map(|version| {
        let version = version.ok()?;
        let number: u32 = version.file_name().to_str()?.parse().ok()?;
        Some((number, version.path().join("bin")))
    });
    bins.filter(|(_, bin)| bin.join("initdb").is_file())
        .max()
        .map(|(_, bin)| bin)
}

/// The browser: `STEP47_CHROMIUM`, or one from the PATH.
pub fn chromium() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os("STEP47_CHROMIUM") {
        return Ok(chosen.into());
    }
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome-stable",
        "google-chrome",
    ];
    let look = || names.iter().find_map(|name| find(name));
    found_or_installed(
        "Chromium (or set STEP47_CHROMIUM to its path)",
        &["chromium"],
        look,
    )
}

/// The packages that `directory/package-lock.json` names, in `directory/node_modules`.
pub fn npm_packages(directory: &Path) -> Result<()> {
    found_or_installed("Node.js (20 or newer) with npm", &["nodejs", "npm"], || {
        find("npm")
    })?;
    let changed = |path: PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok();
    let installed = changed(directory.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= changed(directory.join("package-lock.json")) {
        return Ok(());
    }
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    process::step(&format!("install the npm packages of {name}/"), || {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund"])
            .current_dir(directory);
        // The browser is Chromium as installed above, not one that Playwright would download.
        process::run(npm.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"))
    })
}

/// The program `name` on the PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
}

pub fn is_root() -> Result<bool> {
    Ok(process::output(Command::new("id").arg("-u"))?.trim() == "0")
}

fn found_or_installed(
    what: &str,
    debian: &[&str],
    look: impl Fn() -> Option<PathBuf>,
) -> Result<PathBuf> {
    if let Some(found) = look() {
        return Ok(found);
    }
    let packages = debian.join(" ");
    if !Path::new("/etc/debian_version").exists() {
        bail!("{what} is missing: install it (Debian's packages for it: {packages})");
    }
    if !is_root()? {
        bail!("{what} is missing: sudo apt-get install {packages}");
    }
    process::step(&format!("install Debian's {packages}"), || {
        let apt = |args: &[&str]| {
            let mut apt = Command::new("apt-get");
            process::run(
                apt.args(args)
                    .args(["-qq", "-y"])
                    .env("DEBIAN_FRONTEND", "noninteractive"),
            )
        };
        apt(&["update"])?;
        apt(&[&["install", "--no-install-recommends"], debian].concat())
    })?;
    look().with_context(|| format!("{what} is still missing after apt-get install {packages}"))
}
