//! One line of a sample agent's script: the step, how long it takes, what comes out.

use serde_json::{Value, json};

use super::random::Random;
use crate::client::{Effect, Kind, PlannedStep, Reference, Usage};

/// What a token costs: dollars per million read and written.
const READ_USD: f64 = 5.0;
const WRITTEN_USD: f64 = 20.0;
/// About how many characters make a token.
const CHARS_PER_TOKEN: usize = 4;

#[derive(Debug, Clone)]
pub struct Line {
    pub key: String,
    pub name: String,
    pub kind: Kind,
    pub tool: Option<&'static str>,
    pub input: Value,
    pub output: Value,
    pub seconds: f64,
    pub usage: Option<Usage>,
    pub log: Vec<String>,
    pub refs: Vec<Reference>,
    pub effect: Option<Effect>,
    /// After a crash, the agent can look whether it happened.
    pub checks: bool,
    /// So many first attempts fail, with this error, of so many.
    pub fails: Option<Fails>,
    /// The first attempt takes so long: the other side does not answer.
    pub hangs: Option<f64>,
}

#[derive(Debug, Clone)]
pub struct Fails {
    pub times: i64,
    pub of: i64,
    pub kind: &'static str,
    pub message: &'static str,
}

impl Line {
    fn new(key: impl Into<String>, name: impl Into<String>, kind: Kind) -> Self {
        let (key, name) = (key.into(), name.into());
        Self {
            seconds: Random::of(&key).seconds(0.2, 0.6),
            key,
            name,
            kind,
            tool: None,
            input: Value::Null,
            output: Value::Null,
            usage: None,
            log: Vec::new(),
            refs: Vec::new(),
            effect: None,
            checks: false,
            fails: None,
            hangs: None,
        }
    }

    pub fn code(key: impl Into<String>, name: &str) -> Self {
        Self::new(key, name, Kind::Code)
    }

    pub fn tool(key: impl Into<String>, name: &str, tool: &'static str) -> Self {
        Self {
            tool: Some(tool),
            ..Self::new(key, name, Kind::Tool)
        }
    }

    pub fn milestone(key: impl Into<String>, name: &str) -> Self {
        Self {
            seconds: 0.0,
            ..Self::new(key, name, Kind::Milestone)
        }
    }

    /// A model that reads so many tokens and says this.
    pub fn llm(key: impl Into<String>, name: &str, read: i64, says: impl Into<String>) -> Self {
        let (key, says) = (key.into(), says.into());
        let mut random = Random::of(&key);
        let read = read + random.between(0, 900);
        // What is said is the tip of it: the rest is thought.
        let written = (says.len() / CHARS_PER_TOKEN) as i64 + random.between(180, 900);
        let cost = (read as f64 * READ_USD + written as f64 * WRITTEN_USD) / 1e6;
        Self {
            seconds: random.seconds(1.6, 3.2),
            input: json!({ "model": "gpt-large-2", "temperature": 0.2 }),
            output: json!({ "role": "assistant", "content": says }),
            usage: Some(Usage {
                input_tokens: Some(read),
                output_tokens: Some(written),
                cost_usd: Some((cost * 1e4).round() / 1e4),
            }),
            ..Self::new(key, name, Kind::Llm)
        }
    }

    pub fn input(self, input: Value) -> Self {
        Self { input, ..self }
    }

    pub fn output(self, output: Value) -> Self {
        Self { output, ..self }
    }

    pub fn taking(self, seconds: f64) -> Self {
        Self { seconds, ..self }
    }

    pub fn logs(self, lines: &[&str]) -> Self {
        Self {
            log: lines.iter().map(|line| (*line).to_owned()).collect(),
            ..self
        }
    }

    /// It relies on a file, as it looks now.
    pub fn reads(mut self, uri: &str) -> Self {
        self.refs.push(Reference {
            uri: uri.to_owned(),
            hash: blake3::hash(uri.as_bytes()).to_hex()[..16].to_owned(),
        });
        self
    }

    pub fn effect(self, target: &str, description: &str, dedupe_ms: Option<i64>) -> Self {
        let effect = Effect {
            target: target.to_owned(),
            description: Some(description.to_owned()),
            dedupe_ms,
        };
        Self {
            effect: Some(effect),
            ..self
        }
    }

    pub fn checks(self) -> Self {
        Self {
            checks: true,
            ..self
        }
    }

    pub fn fails(self, fails: Fails) -> Self {
        Self {
            fails: Some(fails),
            ..self
        }
    }

    pub fn hangs(self, seconds: f64) -> Self {
        Self {
            hangs: Some(seconds),
            ..self
        }
    }

    /// The line as it is announced before the run starts.
    pub fn planned(&self) -> PlannedStep {
        PlannedStep {
            key: self.key.clone().try_into().ok(),
            name: self.name.clone(),
            kind: self.kind,
            tool: self.tool.map(str::to_owned),
            effect: self.effect.clone(),
        }
    }
}
