//! What no stage passes over: a server that panicked, or that answered 500 where no damage explains it. Every harness of the
//! tests writes down what it found in a server's log, so a test that passes at its second try hides nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, anyhow};

use crate::workspace::Workspace;

/// Names the file to the tests.
pub const VARIABLE: &str = "STEP47_FOUND";

/// One line for each: the test, a tab, the line of the log.
pub fn file(workspace: &Workspace) -> PathBuf {
    workspace.target.join("found.txt")
}

/// What was found since the last call.
pub fn take(file: &Path) -> Result<Vec<String>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    fs::remove_file(file)?;
    Ok(apart(&text))
}

/// Each line of a log once, with the test that met it first: a server that tests share shows it to all that follow.
fn apart(text: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (test, said) = line.split_once('\t').unwrap_or(("a test", line));
        if !seen.contains(&said) {
            seen.push(said);
            found.push(format!("{test}: {said}"));
        }
    }
    found
}

/// A stage in which something was found has failed, also if each of its tests passed at last.
pub fn judge(stage: Result<()>, found: &[String]) -> Result<()> {
    if found.is_empty() {
        return stage;
    }
    let many = match found.len() {
        1 => "1 answer of 500 or panic".to_owned(),
        many => format!("{many} answers of 500 or panics"),
    };
    let why = format!("{many}, also in tests that passed at the second try");
    match stage {
        Ok(()) => Err(anyhow!(why)),
        Err(error) => Err(error.context(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_named_once_and_then_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("found.txt");
        assert_eq!(take(&file).unwrap(), Vec::<String>::new());
        fs::write(
            &file,
            "a::first\tpanicked at x\na::second\tpanicked at x\n\nb\tanswered 500\n",
        )
        .unwrap();
        let found = ["a::first: panicked at x", "b: answered 500"];
        assert_eq!(take(&file).unwrap(), found);
        assert_eq!(take(&file).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_stage_whose_tests_passed_at_last_fails_by_what_was_found() {
        let one = ["a: answered 500".to_owned()];
        let two = [one[0].clone(), "b: panicked at x".to_owned()];
        assert!(judge(Ok(()), &[]).is_ok());
        let said = judge(Ok(()), &one).unwrap_err().to_string();
        assert!(said.starts_with("1 answer of 500 or panic,"), "{said}");
        let said = format!("{:#}", judge(Err(anyhow!("red")), &two).unwrap_err());
        assert!(said.starts_with("2 answers of 500 or panics,"), "{said}");
        assert!(said.ends_with(": red"), "{said}");
    }
}
