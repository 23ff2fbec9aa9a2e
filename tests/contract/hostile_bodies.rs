//! Valid bodies, mutated at random, at every call: never a 5xx, and what is refused changes nothing.

use proptest::{
    prelude::*,
    sample::Index,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::{Value, json};
use std::collections::HashSet;
use tokio::{runtime::Handle, sync::Mutex, task::block_in_place};

use crate::{
    bad_input::{calls, ground},
    support::{Agent, Answer, Api, Engine, Server, both_engines, campaigns, rounds},
};

#[derive(Debug, Clone)]
enum Mutation {
    /// Another value at a random place.
    Replace(Index, Value),
    Remove(Index),
    /// One more field in a random object.
    Insert(Index, String, Value),
    /// The value of another random place.
    Swap(Index, Index),
    /// One byte of the text as it goes over the wire.
    Byte(Index, u8),
    Cut(Index),
    Splice(Index, &'static str),
}

/// Values that mean trouble somewhere.
fn trouble() -> impl Strategy<Value = Value> {
    let long = "y".repeat(5000);
    let deep = (0..135).fold(json!(0), |inner, _| json!([inner]));
    let fixed = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1),
        json!(1.5),
        json!(-0.0),
        json!(1e300),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1u64 << 53),
        json!(1 << 31),
        json!(""),
        json!(" "),
        json!("\u{0}"),
        json!("\u{feff}"),
        json!("\u{202e}x"),
        json!("%s%n"),
        json!("' OR 1=1 --"),
        json!("../.."),
        json!("${x}"),
        json!("done"),
        json!("gate"),
        json!("pause"),
        json!("retry"),
        json!([]),
        json!({}),
        json!([[]]),
        json!([null]),
        json!({"": null}),
        json!({"a": {"b": [1, {"c": "\u{0}"}]}}),
        json!({"epoch": 1}),
        json!(long),
        deep,
        json!([{"op": "add", "path": "", "value": 0}]),
        json!([{"op": "move", "from": "", "path": "/a"}]),
    ];
    prop_oneof![
        8 => prop::sample::select(fixed.to_vec()),
        1 => any::<i64>().prop_map(|n| json!(n)),
        1 => any::<f64>().prop_map(|n| json!(n)),
        1 => any::<String>().prop_map(|s| json!(s)),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<Index>;
    let splices = [
        "\u{0}",
        "\\u0000",
        "\\ud800",
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "1e999",
        "18446744073709551616",
        "-",
        "\\",
        "\"epoch\":1,",
        "\n",
        "\u{feff}",
        "/*",
        "é",
    ];
    prop_oneof![
        6 => (place(), trouble()).prop_map(|(at, value)| Mutation::Replace(at, value)),
        2 => place().prop_map(Mutation::Remove),
        2 => (place(), "[a-z_]{0,8}", trouble()).prop_map(|(at, key, value)| Mutation::Insert(at, key, value)),
        2 => (place(), place()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        1 => (place(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        1 => place().prop_map(Mutation::Cut),
        1 => (place(), prop::sample::select(splices.to_vec())).prop_map(|(at, text)| Mutation::Splice(at, text)),
    ]
}

/// Pointers to every value in a body.
fn places(value: &Value, at: String) -> Vec<String> {
    let mut all = vec![at.clone()];
    match value {
        Value::Array(items) => {
            all.extend(
                items
                    .iter()
                    .enumerate()
                    .flat_map(|(i, v)| places(v, format!("{at}/{i}"))),
            );
        }
        Value::Object(map) => all.extend(map.iter().flat_map(|(key, v)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            places(v, format!("{at}/{key}"))
        })),
        _ => {}
    }
    all
}

fn mutated(mut body: Value, mutations: &[Mutation]) -> Vec<u8> {
    for mutation in mutations {
        let all = places(&body, String::new());
        match mutation {
            Mutation::Replace(at, value) => {
                *body.pointer_mut(at.get(&all).as_str()).unwrap() = value.clone()
            }
            Mutation::Swap(a, b) => {
                let other = body.pointer(b.get(&all).as_str()).unwrap().clone();
                *body.pointer_mut(a.get(&all).as_str()).unwrap() = other;
            }
            Mutation::Insert(at, key, value) => {
                if let Some(Value::Object(map)) = body.pointer_mut(at.get(&all).as_str()) {
                    map.insert(key.clone(), value.clone());
                }
            }
            Mutation::Remove(at) => {
                let place = at.get(&all).as_str();
                let (parent, key) = place.rsplit_once('/').unwrap_or_default();
                match body.pointer_mut(parent) {
                    Some(Value::Object(map)) => drop(map.remove(key)),
                    Some(Value::Array(items)) => drop(key.parse().map(|i: usize| items.remove(i))),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let mut bytes = body.to_string().into_bytes();
    for mutation in mutations {
        match mutation {
            Mutation::Byte(at, byte) if !bytes.is_empty() => {
                let i = at.index(bytes.len());
                bytes[i] = *byte;
            }
            Mutation::Cut(at) if !bytes.is_empty() => bytes.truncate(at.index(bytes.len())),
            Mutation::Splice(at, text) => {
                let i = at.index(bytes.len() + 1);
                bytes.splice(i..i, text.bytes());
            }
            _ => {}
        }
    }
    bytes
}

/// A run to attack, kept as long as nothing was accepted, and what is known of the store.
struct Ground {
    api: Api,
    agent: Option<Agent>,
    known: HashSet<String>,
    head: i64,
}

impl Ground {
    async fn agent(&mut self) -> Agent {
        if self.agent.is_none() {
            let agent = ground(&self.api).await;
            self.known.insert(agent.run.clone());
            self.agent = Some(agent);
        }
        self.agent.clone().unwrap()
    }

    async fn attack(&mut self, call: usize, mutations: &[Mutation]) -> Result<(), String> {
        let agent = self.agent().await;
        let all = calls(&agent);
        let (name, path, body) = all[call % all.len()].clone();
        let before = agent.facts().await;
        self.read_on().await;
        let answer = self.api.post_bytes(&path, mutated(body, mutations)).await;
        let told = format!("{name}: {answer:?}");
        if answer.status < 300 {
            self.agent = None;
            let made = answer.body()["run"]["id"].as_str().map(str::to_owned);
            self.known.extend(made);
            return Ok(());
        }
        judge(&answer).map_err(|why| format!("{why}: {told}"))?;
        let after = agent.facts().await;
        let evidence = ["commit", "patch"].contains(&name) && answer.code() == "lease_lost";
        let same = match evidence {
            true => {
                after["run"]["snapshot"] == before["run"]["snapshot"]
                    && after["run"]["status"] == before["run"]["status"]
            }
            false => after == before,
        };
        if !same {
            return Err(format!(
                "refused, and yet changed\n{before}\n{after}\n{told}"
            ));
        }
        match self.read_on().await {
            Some(stranger) => Err(format!("refused, and yet there is {stranger}: {told}")),
            None => Ok(()),
        }
    }

    /// Reads the events to their end; gives a run that nobody was told of.
    async fn read_on(&mut self) -> Option<Value> {
        let events = self.api.events(self.head, None).await;
        self.head = events
            .last()
            .and_then(|e| e["id"].as_i64())
            .unwrap_or(self.head);
        let known = |event: &Value| {
            self.known
                .contains(event["run"].as_str().unwrap_or_default())
        };
        events.into_iter().find(|event| !known(event))
    }
}

/// It speaks of the database, of a panic, or of a line of the source.
fn leaks(text: &str) -> bool {
    let words = ["sqlx", "SELECT ", "INSERT ", "panicked"];
    let line = |after: &str| after.starts_with(|it: char| it.is_ascii_digit());
    words.iter().any(|word| text.contains(word)) || text.split(".rs:").skip(1).any(line)
}

fn judge(answer: &Answer) -> Result<(), String> {
    if !(400..500).contains(&answer.status) {
        return Err("neither accepted nor refused".into());
    }
    let code = answer.code();
    let fits = match code.as_str() {
        "malformed" => answer.status == 400,
        "invalid" => answer.status == 422 && answer.body()["path"].is_string(),
        "patch_failed" => answer.status == 422,
        "too_large" => answer.status == 413,
        "not_found" => answer.status == 404,
        "" => false,
        _ => answer.status == 409,
    };
    match fits && answer.content_type.starts_with("application/problem+json") {
        true if leaks(&answer.text) => Err("it leaks its insides".into()),
        true => Ok(()),
        false => Err("not a refusal as the protocol has it".into()),
    }
}

async fn a_mutated_body_is_accepted_or_refused_and_never_both(on: Engine) {
    let server = Server::start(on).await;
    let ground = Mutex::new(Ground {
        api: server.api(),
        agent: None,
        known: HashSet::new(),
        head: 0,
    });
    let config = Config {
        cases: rounds(250) as u32,
        max_shrink_iters: 100,
        failure_persistence: None,
        ..Config::default()
    };
    let strategy = (any::<usize>(), prop::collection::vec(mutation(), 1..4));
    let outcome = block_in_place(|| {
        TestRunner::new(config).run(&strategy, |(call, mutations)| {
            Handle::current()
                .block_on(async { ground.lock().await.attack(call, &mutations).await })
                .map_err(TestCaseError::fail)
        })
    });
    if let Err(broken) = outcome {
        panic!("{broken}");
    }
    server.api().get("/readyz").await.is(200);
}

both_engines!(a_mutated_body_is_accepted_or_refused_and_never_both);

campaigns!(a_mutated_body_is_accepted_or_refused_and_never_both);
