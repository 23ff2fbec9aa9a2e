//! Third-party notices: each crate, npm package and font that is shipped, its licence, and the texts of the licences
//! (each once). They are part of the release's site, and so of the binary: `step47 licenses` prints them.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{
    crates::{self, Shipped},
    npm,
};
use crate::{install, process, workspace::Workspace};

/// Something shipped that somebody else made.
struct Work {
    name: String,
    version: String,
    licence: String,
    /// What it is part of.
    part: String,
    /// Where more is said, if its package holds no text.
    home: String,
    texts: Vec<String>,
}

/// Writes the notices to `file`.
pub fn write(workspace: &Workspace, file: &Path) -> Result<()> {
    process::step("collect third-party notices", || {
        let works = works(workspace)?;
        fs::write(file, render(&works))?;
        let silent = works.iter().filter(|it| it.texts.is_empty()).count();
        eprintln!(
            "   {} works, {silent} of them without a licence text in their package",
            works.len()
        );
        Ok(())
    })
}

fn works(workspace: &Workspace) -> Result<Vec<Work>> {
    let mut works = crates_of(workspace)?;
    works.extend(packages_of(workspace)?);
    works.extend(fonts(&workspace.root.join("public/fonts"))?);
    works.push(standard_library()?);
    Ok(works)
}

fn crates_of(workspace: &Workspace) -> Result<Vec<Work>> {
    let shipped = Shipped::find(workspace)?;
    let mut works = Vec::new();
    for it in crates::all(workspace)?.into_iter().filter(|it| !it.ours) {
        let parts = shipped.parts(&it);
        if !parts.is_empty() {
            works.push(Work {
                texts: texts_below(&it.directory, 2)?,
                version: it.version.to_string(),
                licence: it.licence.unwrap_or_default().replace('/', " OR "),
                part: parts.join(", "),
                home: it.repository.unwrap_or_default(),
                name: it.name,
            });
        }
    }
    Ok(works)
}

/// What the editor is bundled from. Without npm there is no editor in the site either.
fn packages_of(workspace: &Workspace) -> Result<Vec<Work>> {
    let editor = workspace.root.join("editor");
    if install::find("npm").is_none() {
        return Ok(Vec::new());
    }
    install::npm_packages(&editor)?;
    let mut works = Vec::new();
    for it in npm::bundled(&editor)? {
        works.push(Work {
            texts: texts_below(&editor.join(&it.place), 1)?,
            home: format!("https://www.npmjs.com/package/{}", it.name),
            name: it.name,
            version: it.version,
            licence: it.licence.unwrap_or_default(),
            part: "editor".into(),
        });
    }
    Ok(works)
}

/// Each font lies beside its licence: `NAME-OFL.txt`.
fn fonts(directory: &Path) -> Result<Vec<Work>> {
    let mut fonts = Vec::new();
    for path in files(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(name) = name.strip_suffix("-OFL.txt") {
            fonts.push(Work {
                name: format!("{name} (font)"),
                version: String::new(),
                licence: "OFL-1.1".into(),
                part: "browser".into(),
                home: String::new(),
                texts: vec![fs::read_to_string(&path)?],
            });
        }
    }
    Ok(fonts)
}

/// Rust's own library is in the binary too.
fn standard_library() -> Result<Work> {
    let said = process::output(std::process::Command::new("rustc").arg("-V"))?;
    let version = said.split_whitespace().nth(1).context("rustc's version")?;
    Ok(Work {
        name: "Rust standard library".into(),
        version: version.to_owned(),
        licence: "MIT OR Apache-2.0".into(),
        part: "server, browser".into(),
        home: "https://github.com/rust-lang/rust".into(),
        texts: Vec::new(),
    })
}

/// The texts of licences in a package, also of what it carries in a directory of its own (as `zstd-sys` does zstd).
fn texts_below(directory: &Path, depth: usize) -> Result<Vec<String>> {
    const NAMES: [&str; 6] = [
        "license",
        "licence",
        "copying",
        "copyright",
        "notice",
        "unlicense",
    ];
    const CODE: [&str; 4] = ["rs", "js", "ts", "html"];
    let mut texts = Vec::new();
    for path in files(directory)? {
        if path.is_dir() {
            if depth > 1 {
                texts.extend(texts_below(&path, depth - 1)?);
            }
            continue;
        }
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().to_lowercase();
        let code = path
            .extension()
            .is_some_and(|it| CODE.iter().any(|code| it == *code));
        if !code && NAMES.iter().any(|start| name.starts_with(start)) {
            texts.push(String::from_utf8_lossy(&fs::read(&path)?).into_owned());
        }
    }
    Ok(texts)
}

/// What lies in a directory, in the order of names.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut files = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn render(works: &[Work]) -> String {
    // Equal but for line breaks is equal.
    let same = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut page = String::from(
        "Step47 is made with the work of others. Each line names one, its licence, what it is part of, and the \
         numbers of the texts below that its package holds.\n\n",
    );
    for work in works {
        let mut held: Vec<usize> = Vec::new();
        for text in &work.texts {
            let number = *numbers.entry(same(text)).or_insert_with(|| {
                texts.push(text);
                texts.len()
            });
            held.push(number);
        }
        held.sort_unstable();
        held.dedup();
        let shown: Vec<String> = held.iter().map(usize::to_string).collect();
        let texts = match shown.is_empty() {
            true => format!("no text in its package; see {}", work.home),
            false => format!("texts {}", shown.join(", ")),
        };
        let named = format!("{} {}", work.name, work.version);
        let _ = writeln!(
            page,
            "{} | {} | {} | {texts}",
            named.trim_end(),
            work.licence,
            work.part
        );
    }
    for (at, text) in texts.iter().enumerate() {
        let line = "─".repeat(80);
        let _ = write!(
            page,
            "\n{line}\nText {}\n{line}\n\n{}\n",
            at + 1,
            text.trim()
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(name: &str, texts: &[&str]) -> Work {
        Work {
            name: name.into(),
            version: "1.0.0".into(),
            licence: "MIT".into(),
            part: "server".into(),
            home: format!("https://example.com/{name}"),
            texts: texts.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn a_text_stands_once_and_each_work_names_it() {
        let page = render(&[
            work("a", &["Permission\nis granted"]),
            work("b", &["Permission is\r\ngranted", "another"]),
            work("c", &[]),
        ]);
        assert!(
            page.contains("a 1.0.0 | MIT | server | texts 1\n"),
            "{page}"
        );
        assert!(
            page.contains("b 1.0.0 | MIT | server | texts 1, 2\n"),
            "{page}"
        );
        assert!(page.contains(
            "c 1.0.0 | MIT | server | no text in its package; see https://example.com/c\n"
        ));
        assert_eq!(page.matches("Permission").count(), 1, "{page}");
    }

    #[test]
    fn the_notices_of_this_checkout_name_crates_and_fonts_with_their_texts() {
        let workspace = Workspace::find().unwrap();
        let mut works = crates_of(&workspace).unwrap();
        works.extend(fonts(&workspace.root.join("public/fonts")).unwrap());
        let page = render(&works);
        for line in ["\nleptos ", "\nzstd-sys ", "\ninter (font) | OFL-1.1 |"] {
            assert!(page.contains(line), "no {line:?}");
        }
        assert!(page.contains("SIL OPEN FONT LICENSE"));
        assert!(!page.contains("\nxtask ") && !page.contains("\nproptest "));
        let silent = works.iter().filter(|it| it.texts.is_empty()).count();
        assert!(
            silent * 4 < works.len(),
            "{silent} of {} without a text",
            works.len()
        );
    }

    #[test]
    fn licences_are_found_also_in_what_a_package_carries() {
        let package = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = package.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("LICENSE-MIT", "mit");
        put("zstd/COPYING", "gpl or bsd");
        put("zstd/deep/LICENSE", "too deep");
        put("license.rs", "code");
        put("README.md", "no licence");
        assert_eq!(
            texts_below(package.path(), 2).unwrap(),
            ["mit", "gpl or bsd"]
        );
    }
}
