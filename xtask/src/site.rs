//! The site directory: `pkg/` with JavaScript, WASM and CSS, and everything from `public/`; for a release each file
//! also compressed with brotli, once and as small as it goes.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{css, editor, process, supply, wasm, workspace::Workspace};

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// Quick to build; the server reads it from disk.
    Dev,
    /// Small; embedded in the binary.
    Release,
}

impl Kind {
    /// The profile of Cargo.toml that the browser's half is compiled with.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Dev => "wasm-dev",
            Self::Release => "wasm-release",
        }
    }
}

/// Builds the site and returns its directory.
pub fn build(workspace: &Workspace, kind: Kind) -> Result<PathBuf> {
    let compiled = wasm::compile(workspace, kind)?;
    match kind {
        Kind::Dev => {
            let site = workspace.target.join("site");
            let bound = is_newer(&site.join(PKG).join("step47.wasm"), &compiled);
            if !bound {
                bind_anew(&compiled, &site, kind)?;
            }
            add_rest(workspace, &site)?;
            Ok(site)
        }
        Kind::Release => {
            let (site, made) = (
                workspace.target.join("site-release"),
                workspace.target.join("site-release.new"),
            );
            bind_anew(&compiled, &made, kind)?;
            add_rest(workspace, &made)?;
            supply::write_notices(workspace, &made.join(PKG).join("licenses.txt"))?;
            process::step("compress the site (brotli)", || compress_all(&made))?;
            replace(&made, &site)?;
            Ok(site)
        }
    }
}

const PKG: &str = "pkg";

/// A directory with nothing but the bound WASM: no file of an earlier build stays.
fn bind_anew(compiled: &Path, site: &Path, kind: Kind) -> Result<()> {
    if site.exists() {
        fs::remove_dir_all(site)?;
    }
    let pkg = site.join(PKG);
    fs::create_dir_all(&pkg)?;
    wasm::bind(compiled, &pkg, kind)
}

/// Styles, editor and what is public.
fn add_rest(workspace: &Workspace, site: &Path) -> Result<()> {
    let pkg = site.join(PKG);
    let css = css::bundle(&workspace.root.join("style/main.css"))?;
    fs::write(pkg.join("step47.css"), css)?;
    editor::bundle(workspace, &pkg)?;
    copy_all(&workspace.root.join("public"), site)
}

/// Puts what was made in the old one's place; a site that is the same byte by byte stays as it is, so that the server with
/// the site inside is not compiled again.
fn replace(made: &Path, site: &Path) -> Result<()> {
    if site.exists() && contents(made)? == contents(site)? {
        return Ok(fs::remove_dir_all(made)?);
    }
    if site.exists() {
        fs::remove_dir_all(site)?;
    }
    Ok(fs::rename(made, site)?)
}

/// Every file below the directory, by its place in it.
fn contents(directory: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        if path.is_dir() {
            let inside = contents(&path)?;
            files.extend(inside.into_iter().map(|(at, file)| (name.join(at), file)));
        } else {
            files.insert(name, fs::read(&path)?);
        }
    }
    Ok(files)
}

pub fn is_newer(output: &Path, input: &Path) -> bool {
    let changed = |path| fs::metadata(path).and_then(|it| it.modified()).ok();
    changed(output).is_some() && changed(output) > changed(input)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Writes `FILE.br` beside each file that gets at least a tenth smaller; fonts and images are compressed already.
fn compress_all(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            compress_all(&path)?;
            continue;
        }
        let plain = fs::read(&path)?;
        let compressed = compress(&plain)?;
        let worth_it = compressed.len() < plain.len() / 10 * 9;
        if worth_it {
            let mut name = path.clone().into_os_string();
            name.push(".br");
            fs::write(name, &compressed)?;
        }
        let shown = if worth_it {
            format!("{:>8} B brotli", compressed.len())
        } else {
            String::new()
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        eprintln!("   {name:<32} {:>8} B {shown}", plain.len());
    }
    Ok(())
}

fn compress(plain: &[u8]) -> io::Result<Vec<u8>> {
    let best = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        size_hint: plain.len(),
        ..Default::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &plain[..], &mut compressed, &best)?;
    Ok(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shrinks_gets_a_brotli_twin_that_decompresses_to_it() {
        let site = tempfile::tempdir().unwrap();
        let text = "step 47 ".repeat(200);
        fs::create_dir(site.path().join("pkg")).unwrap();
        fs::write(site.path().join("pkg/a.css"), &text).unwrap();
        fs::write(site.path().join("tiny"), "x").unwrap();
        compress_all(site.path()).unwrap();
        let mut restored = Vec::new();
        let compressed = fs::read(site.path().join("pkg/a.css.br")).unwrap();
        brotli::BrotliDecompress(&mut &compressed[..], &mut restored).unwrap();
        assert_eq!(restored, text.as_bytes());
        assert!(!site.path().join("tiny.br").exists());
    }

    #[test]
    fn an_equal_site_is_left_alone_and_another_takes_its_place() {
        let target = tempfile::tempdir().unwrap();
        let (made, site) = (target.path().join("made"), target.path().join("site"));
        let make = |text: &str| {
            fs::create_dir_all(made.join("pkg")).unwrap();
            fs::write(made.join("pkg/a.css"), text).unwrap();
        };
        let written = || {
            fs::metadata(site.join("pkg/a.css"))
                .unwrap()
                .modified()
                .unwrap()
        };
        make("one");
        replace(&made, &site).unwrap();
        let first = written();
        make("one");
        replace(&made, &site).unwrap();
        assert_eq!(written(), first);
        assert!(!made.exists());
        make("two");
        replace(&made, &site).unwrap();
        assert_eq!(fs::read_to_string(site.join("pkg/a.css")).unwrap(), "two");
    }
}
