//! First answers as they are kept: JSON in one or more zstd frames, one after the other. What is large in an answer (a
//! run's input, schema, result and state) is compressed before the transaction as a frame of its own; inside, only the
//! rest is.

use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

use super::HEAVY;
use crate::{
    aside::{LONG, aside},
    domain::{
        AgentError, Hash, Run, RunId,
        nouns::run::{Announced, Link, OnCrash},
    },
    store::{
        Error, Store,
        rows::{Detail, RunContent},
    },
};

/// What may be large in a run beside its state.
#[derive(Serialize)]
struct Large<'a> {
    input: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
}

/// The rest of it.
#[derive(Serialize)]
struct Small<'a> {
    #[serde(flatten)]
    run: &'a Run,
    links: &'a [Link],
    on_crash: OnCrash,
    max_recoveries: i64,
    recoveries: i64,
    plan: &'a [Announced],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a AgentError>,
}

impl<'a> Small<'a> {
    fn of(run: &'a Detail) -> Self {
        // Named one by one: a new field of a run is small or large, and must not be left out.
        let Detail {
            run,
            input: _,
            state_schema: _,
            links,
            on_crash,
            max_recoveries,
            recoveries,
            plan,
            result: _,
            error,
        } = run;
        Self {
            run,
            links,
            on_crash: *on_crash,
            max_recoveries: *max_recoveries,
            recoveries: *recoveries,
            plan,
            error: error.as_ref(),
        }
    }
}

impl Large<'_> {
    /// The end of a run's object that is still open.
    fn end(&self) -> Result<Vec<u8>, Error> {
        let mut end = json(self)?;
        if let Some(first) = end.first_mut() {
            *first = b',';
        }
        Ok(end)
    }
}

/// The large content of a run, compressed before the transaction.
pub struct PackedContent {
    /// It counts for a run that has these very values.
    of: RunContent,
    frame: Vec<u8>,
}

impl PackedContent {
    pub async fn of(content: RunContent) -> Result<Self, Error> {
        let large = Large {
            input: &content.input,
            state_schema: content.state_schema.as_deref(),
            result: content.result.as_deref(),
        };
        let frame = aside(|| compressed(&large.end()?)).await?;
        Ok(Self { of: content, frame })
    }

    /// The content of a run that was opened before the transaction, as the answer will have it; `None` if it is small.
    pub async fn of_run(
        store: &Store,
        run: &RunId,
        answered: impl FnOnce(RunContent) -> RunContent + Send,
    ) -> Result<Option<Self>, Error> {
        match store.opened_content(run) {
            Some(content) => Self::of(answered(content)).await.map(Some),
            None => Ok(None),
        }
    }

    pub fn is_heavy(&self) -> bool {
        self.frame.len() >= HEAVY
    }

    fn fits(&self, run: &Detail) -> bool {
        let same = |one: &Option<Arc<Value>>, other: &Option<Arc<Value>>| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        Arc::ptr_eq(&self.of.input, &run.input)
            && same(&self.of.state_schema, &run.state_schema)
            && same(&self.of.result, &run.result)
    }
}

/// A large state, compressed before the transaction as the end of an answer.
pub struct PackedState {
    /// Of the run's newest snapshot.
    pub(super) hash: Hash,
    pub(super) frame: Vec<u8>,
}

impl PackedState {
    /// The run's newest state, if it is long and can be read.
    pub async fn of(store: &Store, run: &RunId) -> Result<Option<Self>, Error> {
        let state = store.at_hand(run).await?;
        let Some(state) = state.filter(|it| it.tree.size() >= LONG) else {
            return Ok(None);
        };
        let frame = aside(|| compressed(&state_end(&state.tree)?)).await?;
        let hash = state.hash;
        Ok(Some(Self { hash, frame }))
    }

    pub fn is_heavy(&self) -> bool {
        self.frame.len() >= HEAVY
    }
}

/// The end of an answer's object that is still open.
pub fn state_end(state: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut end = br#","state":"#.to_vec();
    serde_json::to_writer(&mut end, state).map_err(Error::damaged)?;
    end.push(b'}');
    Ok(end)
}

/// An answer that is put together part by part.
#[derive(Default)]
pub struct Frames {
    done: Vec<u8>,
    /// What is not compressed yet.
    plain: Vec<u8>,
}

impl Frames {
    /// An object that stays open: `run` comes next.
    pub fn begin(beside: &impl Serialize) -> Result<Self, Error> {
        let mut frames = Self::default();
        frames.open(beside)?;
        Ok(frames)
    }

    fn open(&mut self, object: &impl Serialize) -> Result<(), Error> {
        let mut object = json(object)?;
        object.pop();
        self.add(&object);
        Ok(())
    }

    pub fn add(&mut self, plain: &[u8]) {
        self.plain.extend_from_slice(plain);
    }

    pub fn add_frame(&mut self, frame: &[u8]) -> Result<(), Error> {
        self.close()?;
        self.done.extend_from_slice(frame);
        Ok(())
    }

    /// The field `run`. Content that changed meanwhile is compressed here.
    pub fn add_run(&mut self, run: &Detail, content: Option<&PackedContent>) -> Result<(), Error> {
        self.add(br#","run":"#);
        self.open(&Small::of(run))?;
        if let Some(content) = content.filter(|it| it.fits(run)) {
            return self.add_frame(&content.frame);
        }
        let large = Large {
            input: &run.input,
            state_schema: run.state_schema.as_deref(),
            result: run.result.as_deref(),
        };
        self.add(&large.end()?);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        if !self.plain.is_empty() {
            self.done.extend(compressed(&self.plain)?);
            self.plain.clear();
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.close()?;
        Ok(self.done)
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(Error::damaged)
}

pub fn compressed(plain: &[u8]) -> Result<Vec<u8>, Error> {
    zstd::bulk::compress(plain, 1).map_err(Error::damaged)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{RunDetail, nouns::sample};

    #[derive(Serialize)]
    struct Beside {
        new: bool,
    }

    fn detail() -> Detail {
        Detail::from(RunDetail {
            run: sample::run("r"),
            input: json!([1]),
            state_schema: None,
            links: Vec::new(),
            on_crash: OnCrash::Hold,
            max_recoveries: 3,
            recoveries: 0,
            plan: Vec::new(),
            result: Some(json!({"found": 2.5})),
            error: Some(AgentError {
                kind: "Broken".into(),
                message: "why".into(),
                stack: None,
            }),
        })
    }

    fn kept(run: &Detail, content: Option<&PackedContent>) -> Value {
        let mut frames = Frames::begin(&Beside { new: true }).unwrap();
        frames.add_run(run, content).unwrap();
        frames.add(b"}");
        let kept = frames.finish().unwrap();
        let plain = zstd::stream::decode_all(kept.as_slice()).unwrap();
        serde_json::from_slice(&plain).unwrap()
    }

    #[test]
    fn content_that_was_compressed_before_the_transaction_is_not_compressed_in_it() {
        let run = detail();
        let of = RunContent {
            input: run.input.clone(),
            state_schema: None,
            result: run.result.clone(),
            error: None,
        };
        let mut made = PackedContent {
            of,
            frame: compressed(br#","input":"made before"}"#).unwrap(),
        };
        assert_eq!(kept(&run, Some(&made))["run"]["input"], "made before");

        made.of.input = Arc::new(json!([1]));
        for outdated in [Some(&made), None] {
            let kept = kept(&run, outdated);
            assert_eq!(kept["new"], true);
            let read: Detail = serde_json::from_value(kept["run"].clone()).unwrap();
            assert_eq!(read, run);
        }
    }

    #[tokio::test]
    async fn an_answer_of_several_frames_reads_back_whole() {
        let run = detail();
        let content = RunContent {
            input: run.input.clone(),
            state_schema: None,
            result: run.result.clone(),
            error: None,
        };
        let made = PackedContent::of(content).await.unwrap();
        let kept = kept(&run, Some(&made));
        let read: Detail = serde_json::from_value(kept["run"].clone()).unwrap();
        assert_eq!(read, run);
    }
}
