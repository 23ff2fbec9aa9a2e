//! The runs on the screen, kept current: frames carry the runs that moved, and the board patches their rows in place.
//! Runs that are not on the screen are only announced.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use leptos::{prelude::*, task::spawn_local};

use super::causes::Causes;
use crate::{
    api,
    domain::{AsOf, Run, RunId, RunQuery, Time, rules::needs::Cause},
    live::{Live, Message, Throttle},
};

/// Runs announced above one section at most.
const FRESH_MAX: usize = 1_000;
/// Causes that are shown are read again at most this often.
const CAUSES: Duration = Duration::from_millis(500);

/// The list of all runs leaves out what stands above it: what needs a person.
pub fn belongs_in_list(query: &RunQuery, run: &Run) -> bool {
    query.admits(run) && !(query.is_plain() && run.needs_you())
}

/// Where on the page a run has its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoardSection {
    NeedsYou,
    List,
}

/// A run's row, and the newest event that it surely contains.
struct Row {
    run: RwSignal<Run>,
    event: i64,
}

type Rows = HashMap<(BoardSection, RunId), Row>;

#[derive(Clone, Copy)]
pub struct Board {
    query: Signal<RunQuery>,
    rows: StoredValue<Rows>,
    causes: Causes,
    fresh: RwSignal<HashSet<(BoardSection, RunId)>>,
    /// The age of the last run on the list's first page: an older run belongs further down and is not announced.
    oldest: StoredValue<Option<Time>>,
}

impl Board {
    pub fn new(live: Live, query: Signal<RunQuery>) -> Self {
        let board = Self {
            query,
            rows: StoredValue::new(HashMap::new()),
            causes: Causes::new(),
            fresh: RwSignal::new(HashSet::new()),
            oldest: StoredValue::new(None),
        };
        let again = Throttle::patiently(live, move || spawn_local(board.read_again()));
        let causes = Throttle::after(live, CAUSES, move || {
            spawn_local(board.causes.read_again());
        });
        live.listen(move |message| match message {
            Message::Frame(frame) => {
                for run in &frame.runs {
                    board.settle(frame.event, run);
                }
                if frame.counts.is_some() && !board.causes.is_empty() {
                    causes.ask();
                }
            }
            Message::ReadAgain => again.ask(),
        });
        board
    }

    /// A row for `run`, read after `event`, that follows it until the calling view is gone.
    pub fn row(self, place: BoardSection, event: i64, run: Run) -> Signal<Run> {
        let key = (place, run.id.clone());
        let run = RwSignal::new(run);
        self.rows.update_value(|rows| {
            rows.insert(key.clone(), Row { run, event });
        });
        on_cleanup(move || {
            self.rows.try_update_value(|rows| match rows.get(&key) {
                Some(it) if it.run == run => rows.remove(&key),
                _ => None,
            });
        });
        run.into()
    }

    /// A line for `cause` that follows it until the calling view is gone.
    pub fn cause(self, cause: Cause) -> Signal<Cause> {
        self.causes.line(cause)
    }

    /// How many runs would come up at `place` if it were read again.
    pub fn fresh(self, place: BoardSection) -> Signal<usize> {
        Signal::derive(move || {
            self.fresh
                .with(|fresh| fresh.iter().filter(|it| it.0 == place).count())
        })
    }

    /// `place` was read again.
    pub fn shown(self, place: BoardSection) {
        if self
            .fresh
            .with_untracked(|fresh| fresh.iter().any(|it| it.0 == place))
        {
            self.fresh.update(|fresh| fresh.retain(|it| it.0 != place));
        }
    }

    /// The list was read, and goes on below a run of this age; none if it is all there.
    pub fn ends_at(self, oldest: Option<Time>) {
        self.oldest.set_value(oldest);
    }

    /// Patches the rows of `run`, read after `event`, and announces it where it has none but would.
    fn settle(self, event: i64, run: &Run) {
        let query = self.query.get_untracked();
        let belongs = |place| match place {
            BoardSection::NeedsYou => run.needs_you() && !self.causes.hold(run),
            BoardSection::List => {
                let below = self
                    .oldest
                    .get_value()
                    .is_some_and(|it| run.created_at < it);
                query.cursor.is_none() && !below && belongs_in_list(&query, run)
            }
        };
        for place in [BoardSection::NeedsYou, BoardSection::List] {
            let key = (place, run.id.clone());
            match self.row_before(&key, event) {
                Some(Some(row)) => {
                    row.try_set(run.clone());
                }
                Some(None) => {}
                None => self.announce(key, belongs(place)),
            }
        }
    }

    /// The row to patch; nothing inside if it is newer than `event`.
    fn row_before(self, key: &(BoardSection, RunId), event: i64) -> Option<Option<RwSignal<Run>>> {
        let patched = self.rows.try_update_value(|rows| {
            let row = rows.get_mut(key)?;
            let newer = event >= row.event;
            row.event = row.event.max(event);
            Some(newer.then_some(row.run))
        });
        patched.flatten()
    }

    fn announce(self, key: (BoardSection, RunId), belongs: bool) {
        let (announced, full) = self
            .fresh
            .with_untracked(|fresh| (fresh.contains(&key), fresh.len() >= FRESH_MAX));
        match (belongs, announced) {
            (true, false) if !full => self.fresh.update(|fresh| {
                fresh.insert(key);
            }),
            (false, true) => self.fresh.update(|fresh| {
                fresh.remove(&key);
            }),
            _ => {}
        }
    }

    /// Too much was missed: reads the rows again and looks for new ones.
    async fn read_again(self) {
        let shown = self
            .rows
            .try_with_value(|rows| rows.keys().map(|key| key.1.clone()).collect::<HashSet<_>>());
        let Some(shown) = shown else {
            return; // the page is gone
        };
        let query = self.query.get_untracked();
        if let Ok(AsOf { event, value }) = api::runs::some(shown.into_iter().collect()).await {
            self.settle_all(event, &value);
        }
        if let Ok(AsOf { event, value }) = api::runs::list(query).await {
            self.settle_all(event, &value.runs);
        }
        if let Ok(AsOf { event, value }) = api::runs::needs_you(false).await {
            self.settle_all(event, &value.runs);
        }
        self.causes.read_again().await;
    }

    fn settle_all(self, event: i64, runs: &[Run]) {
        if self.rows.try_with_value(|_| ()).is_some() {
            runs.iter().for_each(|run| self.settle(event, run));
        }
    }
}
