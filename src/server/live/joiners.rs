//! Pages that join the stream: what each of them missed since the event that it names. One read serves all that come
//! together.

use tokio::sync::{broadcast, mpsc, oneshot};

use super::{
    PAGE,
    compose::{self, Audience, Frames, Packet, compose},
    touched::Touched,
};
use crate::{
    domain::{RunId, wire::frame::crowd},
    store::Store,
};

/// From this many missed events on, reading again is cheaper than catching up.
const CATCH_UP_MAX: i64 = 1_000;

/// A page that wants frames.
pub struct Join {
    pub after: i64,
    pub run: Option<RunId>,
    pub joined: oneshot::Sender<Joined>,
}

/// What a page missed, if anything, and the channel of the frames that follow.
pub struct Joined {
    pub first: Option<Packet>,
    pub packets: broadcast::Receiver<Packet>,
}

/// The pages that are let in together.
pub struct Joiners(Vec<Join>);

impl Joiners {
    /// This page, and all that wait behind it.
    pub fn waiting(first: Join, behind: &mut mpsc::Receiver<Join>) -> Self {
        let mut joins = vec![first];
        while let Ok(join) = behind.try_recv() {
            joins.push(join);
        }
        Self(joins)
    }

    /// Whether a page has seen an event after this one.
    pub fn ahead_of(&self, at: i64) -> bool {
        self.0.iter().any(|join| join.after > at)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Pages that missed events, few enough to be told.
    fn late(&self, at: i64) -> impl Iterator<Item = &Join> {
        let late = move |join: &&Join| (1..=CATCH_UP_MAX).contains(&(at - join.after));
        self.0.iter().filter(late)
    }

    /// What the late ones missed up to the event `at`, made once for all of them.
    pub async fn missed(&self, store: &Store, at: i64, head: i64, viewers: usize) -> Missed {
        let audience = Audience {
            all: self.late(at).any(|join| join.run.is_none()),
            runs: self.late(at).filter_map(|join| join.run.clone()).collect(),
            crowd: crowd(viewers),
        };
        let touched = match self.late(at).map(|join| join.after).min() {
            Some(oldest) => touched(store, oldest, at).await,
            None => Some(Touched::default()),
        };
        let moved = touched.as_ref().is_some_and(Touched::moved);
        let frames = match &touched {
            Some(touched) => compose(store, at, touched, &audience, None).await,
            None => compose::again(at, &audience),
        };
        Missed {
            at,
            head,
            crowd: audience.crowd,
            frames,
            moved,
        }
    }
}

impl IntoIterator for Joiners {
    type Item = Join;
    type IntoIter = std::vec::IntoIter<Join>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// What is told to pages that join now.
pub struct Missed {
    /// The newest event that was read, and the newest that the store has.
    at: i64,
    head: i64,
    crowd: u32,
    frames: Frames,
    /// What is counted may have changed.
    pub moved: bool,
}

impl Missed {
    /// The first packet of a page; none if it missed nothing.
    pub fn by(&self, join: &Join) -> Option<Packet> {
        match &join.run {
            // Another store under the same address.
            _ if join.after > self.head => Some(Packet::read_again(self.head, self.crowd)),
            _ if self.at - join.after > CATCH_UP_MAX => {
                Some(Packet::read_again(self.at, self.crowd))
            }
            _ if join.after >= self.at => None,
            None => self.frames.all.clone(),
            Some(run) => self.frames.runs.get(run).cloned(),
        }
    }
}

/// What events after `after` and up to `at` touched; nothing if some of them are gone.
async fn touched(store: &Store, after: i64, at: i64) -> Option<Touched> {
    let mut touched = Touched::default();
    let mut seen = after;
    while seen < at {
        let page = store.events(seen, None, PAGE).await.ok()?;
        let whole = page.events.first()?.id == seen + 1;
        page.events
            .iter()
            .take_while(|event| event.id <= at)
            .for_each(|event| touched.add(event));
        seen = page.next;
        if !whole {
            return None;
        }
    }
    Some(touched)
}
