//! JSON as the protocol accepts it: stricter than the grammar, so that what is stored means one thing.
//!
//! Refused beyond plain syntax errors: duplicate keys, NUL, integers beyond 64 bits and nesting past the limit.

use serde_json::Value;
use std::collections::HashSet;

use crate::domain::wire::problem::{Code, Problem};

/// How deep a value may nest.
pub const DEPTH_MAX: usize = 128;
/// What the envelope around a value may add: body, patch, operation, next.
const ENVELOPE: usize = 6;

/// Refuses a body that the protocol does not accept; what is left, `serde_json` judges.
/// `objects` are the places where an object is expected and a list is not (`*` is any item of a list).
/// A body of few letters can hold millions of values, each of which costs far more than its letters: `values_max`
/// bounds them.
pub fn check(body: &[u8], objects: &[&str], values_max: usize) -> Result<usize, Problem> {
    Scanner {
        body,
        at: 0,
        open: Vec::new(),
        objects,
        values: 0,
        values_max,
    }
    .scan()
}

/// How deep a value nests: 0 for a scalar.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// How many values a value holds, with itself.
pub fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(values).sum::<usize>(),
        _ => 1,
    }
}

/// Whether it takes about so many bytes or more; looks no further than it has to.
pub fn is_long(value: &Value, bytes: usize) -> bool {
    fn left(value: &Value, room: usize) -> Option<usize> {
        // A small value is as much work as a few letters.
        let room = room.checked_sub(8)?;
        match value {
            Value::String(text) => room.checked_sub(text.len()),
            Value::Array(items) => items.iter().try_fold(room, |room, item| left(item, room)),
            Value::Object(map) => map.iter().try_fold(room, |room, (key, item)| {
                left(item, room.checked_sub(key.len())?)
            }),
            _ => Some(room),
        }
    }
    left(value, bytes).is_none()
}

pub fn check_depth(path: &str, value: &Value) -> Result<(), Problem> {
    match depth(value) {
        n if n > DEPTH_MAX => Err(Problem::invalid(
            path,
            format!("nests deeper than the limit of {DEPTH_MAX}"),
        )),
        _ => Ok(()),
    }
}

/// Canonical bytes: keys in order, no space.
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_str());
            out.push(b'{');
            for (i, (key, item)) in entries.into_iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(quoted(key).as_bytes());
                out.push(b':');
                write(item, out);
            }
            out.push(b'}');
        }
        Value::String(s) => out.extend_from_slice(quoted(s).as_bytes()),
        scalar => out.extend_from_slice(scalar.to_string().as_bytes()),
    }
}

/// A string as JSON writes it.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// How many bytes [`quoted`] makes of it.
pub fn quoted_len(text: &str) -> usize {
    let escaped = text
        .bytes()
        .filter(|it| *it < 0x20 || *it == b'"' || *it == b'\\')
        .count();
    // Few texts have any, and fewer have some that take six letters.
    let long = match escaped {
        0 => 0,
        _ => text
            .bytes()
            .filter(|it| *it < 0x20 && !matches!(it, b'\n' | b'\r' | b'\t' | 0x08 | 0x0c))
            .count(),
    };
    2 + text.len() + escaped + 4 * long
}

enum Open {
    Array(usize),
    Object {
        keys: HashSet<String>,
        key: String,
        expects_key: bool,
    },
}

/// One pass over the tokens; grammar errors are left to the parser that follows.
struct Scanner<'a> {
    body: &'a [u8],
    at: usize,
    open: Vec<Open>,
    objects: &'a [&'a str],
    values: usize,
    values_max: usize,
}

impl Scanner<'_> {
    fn scan(mut self) -> Result<usize, Problem> {
        while let Some(&byte) = self.body.get(self.at) {
            match byte {
                b'{' => self.enter(Open::Object {
                    keys: HashSet::new(),
                    key: String::new(),
                    expects_key: true,
                })?,
                b'[' => self.enter(Open::Array(0))?,
                b'}' | b']' => {
                    self.open.pop();
                    self.at += 1;
                }
                b',' => self.comma(),
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b't' | b'f' | b'n' => self.word()?,
                _ => self.at += 1,
            }
        }
        Ok(self.values)
    }

    fn enter(&mut self, container: Open) -> Result<(), Problem> {
        if self.open.len() >= DEPTH_MAX + ENVELOPE {
            return Err(self.refuse(&format!("nests deeper than the limit of {DEPTH_MAX}")));
        }
        if matches!(container, Open::Array(_)) && self.object_expected() {
            let path = self.path();
            return Err(Problem::invalid(
                path.trim_start_matches('/'),
                "must be an object, not a list",
            ));
        }
        self.open.push(container);
        self.at += 1;
        self.count()
    }

    fn comma(&mut self) {
        match self.open.last_mut() {
            Some(Open::Array(index)) => *index += 1,
            Some(Open::Object { expects_key, .. }) => *expects_key = true,
            None => {}
        }
        self.at += 1;
    }

    /// `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), Problem> {
        let rest = &self.body[self.at..];
        let letters = rest.iter().take_while(|it| it.is_ascii_alphabetic());
        self.at += letters.count();
        self.count()
    }

    /// One more value; a key is none.
    fn count(&mut self) -> Result<(), Problem> {
        self.values += 1;
        match self.values > self.values_max {
            true => Err(Problem::too_many("body", self.values_max)),
            false => Ok(()),
        }
    }

    fn string(&mut self) -> Result<(), Problem> {
        let start = self.at;
        self.at += 1;
        while let Some(&byte) = self.body.get(self.at) {
            match byte {
                b'"' => break,
                b'\\' => {
                    if self.body[self.at..].starts_with(b"\\u0000") {
                        return Err(self.refuse("holds a NUL character"));
                    }
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at = (self.at + 1).min(self.body.len());
        let token = &self.body[start..self.at];
        let Some(Open::Object {
            keys,
            key,
            expects_key: expects_key @ true,
        }) = self.open.last_mut()
        else {
            return self.count();
        };
        // A key that does not decode is a syntax error, which the parser reports with its place.
        let Ok(name) = serde_json::from_slice::<String>(token) else {
            return Ok(());
        };
        *expects_key = false;
        *key = name.clone();
        match keys.insert(name) {
            true => Ok(()),
            false => Err(self.refuse("stands twice in one object")),
        }
    }

    fn number(&mut self) -> Result<(), Problem> {
        let rest = &self.body[self.at..];
        let len = rest
            .iter()
            .position(|b| !matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        let text = std::str::from_utf8(&rest[..len]).unwrap_or_default();
        let whole = !text.contains(['.', 'e', 'E']);
        if whole && text.parse::<i64>().is_err() && text.parse::<u64>().is_err() {
            return Err(self.refuse("is an integer beyond 64 bits; send it as a string"));
        }
        if !whole && text.parse::<f64>().is_ok_and(f64::is_infinite) {
            return Err(self.refuse("is not a finite number"));
        }
        self.at += len;
        self.count()
    }

    /// Where the next value stands.
    fn path(&self) -> String {
        let tokens = self.open.iter().map(|open| match open {
            Open::Array(index) => format!("/{index}"),
            Open::Object { key, .. } => format!("/{}", escape(key)),
        });
        tokens.collect()
    }

    /// No place of the protocol's own lies deeper than this.
    fn object_expected(&self) -> bool {
        if self.open.len() > 3 {
            return false;
        }
        let tokens = self.open.iter().map(|open| match open {
            Open::Array(_) => "/*".to_owned(),
            Open::Object { key, .. } => format!("/{}", escape(key)),
        });
        let place: String = tokens.collect();
        self.objects.contains(&place.as_str())
    }

    fn refuse(&self, why: &str) -> Problem {
        let path = self.path();
        let place = if path.is_empty() { "the body" } else { &path };
        Problem::new(Code::Malformed, format!("{place} {why}")).with("path", &path)
    }
}

/// A key as it stands in a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_as_long_as_json_writes_it() {
        let every: String = (0..0x400).filter_map(char::from_u32).collect();
        for text in [
            "",
            "plain",
            "\"\\\u{8}\u{c}\n\r\t\u{1f}\u{7f}",
            "Zürich 🦀",
            &every,
        ] {
            assert_eq!(quoted_len(text), quoted(text).len(), "{text:?}");
        }
    }

    fn refused(body: &str) -> String {
        check(body.as_bytes(), &[], usize::MAX)
            .expect_err(body)
            .detail
    }

    #[test]
    fn what_would_mean_two_things_is_refused_with_its_place() {
        assert_eq!(
            refused(r#"{"a":{"b":1,"b":2}}"#),
            "/a/b stands twice in one object"
        );
        assert_eq!(
            refused(r#"{"a":1,"\u0061":2}"#),
            "/a stands twice in one object"
        );
        assert_eq!(
            refused(r#"{"a":["x","\u0000"]}"#),
            "/a/1 holds a NUL character"
        );
        assert_eq!(
            refused(r#"{"n":18446744073709551616}"#),
            "/n is an integer beyond 64 bits; send it as a string"
        );
        assert_eq!(refused(r#"{"n":1e999}"#), "/n is not a finite number");
        assert!(refused(&"[".repeat(200)).contains("limit of 128"));
    }

    #[test]
    fn values_are_counted_one_by_one() {
        for body in [
            "[]",
            "[[],[],[]]",
            r#"{"a":[1,-2.5e3,"x",true,false,null],"b":{},"c":{"d":[{}]}}"#,
            r#" [ "a,b:[1]" , { "k" : "v" } ] "#,
            "7",
            "\"true\"",
        ] {
            let count = values(&serde_json::from_str(body).unwrap());
            check(body.as_bytes(), &[], count).expect(body);
            let refused = check(body.as_bytes(), &[], count - 1).expect_err(body);
            assert_eq!(refused.code, Code::TooLarge, "{body}");
        }
    }

    #[test]
    fn ordinary_json_passes() {
        for body in [
            r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}"#,
            r#""\\u0000""#,
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"a":"{\"a\":1,\"a\":2}"}"#,
        ] {
            check(body.as_bytes(), &[], usize::MAX).expect(body);
        }
    }
}
