//! Writes a market brief that is never finished: it goes on for as long as you watch.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{line::Line, random::Random, stage::Stage};
use crate::client::{CreateRun, Error, Session};

/// So many sources are read between two rewrites of the brief.
const SOURCES: u64 = 6;

const TOPICS: [&str; 8] = [
    "grid batteries in Poland",
    "second-life EV packs",
    "sodium-ion cells",
    "balancing prices in the Nordics",
    "permits for storage sites",
    "lithium carbonate spot prices",
    "insurance for battery parks",
    "recycling capacity in Saxony",
];
const PLACES: [&str; 6] = [
    "Reuters",
    "the grid operator's tender page",
    "a filing at the Warsaw exchange",
    "Fraunhofer ISE",
    "the Energy Regulatory Office",
    "an earnings call",
];
const FINDINGS: [&str; 6] = [
    "Capacity awarded rose by {n} % on the last round; bids came in below the reserve price.",
    "Two sites slipped a quarter because the grid connection is late; {n} MW affected.",
    "Prices fell {n} % since spring. The author expects the floor before summer.",
    "A supplier with {n} MWh in backlog asks for indexation; buyers refuse so far.",
    "Insurers now want thermal-runaway tests per rack: about €{n} per kWh.",
    "The pilot ran {n} weeks without an incident; the utility extends it.",
];

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Brief {
    round: u64,
    questions: Vec<String>,
    sources: Vec<Value>,
    draft: String,
    messages: Vec<Value>,
}

pub fn create() -> CreateRun {
    CreateRun {
        title: Some("Weekly market brief".into()),
        version: Some("0.9.3".into()),
        model: Some("gpt-large-2".into()),
        input: json!({ "topic": "grid storage in Central Europe", "until": "stopped" }),
        labels: [("team", "research"), ("desk", "energy")]
            .map(|(key, label)| (key.into(), label.into()))
            .into(),
        ..CreateRun::new("researcher")
    }
}

/// Each round starts where the state says, so that going on costs no replay of the rounds before.
pub async fn work(session: Session<Brief>, stage: Stage) -> Result<Value, Error> {
    loop {
        let round = session.state().round;
        for (line, fold) in script(round, session.state().sources.len() as i64) {
            stage.play(&session, line, fold).await?;
        }
    }
}

type Fold = fn(&mut Brief, &Value);

fn script(round: u64, sources: i64) -> Vec<(Line, Fold)> {
    let mut random = Random::of(&format!("round {round}"));
    let topic = random.pick(&TOPICS);
    // What the model reads grows with the sources, up to its window.
    let read = (9_000 + sources * 420).min(180_000);
    let question = format!("What changed this week about {topic}?");
    let mut script: Vec<(Line, Fold)> = vec![
        (
            Line::llm(format!("{round}:ask"), "plan_round", read, question),
            |brief, said| {
                brief
                    .questions
                    .push(said["content"].as_str().unwrap_or_default().to_owned());
                brief.messages.push(said.clone());
            },
        ),
        (
            Line::tool(format!("{round}:search"), "search", "web.search")
                .input(json!({ "q": topic, "days": 7, "limit": SOURCES }))
                .taking(random.seconds(0.5, 1.2))
                .output(json!({ "hits": SOURCES, "of": random.between(40, 900) })),
            |brief, hits| {
                brief
                    .messages
                    .push(json!({ "role": "tool", "content": hits }))
            },
        ),
    ];
    for n in 0..SOURCES {
        let place = random.pick(&PLACES);
        let finding = random
            .pick(&FINDINGS)
            .replace("{n}", &random.between(3, 64).to_string());
        script.push((
            Line::tool(format!("{round}:fetch:{n}"), "fetch_source", "http.get")
                .input(json!({ "from": place, "about": topic }))
                .taking(random.seconds(0.5, 1.6))
                .logs(&["200 OK, text/html", "boilerplate removed"])
                .output(json!({ "from": place, "words": random.between(400, 6_000) })),
            |brief, source| brief.sources.push(source.clone()),
        ));
        script.push((
            Line::llm(
                format!("{round}:summarise:{n}"),
                "summarise_source",
                read / 3,
                finding,
            )
            .taking(random.seconds(1.5, 4.0)),
            |brief, said| {
                if let Some(Value::Object(source)) = brief.sources.last_mut() {
                    source.insert("finding".into(), said["content"].clone());
                }
            },
        ));
    }
    let says = format!(
        "{topic}: {SOURCES} new sources, no surprise. The brief keeps its outlook; \
         the number to watch is next week's tender."
    );
    script.push((
        Line::llm(format!("{round}:write"), "rewrite_brief", read, says).taking(3.6),
        |brief, said| {
            brief.draft = said["content"].as_str().unwrap_or_default().to_owned();
            brief.messages.push(said.clone());
        },
    ));
    script.push((
        Line::milestone(format!("{round}:end"), &format!("Round {}", round + 1)),
        |brief, _| brief.round += 1,
    ));
    script
}
