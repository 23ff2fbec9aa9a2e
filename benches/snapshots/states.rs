//! The states that both sides store: words by a fixed generator, so that every run measures the same.

use serde_json::{Value, json};
use std::{fmt::Write as _, fs, path::Path};

const WORDS: [&str; 48] = [
    "invoice", "payment", "ledger", "customer", "refund", "the", "of", "and", "to", "a", "in",
    "was", "is", "for", "checked", "total", "amount", "euro", "due", "overdue", "reminder", "sent",
    "bank", "transfer", "matched", "open", "closed", "entry", "account", "balance", "note",
    "agent", "step", "result", "found", "missing", "supplier", "contract", "order", "number",
    "date", "october", "november", "paid", "partly", "in-full", "again", "later",
];

pub struct Words(u64);

impl Words {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Prose with numbers in it, of this many bytes.
    pub fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            match self.next() % 6 {
                0 => write!(text, "{} ", self.next() % 1_000_000).expect("a string"),
                _ => {
                    text.push_str(WORDS[(self.next() % 48) as usize]);
                    text.push(' ');
                }
            }
        }
        text.truncate(bytes);
        text
    }
}

/// Texts of about 1 KB each, one JSON string a line.
pub fn write_lines(file: &Path, count: usize) -> Vec<String> {
    let mut words = Words::new(47);
    let texts: Vec<String> = (0..count).map(|_| words.text(1_000)).collect();
    let lines: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
    fs::write(file, lines.join("\n")).expect("the lines");
    texts
}

/// The first state of a run.
pub fn first(shape: &str, texts: &[String]) -> Value {
    match shape {
        "chat" => json!({"messages": []}),
        _ => {
            let documents: serde_json::Map<String, Value> = (0..100)
                .map(|i| (format!("d{i}"), json!(texts[i])))
                .collect();
            json!({"documents": documents})
        }
    }
}

/// What a step changes, as an agent sends it.
pub fn change(shape: &str, step: usize, texts: &[String]) -> Value {
    match shape {
        "chat" => json!({"op": "add", "path": "/messages/-",
            "value": {"role": "assistant", "content": texts[step]}}),
        _ => {
            json!({"op": "replace", "path": format!("/documents/d{}", step % 100), "value": texts[100 + step]})
        }
    }
}

/// How one state of 1 MB, a thousand messages, became another: always one in a hundred messages.
pub const PAIRS: [&str; 3] = [
    "words changed",
    "texts rewritten",
    "messages came, went and changed",
];

pub fn pair(how: &str) -> (Value, Value) {
    let mut words = Words::new(7);
    let mut messages: Vec<Value> = (0..1_000)
        .map(|id| json!({"id": id, "role": "assistant", "content": words.text(1_000)}))
        .collect();
    let before = json!({"messages": messages});
    match how {
        "words changed" => (0..10).for_each(|i| change_words(&mut messages[i * 100 + 37], 8)),
        "texts rewritten" => {
            (0..10).for_each(|i| messages[i * 100 + 37]["content"] = json!(words.text(1_000)));
        }
        _ => {
            (0..4).for_each(|i| change_words(&mut messages[i * 200 + 37], 2));
            for at in [900, 500, 100] {
                messages.remove(at);
            }
            for (i, at) in [700, 300, 50].into_iter().enumerate() {
                let message =
                    json!({"id": 1_000 + i, "role": "user", "content": words.text(1_000)});
                messages.insert(at, message);
            }
        }
    }
    (before, json!({"messages": messages}))
}

fn change_words(message: &mut Value, many: usize) {
    let text = message["content"].as_str().expect("a text");
    let mut words: Vec<&str> = text.split(' ').collect();
    (0..many).for_each(|i| words[i * 17 + 3] = "reconciled");
    message["content"] = json!(words.join(" "));
}
