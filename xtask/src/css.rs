//! Bundles the stylesheet: every line `@import "name.css";` is replaced by that file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

pub fn bundle(main: &Path) -> Result<String> {
    let mut bundle = String::new();
    inline(main, &mut Vec::new(), &mut bundle)?;
    Ok(bundle)
}

/// Appends `file`; `open` are the files whose import led here.
fn inline(file: &Path, open: &mut Vec<PathBuf>, bundle: &mut String) -> Result<()> {
    if open.iter().any(|it| it == file) {
        bail!("{} imports itself", file.display());
    }
    open.push(file.to_owned());
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    for line in text.lines() {
        match imported(line) {
            Some(name) => inline(&file.with_file_name(name), open, bundle)?,
            None => {
                bundle.push_str(line);
                bundle.push('\n');
            }
        }
    }
    open.pop();
    Ok(())
}

fn imported(line: &str) -> Option<&str> {
    line.trim().strip_prefix("@import \"")?.strip_suffix("\";")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    #[test]
    fn imports_are_replaced_in_order() {
        let style = style(&[
            (
                "main.css",
                "@import \"a.css\";\n@import \"b.css\";\nmain {}\n",
            ),
            ("a.css", "@import \"b.css\";\na {}\n"),
            ("b.css", "b {}"),
        ]);
        assert_eq!(
            bundle(&style.path().join("main.css")).unwrap(),
            "b {}\na {}\nb {}\nmain {}\n"
        );
    }

    #[test]
    fn a_circle_and_a_missing_file_are_named() {
        let style = style(&[
            ("main.css", "@import \"main.css\";"),
            ("lost.css", "@import \"gone.css\";"),
        ]);
        let circle = bundle(&style.path().join("main.css")).unwrap_err();
        assert!(
            circle.to_string().ends_with("main.css imports itself"),
            "{circle}"
        );
        let missing = bundle(&style.path().join("lost.css")).unwrap_err();
        assert!(missing.to_string().ends_with("gone.css"), "{missing}");
    }
}
