//! JSON that a person typed: what is wrong with it, and in which line.

use serde_json::Value;

use crate::domain::wire::{
    json, patch,
    problem::Problem,
    protocol::{STATE_MAX, VALUES_MAX},
};

/// What is wrong, and where; lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub line: usize,
    pub what: String,
}

impl Wrong {
    /// A refusal that names a place in the value, such as a schema's, as a place in the text.
    pub fn of(text: &str, problem: &Problem) -> Self {
        let path = problem.fields.get("path").and_then(Value::as_str);
        let inside = path.map(|path| {
            path.trim_start_matches("state")
                .trim_start_matches("result")
        });
        Self {
            line: inside.map_or(1, |path| line_of(text, path)),
            what: problem.detail.clone(),
        }
    }
}

/// The value that a text stands for, if the store would take it.
pub fn parse(text: &str) -> Result<Value, Wrong> {
    if text.len() > STATE_MAX {
        let what = format!(
            "is larger than the limit of {STATE_MAX} bytes: it has {}",
            text.len()
        );
        return Err(Wrong { line: 1, what });
    }
    read(text)
}

/// The same of any size: the server's own limit will judge it.
pub fn read(text: &str) -> Result<Value, Wrong> {
    let value = serde_json::from_str(text).map_err(|error| Wrong {
        line: error.line().max(1),
        what: spoken(&error),
    })?;
    json::check(text.as_bytes(), &[], VALUES_MAX)
        .and_then(|_| json::check_depth("", &value))
        .map_err(|problem| Wrong::of(text, &problem))?;
    Ok(value)
}

/// The parser's words without its place: the line is said apart.
fn spoken(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => format!("{}, column {}", &text[..end], error.column()),
        None => text,
    }
}

/// The line where the value at this JSON pointer begins; of the nearest one around it if it is not there.
pub fn line_of(text: &str, pointer: &str) -> usize {
    let path = patch::tokens(pointer).unwrap_or_default();
    let mut walk = Walk {
        text: text.as_bytes(),
        at: 0,
    };
    let at = walk.find(&path).unwrap_or(0);
    1 + text.as_bytes()[..at]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

/// Goes through a text that parses, value by value.
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    /// Where the value at `path` begins, seen from the value that begins here.
    fn find(&mut self, path: &[String]) -> Option<usize> {
        self.space();
        let here = self.at;
        let Some((first, rest)) = path.split_first() else {
            return Some(here);
        };
        let object = match self.peek()? {
            b'{' => true,
            b'[' => false,
            _ => return Some(here),
        };
        self.at += 1;
        let mut index = 0_usize;
        loop {
            self.space();
            let place = self.at;
            match self.peek()? {
                b'}' | b']' => return Some(here),
                b',' => {
                    self.at += 1;
                    index += 1;
                    continue;
                }
                _ => {}
            }
            let name = match object {
                true => {
                    let name = self.string()?;
                    self.space();
                    self.at += 1;
                    name
                }
                false => index.to_string(),
            };
            if name == *first {
                return match rest.is_empty() {
                    true => Some(place),
                    false => self.find(rest),
                };
            }
            self.skip()?;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<String> {
        let from = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_slice(&self.text[from..self.at]).ok()
    }

    /// Past the value that begins here.
    fn skip(&mut self) -> Option<()> {
        self.space();
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    if open == 0 {
                        return Some(());
                    }
                    continue;
                }
                Some(b'{' | b'[') => open += 1,
                Some(b'}' | b']') if open == 0 => return Some(()),
                Some(b'}' | b']') => {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                Some(b',') if open == 0 => return Some(()),
                None => return Some(()),
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"a\": { \"x\": 1 },\n  \"b/c\": [\n    \"{\",\n    { \"deep\": [1,\n      2] }\n  ],\n  \"last\": null\n}";

    #[test]
    fn a_place_is_found_by_its_line() {
        for (pointer, line) in [
            ("", 1),
            ("/a", 2),
            ("/a/x", 2),
            ("/b~1c", 3),
            ("/b~1c/0", 4),
            ("/b~1c/1/deep/1", 6),
            ("/last", 8),
            ("/gone", 1),
            ("/b~1c/9", 3),
        ] {
            assert_eq!(line_of(TEXT, pointer), line, "{pointer}");
        }
    }

    #[test]
    fn what_the_store_would_refuse_is_said_with_its_line() {
        assert_eq!(parse("{\n \"a\": 1 }").unwrap()["a"], 1);
        let cut = parse("{\n \"a\": ").unwrap_err();
        assert_eq!(cut.line, 2);
        assert!(!cut.what.contains("line"), "{}", cut.what);
        let twice = parse("{\n \"a\": 1,\n \"a\": 2 }").unwrap_err();
        assert_eq!(twice.what, "/a stands twice in one object");
        assert!(parse("\"a\\u0000b\"").is_err());
        assert!(parse("123456789012345678901234567890").is_err());
    }
}
