//! Indexes an archive, chunk by chunk: thousands of steps as fast as the server takes them, then at leisure.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::{random::Random, stage::Stage};
use crate::client::{CreateRun, Error, Kind, Session, Step, Usage};

/// A volume of the archive; each ends with a milestone.
const VOLUME: u64 = 500;
const COURTS: [&str; 5] = ["BGH", "BAG", "BFH", "OLG Köln", "LG Duisburg"];

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Index {
    /// Chunks by court.
    chunks: BTreeMap<String, u64>,
    next: u64,
    tokens: i64,
    last: Option<Chunk>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Chunk {
    court: String,
    page: i64,
    tokens: i64,
    vector: String,
}

#[derive(Debug, Deserialize)]
struct Input {
    history: u64,
}

pub fn create(history: u64) -> CreateRun {
    CreateRun {
        title: Some("Index legal archive".into()),
        version: Some("5.1.0".into()),
        model: Some("embed-3-small".into()),
        input: json!({ "archive": "s3://archive/rulings/1951-2026", "history": history }),
        labels: [("team", "search"), ("archive", "rulings")]
            .map(|(key, label)| (key.into(), label.into()))
            .into(),
        ..CreateRun::new("doc-indexer")
    }
}

/// Each step begins with the commit of the one before it: one request a step.
pub async fn work(session: Session<Index>, stage: Stage) -> Result<Value, Error> {
    let Input { history } = session.input()?;
    loop {
        let n = session.state().next;
        let seconds = if n < history {
            0.0
        } else {
            Random::of(&n.to_string()).seconds(0.8, 2.5)
        };
        take(&session, &stage, n, seconds).await?;
    }
}

fn step(session: &Session<Index>, n: u64) -> Step<'_, Index, Option<Chunk>> {
    match (n + 1).is_multiple_of(VOLUME) {
        true => session
            .step(
                format!("volume:{}", n / VOLUME),
                format!("Volume {}", n / VOLUME + 1),
            )
            .kind(Kind::Milestone),
        false => session
            .step(format!("chunk:{n}"), "embed_chunk")
            .tool("embed.create")
            .input(json!({ "chunk": n })),
    }
}

async fn take(session: &Session<Index>, stage: &Stage, n: u64, seconds: f64) -> Result<(), Error> {
    let fold = |index: &mut Index, chunk: &Option<Chunk>| {
        index.next = n + 1;
        if let Some(chunk) = chunk {
            *index.chunks.entry(chunk.court.clone()).or_default() += 1;
            index.tokens += chunk.tokens;
            index.last = Some(chunk.clone());
        }
    };
    step(session, n)
        .then(&step(session, n + 1))
        .run(
            |ctx| async move {
                stage.count(&ctx)?;
                stage.rest(seconds).await;
                let chunk = chunk(n);
                if let Some(chunk) = &chunk {
                    ctx.usage(Usage {
                        input_tokens: Some(chunk.tokens),
                        output_tokens: None,
                        cost_usd: Some(chunk.tokens as f64 * 0.02 / 1e6),
                    });
                }
                Ok(chunk)
            },
            fold,
        )
        .await
        .map(drop)
}

/// Nothing for a milestone.
fn chunk(n: u64) -> Option<Chunk> {
    let mut random = Random::of(&format!("chunk {n}"));
    (!(n + 1).is_multiple_of(VOLUME)).then(|| Chunk {
        court: (*random.pick(&COURTS)).to_owned(),
        page: random.between(1, 240),
        tokens: random.between(380, 1_024),
        vector: format!("vec_{:010x}", random.between(0, 1 << 40)),
    })
}
