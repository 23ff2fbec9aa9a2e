//! The live hub: one task reads the events table and tells everyone who listens, so that hundreds of viewers cost
//! agents one reader.
//!
//! Outside readers (`/v1/events`) and long polls hear of single events. Open pages get frames: events are gathered for
//! a moment, what they touched is read once and rendered once, and every page gets the same bytes. All frames come
//! from this one task, each read after the one before, so no page sees an older state after a newer.

mod compose;
mod joiners;
mod told;
mod touched;
mod viewer;

pub use told::{News, Told};
pub use viewer::follow;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{broadcast, mpsc, oneshot, watch},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use self::{
    compose::{Audience, Packet, compose},
    joiners::{Join, Joined, Joiners},
    touched::Touched,
};
use crate::{
    domain::{Code, Problem, RunId, Trouble, wire::frame::crowd},
    server::seats::Seats,
    store::Store,
};

/// Events a slow listener may fall behind before it is sent back to the table.
const BACKLOG: usize = 4_096;
/// Frames a slow page may fall behind before it is told to read again. They are kept once, not per page.
const FRAMES: usize = 16;
const PAGE: i64 = 500;
/// Pages that are let in together.
const JOINS: usize = 512;
/// Under load the table is read this often; after a quiet moment at once.
const READ_EVERY: Duration = Duration::from_millis(10);
const COUNT_EVERY: Duration = Duration::from_secs(1);
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// How long changes are gathered into one frame: longer with more viewers, so that they cost agents no more. The first
/// change after a quiet moment is sent at once.
fn gather(viewers: usize) -> Duration {
    Duration::from_millis((50 + viewers as u64 / 4).min(200))
}

#[derive(Clone)]
pub struct Hub {
    news: broadcast::Sender<News>,
    joins: mpsc::Sender<Join>,
    /// The newest event that was read.
    at: Arc<AtomicI64>,
    viewers: Seats<String>,
}

impl Hub {
    /// The hub and the task behind it.
    pub fn new(viewers: Seats<String>) -> (Self, Follower) {
        let news = broadcast::channel(BACKLOG).0;
        let (joins, joining) = mpsc::channel(JOINS);
        let at = Arc::new(AtomicI64::new(0));
        let follower = Follower {
            news: news.clone(),
            joining,
            at: at.clone(),
            all: broadcast::channel(FRAMES).0,
            watched: HashMap::new(),
            touched: Touched::default(),
            sent: Instant::now(),
            recount: false,
            counted: None,
        };
        let hub = Self {
            news,
            joins,
            at,
            viewers,
        };
        (hub, follower)
    }

    pub fn listen(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    fn at(&self) -> i64 {
        self.at.load(Ordering::Acquire)
    }

    fn crowd(&self) -> u32 {
        crowd(self.viewers.taken())
    }

    /// Joins after this event; `run` is the one whose steps are wanted.
    async fn join(&self, after: Option<i64>, run: Option<RunId>) -> Result<Joined, Problem> {
        let gone = || Problem::new(Code::Busy, "the server is stopping: try again");
        let (joined, answer) = oneshot::channel();
        let join = Join {
            after: after.unwrap_or_else(|| self.at()),
            run,
            joined,
        };
        self.joins.send(join).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())
    }
}

/// The task behind the hub.
pub struct Follower {
    news: broadcast::Sender<News>,
    joining: mpsc::Receiver<Join>,
    at: Arc<AtomicI64>,
    /// Pages that show all runs.
    all: broadcast::Sender<Packet>,
    /// Pages that show one run.
    watched: HashMap<RunId, broadcast::Sender<Packet>>,
    /// Since the last frame.
    touched: Touched,
    sent: Instant,
    /// A run moved, or was decided about, since runs were counted.
    recount: bool,
    counted: Option<Instant>,
}

impl Follower {
    /// Follows the table from its newest event on, until stopped.
    pub async fn follow(mut self, store: Store, at: i64, stop: CancellationToken) {
        self.at.store(at, Ordering::Release);
        stop.run_until_cancelled(self.go_on(&store)).await;
    }

    async fn go_on(&mut self, store: &Store) {
        let mut head = store.head_changes();
        let mut trouble = store.trouble_changes();
        let mut rested = Instant::now();
        loop {
            let due = self.due();
            tokio::select! {
                changed = async { sleep_until(rested).await; head.changed().await } => match changed {
                    Ok(()) => {
                        self.read(store, &mut head).await;
                        rested = Instant::now() + READ_EVERY;
                    }
                    Err(_) => return,
                },
                () = sleep_until(due.unwrap_or(rested)), if due.is_some() => self.send(store).await,
                changed = trouble.changed() => match changed {
                    Ok(()) => self.tell_trouble(*trouble.borrow_and_update()),
                    Err(_) => return,
                },
                join = self.joining.recv() => match join {
                    Some(join) => self.admit(store, join, &mut head).await,
                    None => return,
                },
            }
        }
    }

    fn viewers(&self) -> usize {
        let watching: usize = self.watched.values().map(|it| it.receiver_count()).sum();
        self.all.receiver_count() + watching
    }

    /// When the next frame goes out, if anything is to be told.
    fn due(&self) -> Option<Instant> {
        let gathered = self.sent + gather(self.viewers());
        match (self.touched.is_empty(), self.recount) {
            (false, _) => Some(gathered),
            (true, true) => Some(self.counted.map_or(gathered, |at| at + COUNT_EVERY)),
            (true, false) => None,
        }
    }

    /// Reads new events and sends them. With no listener nothing is read: a later listener begins with the table.
    async fn read(&mut self, store: &Store, head: &mut watch::Receiver<i64>) {
        let known = *head.borrow_and_update();
        let mut at = self.at.load(Ordering::Acquire);
        let viewed = self.viewers() > 0;
        if !viewed && self.news.receiver_count() == 0 {
            return self.at.store(at.max(known), Ordering::Release);
        }
        let from = at;
        loop {
            match store.events(at, None, PAGE).await {
                Ok(page) => {
                    at = page.next;
                    let more = page.events.len() as i64 == PAGE;
                    for event in page.events {
                        if viewed {
                            self.touched.add(&event);
                        }
                        // Nobody listening is no error.
                        let _ = self.news.send(News::Event(Arc::new(Told::new(event))));
                    }
                    self.at.store(at, Ordering::Release);
                    if !more {
                        break;
                    }
                }
                Err(problem) => {
                    tracing::warn!(%problem, "the live hub could not read; it tries again");
                    sleep(RETRY_AFTER).await;
                }
            }
        }
        if at == from {
            let _ = self.news.send(News::Woken);
        }
    }

    /// Sends one frame to every page that it matters to.
    async fn send(&mut self, store: &Store) {
        self.watched.retain(|_, pages| pages.receiver_count() > 0);
        let touched = std::mem::take(&mut self.touched);
        self.sent = Instant::now();
        self.recount |= touched.moved();
        metrics::gauge!("step47_viewers").set(self.viewers() as f64);
        if self.viewers() == 0 {
            self.recount = false;
            return;
        }
        let audience = Audience {
            all: self.all.receiver_count() > 0,
            runs: self.watched.keys().cloned().collect(),
            crowd: crowd(self.viewers()),
        };
        let event = self.at.load(Ordering::Acquire);
        let counts = self.count(store).await;
        let frames = compose(store, event, &touched, &audience, counts).await;
        // Nobody listening any more is no error.
        if let Some(packet) = frames.all {
            let _ = self.all.send(packet);
        }
        for (run, packet) in frames.runs {
            if let Some(pages) = self.watched.get(&run) {
                let _ = pages.send(packet);
            }
        }
    }

    /// Tells every open page that writes fail, or work again.
    fn tell_trouble(&self, trouble: Option<Trouble>) {
        let packet = Packet::writing(self.at.load(Ordering::Acquire), trouble);
        // Nobody listening is no error.
        let _ = self.all.send(packet.clone());
        for pages in self.watched.values() {
            let _ = pages.send(packet.clone());
        }
    }

    /// Counts runs again if one moved, at most once a second.
    async fn count(&mut self, store: &Store) -> Option<crate::domain::Counts> {
        let rested = self.counted.is_none_or(|at| at.elapsed() >= COUNT_EVERY);
        if !self.recount || !rested {
            return None;
        }
        self.counted = Some(Instant::now());
        let counts = store.counts().await;
        self.recount = counts.is_err();
        counts.ok()
    }

    /// Lets waiting pages in, and tells each what it missed.
    async fn admit(&mut self, store: &Store, first: Join, news: &mut watch::Receiver<i64>) {
        let joiners = Joiners::waiting(first, &mut self.joining);
        if joiners.ahead_of(self.at.load(Ordering::Acquire)) {
            // A page has read events that this task has not. They are read first, so that the page is not told them again.
            self.read(store, news).await;
        }
        let at = self.at.load(Ordering::Acquire);
        let head = match joiners.ahead_of(at) {
            true => store.head().await.unwrap_or(i64::MAX),
            false => at,
        };
        let viewers = self.viewers() + joiners.len();
        let missed = joiners.missed(store, at, head, viewers).await;
        self.recount |= missed.moved;
        let trouble = store.trouble();
        for join in joiners {
            let mut first = missed.by(&join);
            if trouble.is_some() {
                first = Some(Packet::writing(join.after, trouble).after(first));
            }
            let packets = self.subscribe(join.run);
            // A page that went away while it waited is no error.
            let _ = join.joined.send(Joined { first, packets });
        }
    }

    fn subscribe(&mut self, run: Option<RunId>) -> broadcast::Receiver<Packet> {
        match run {
            None => self.all.subscribe(),
            Some(run) => {
                let pages = self.watched.entry(run);
                pages
                    .or_insert_with(|| broadcast::channel(FRAMES).0)
                    .subscribe()
            }
        }
    }
}
