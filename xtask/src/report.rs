//! Which tests took longest, and which passed at the second try: read from what the two runners leave behind, nextest a JUnit file, Playwright JSON.

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
    /// It failed before it passed.
    pub flaky: bool,
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

/// How many tests passed at the second try only, and which: each hides a race, in it or in the server.
pub fn flaky(all: &[Timed]) -> Vec<String> {
    let names: Vec<_> = all.iter().filter(|test| test.flaky).collect();
    let many = match names.len() {
        0 => "no test".to_owned(),
        1 => "1 test".to_owned(),
        many => format!("{many} tests"),
    };
    let named = names.iter().map(|test| format!("  {}", test.name));
    std::iter::once(many).chain(named).collect()
}

/// A test case's attributes, as nextest writes them: `name="…" classname="…" … time="1.234">`. One that failed before it
/// passed has a `<flakyFailure …>` for each such try.
fn case(text: &str) -> Option<Timed> {
    let attributes = text.split_once('>')?.0;
    let of = |name: &str| {
        let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    };
    Some(Timed {
        name: of("name")?.to_owned(),
        seconds: of(" time")?.parse().ok()?,
        flaky: text.contains("<flakyFailure"),
    })
}

/// Playwright nests suites (files, `describe`s) that hold specs with one result per try.
fn collect(suite: &Value, title: &str, all: &mut Vec<Timed>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for spec in list(&suite["specs"]) {
        let tests = list(&spec["tests"]);
        let results = tests
            .iter()
            .flat_map(|test| list(&test["results"]))
            .filter_map(|result| result["duration"].as_f64())
            .sum::<f64>();
        let name = spec["title"].as_str().unwrap_or_default();
        all.push(Timed {
            name: format!("{title} › {name}"),
            seconds: results / 1000.0,
            flaky: tests.iter().any(|test| test["status"] == "flaky"),
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
    fn tests_that_passed_at_the_second_try_are_counted_and_named() {
        let directory = tempfile::tempdir().unwrap();
        let (junit, json) = (
            directory.path().join("junit.xml"),
            directory.path().join("e2e.json"),
        );
        fs::write(
            &junit,
            r#"<testcase name="x::sound" classname="a" time="0.250"></testcase>
               <testcase name="x::shaky" classname="a" timestamp="t" time="2.500">
               <flakyFailure timestamp="t" time="2.0" type="test failure">thread panicked</flakyFailure></testcase>
               <testcase name="x::red" classname="a" time="1.0"><failure type="test failure"/>
               <rerunFailure type="test failure"/></testcase>"#,
        )
        .unwrap();
        let spec = |title: &str, status: &str| {
            let results = json!([{"duration": 1000}]);
            json!({"title": title, "tests": [{"status": status, "results": results}]})
        };
        let specs = [spec("opens", "flaky"), spec("shuts", "expected")];
        let file = json!({"title": "run.spec.ts", "specs": specs});
        fs::write(&json, json!({"suites": [file]}).to_string()).unwrap();
        let mut all = of_nextest(&junit);
        assert_eq!(flaky(&all), ["1 test", "  x::shaky"]);
        all.extend(of_playwright(&json).unwrap());
        assert_eq!(
            flaky(&all),
            ["2 tests", "  x::shaky", "  run.spec.ts › opens"]
        );
        assert_eq!(flaky(&[]), ["no test"]);
    }

    #[test]
    fn a_runner_that_did_not_run_timed_nothing() {
        let nowhere = Path::new("/nowhere/at/all");
        assert!(of_nextest(nowhere).is_empty());
        assert!(of_playwright(nowhere).unwrap().is_empty());
    }
}
