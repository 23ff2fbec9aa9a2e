//! Frames, put together: what was touched is read by few statements and rendered once per distinct content.

use axum::body::Bytes;
use std::collections::{BTreeSet, HashMap};

use super::touched::Touched;
use crate::{
    domain::{Counts, Frame, Problem, Run, RunId, Trouble},
    server::sse,
    store::Store,
};

/// Rows in one frame; more, and pages read again what they show.
const RUNS_MAX: usize = 200;
const STEPS_MAX: usize = 200;
/// Bytes of one frame: what a server keeps for slow pages is this, times the frames they may fall behind.
const BYTES_MAX: usize = 256 << 10;

/// A frame as it is sent.
#[derive(Debug, Clone)]
pub struct Packet {
    pub event: i64,
    pub message: Bytes,
}

impl Packet {
    /// Whether the store can write.
    pub fn writing(event: i64, trouble: Option<Trouble>) -> Self {
        Self::of(&Frame::writing(event, trouble.into()))
    }

    /// One message after another, as one packet.
    pub fn after(self, first: Option<Self>) -> Self {
        match first {
            Some(first) => Self {
                event: first.event,
                message: Bytes::from([self.message, first.message].concat()),
            },
            None => self,
        }
    }

    fn of(frame: &Frame) -> Self {
        let message = sse::message(frame.event, frame);
        match message.len() <= BYTES_MAX {
            true => Self {
                event: frame.event,
                message,
            },
            false => Self::read_again(frame.event, frame.crowd),
        }
    }

    pub fn read_again(event: i64, crowd: u32) -> Self {
        Self {
            event,
            message: sse::message(event, &Frame::read_again(event, crowd)),
        }
    }
}

/// Who is to be told.
pub struct Audience {
    /// Pages that show all runs.
    pub all: bool,
    /// Runs that have a page open.
    pub runs: BTreeSet<RunId>,
    /// [`crowd`](crate::domain::wire::frame::crowd) of all pages that are open.
    pub crowd: u32,
}

#[derive(Debug, Default)]
pub struct Frames {
    pub all: Option<Packet>,
    pub runs: HashMap<RunId, Packet>,
}

/// What `touched` means for each of the audience, as of now.
pub async fn compose(
    store: &Store,
    event: i64,
    touched: &Touched,
    audience: &Audience,
    counts: Option<Counts>,
) -> Frames {
    match read(store, event, touched, audience, counts).await {
        Ok(frames) => frames,
        Err(problem) => {
            tracing::warn!(%problem, "the live hub could not read what changed; pages read for themselves");
            again(event, audience)
        }
    }
}

/// Everyone reads again.
pub fn again(event: i64, audience: &Audience) -> Frames {
    let packet = Packet::read_again(event, audience.crowd);
    let runs = audience.runs.iter();
    Frames {
        all: audience.all.then(|| packet.clone()),
        runs: runs.map(|run| (run.clone(), packet.clone())).collect(),
    }
}

async fn read(
    store: &Store,
    event: i64,
    touched: &Touched,
    audience: &Audience,
    counts: Option<Counts>,
) -> Result<Frames, Problem> {
    let whole = audience.all && touched.runs().len() <= RUNS_MAX;
    let wanted = touched
        .runs()
        .filter(|run| whole || audience.runs.contains(run));
    let ids: Vec<_> = wanted.cloned().collect();
    let runs = store.some_runs(&ids).await?;
    let mut frames = Frames::default();
    let changed = Frame {
        event,
        counts,
        crowd: audience.crowd,
        ..Frame::default()
    };
    let told = changed.counts.is_some().then(|| Packet::of(&changed));
    for id in &audience.runs {
        let packet = match touched.steps(id) {
            Some(steps) => Some(of_run(store, &changed, id, steps, &runs).await?),
            None => told.clone(),
        };
        frames
            .runs
            .extend(packet.map(|packet| (id.clone(), packet)));
    }
    frames.all = match (audience.all, whole) {
        (false, _) => None,
        (true, true) if touched.is_empty() => told,
        (true, true) => Some(Packet::of(&Frame { runs, ..changed })),
        (true, false) => Some(Packet::read_again(event, audience.crowd)),
    };
    Ok(frames)
}

/// The frame of a page that shows one run; `changed` is what it has in common with all others.
async fn of_run(
    store: &Store,
    changed: &Frame,
    id: &RunId,
    steps: &BTreeSet<i64>,
    runs: &[Run],
) -> Result<Packet, Problem> {
    if steps.len() > STEPS_MAX {
        return Ok(Packet::read_again(changed.event, changed.crowd));
    }
    let seqs: Vec<_> = steps.iter().copied().collect();
    Ok(Packet::of(&Frame {
        runs: runs.iter().filter(|run| run.id == *id).cloned().collect(),
        steps: store.some_steps(id, &seqs).await?,
        ..changed.clone()
    }))
}
