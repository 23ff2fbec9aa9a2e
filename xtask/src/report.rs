//! Which tests took longest: read from what the two runners leave behind, nextest a JUnit file, Playwright JSON.

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::Value;

/// How many are named.
const SLOWEST: usize = 20;

/// One test and the seconds it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    pub name: String,
    pub seconds: f64,
}

/// What nextest timed; nothing if it did not run.
pub fn of_nextest(junit: &Path) -> Vec<Timed> {
    let text = fs::read_to_string(junit).unwrap_or_default();
    text.split("<testcase ").skip(1).filter_map(case).collect()
}

/// What Playwright timed; nothing if it did not run.
pub fn of_playwright(json: &Path) -> Result<Vec<Timed>> {
    let mut all = Vec::new();
    if let Ok(text) = fs::read_to_string(json) {
        collect(&serde_json::from_str(&text)?, "", &mut all);
    }
    Ok(all)
}

/// The slowest first, as lines of a report.
pub fn slowest(mut all: Vec<Timed>) -> Vec<String> {
    all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let lines = all.iter().take(SLOWEST);
    lines
        .map(|test| format!("{:>7.1} s  {}", test.seconds, test.name))
        .collect()
}

/// A test case's attributes, as nextest writes them: `name="…" classname="…" … time="1.234">`.
fn case(text: &str) -> Option<Timed> {
    let attributes = text.split_once('>')?.0;
    let of = |name: &str| {
        let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    };
    Some(Timed {
        name: of("name")?.to_owned(),
        seconds: of(" time")?.parse().ok()?,
    })
}

/// Playwright nests suites (files, `describe`s) that hold specs with one result per try.
fn collect(suite: &Value, title: &str, all: &mut Vec<Timed>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for spec in list(&suite["specs"]) {
        let results = list(&spec["tests"])
            .iter()
            .flat_map(|test| list(&test["results"]))
            .filter_map(|result| result["duration"].as_f64())
            .sum::<f64>();
        let name = spec["title"].as_str().unwrap_or_default();
        all.push(Timed {
            name: format!("{title} › {name}"),
            seconds: results / 1000.0,
        });
    }
    for inner in list(&suite["suites"]) {
        collect(&inner, inner["title"].as_str().unwrap_or(title), all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_slowest_tests_of_both_runners_are_named_first() {
        let directory = tempfile::tempdir().unwrap();
        let (junit, json) = (
            directory.path().join("junit.xml"),
            directory.path().join("e2e.json"),
        );
        fs::write(
            &junit,
            r#"<testsuite name="a" time="9.0"><testcase name="x::quick" classname="a" timestamp="t" time="0.250">
               </testcase><testcase name="x::slow" classname="a" timestamp="t" time="2.500"/></testsuite>"#,
        )
        .unwrap();
        let spec = json!({"title": "opens", "tests": [{"results": [{"duration": 1000}, {"duration": 200}]}]});
        let file = json!({"title": "run.spec.ts", "specs": [spec]});
        fs::write(&json, json!({"suites": [file]}).to_string()).unwrap();
        let mut all = of_nextest(&junit);
        all.extend(of_playwright(&json).unwrap());
        assert_eq!(
            slowest(all),
            [
                "    2.5 s  x::slow",
                "    1.2 s  run.spec.ts › opens",
                "    0.2 s  x::quick"
            ]
        );
    }

    #[test]
    fn a_runner_that_did_not_run_timed_nothing() {
        let nowhere = Path::new("/nowhere/at/all");
        assert!(of_nextest(nowhere).is_empty());
        assert!(of_playwright(nowhere).unwrap().is_empty());
    }
}
