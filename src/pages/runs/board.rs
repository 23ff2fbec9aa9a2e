//! The runs on the screen, kept current: events say which run moved, the board reads those runs again, a few at a
//! time, and patches their rows. Runs that are not on the screen are only announced.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use leptos::{leptos_dom::helpers::set_timeout, prelude::*, task::spawn_local};

use crate::{
    api,
    domain::{Event, Run, RunId, RunQuery},
    live::{Live, Message},
};

/// Events within this time are read together.
const GATHER: Duration = Duration::from_millis(120);
/// After a read that failed.
const PAUSE: Duration = Duration::from_secs(2);
/// Runs read at once; the rest follows.
const READ_MAX: usize = 100;
/// Runs remembered as moved while they are not on the screen.
const STRANGERS_MAX: usize = 500;

/// The list of all runs leaves out what stands above it: what needs a person.
pub fn belongs_in_list(query: &RunQuery, run: &Run) -> bool {
    query.admits(run) && !(query.is_plain() && run.status.needs_you())
}

/// Where on the page a run has its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    NeedsYou,
    List,
}

type Rows = HashMap<(Place, RunId), RwSignal<Run>>;

#[derive(Clone, Copy)]
pub struct Board {
    query: Signal<RunQuery>,
    rows: StoredValue<Rows>,
    moved: StoredValue<HashSet<RunId>>,
    reading: StoredValue<bool>,
    fresh: RwSignal<HashSet<(Place, RunId)>>,
}

impl Board {
    pub fn new(live: Live, query: Signal<RunQuery>) -> Self {
        let board = Self {
            query,
            rows: StoredValue::new(HashMap::new()),
            moved: StoredValue::new(HashSet::new()),
            reading: StoredValue::new(false),
            fresh: RwSignal::new(HashSet::new()),
        };
        live.listen(move |message| match message {
            Message::Event(event) => board.heard(&event),
            Message::ReadAgain => spawn_local(board.read_all_again()),
        });
        board
    }

    /// A row for `run` that follows it until the calling view is gone.
    pub fn row(self, place: Place, run: Run) -> Signal<Run> {
        let key = (place, run.id.clone());
        let row = RwSignal::new(run);
        self.rows.update_value(|rows| {
            rows.insert(key.clone(), row);
        });
        on_cleanup(move || {
            self.rows.try_update_value(|rows| match rows.get(&key) {
                Some(it) if *it == row => rows.remove(&key),
                _ => None,
            });
        });
        row.into()
    }

    /// How many runs would come up at `place` if it were read again.
    pub fn fresh(self, place: Place) -> Signal<usize> {
        Signal::derive(move || {
            self.fresh
                .with(|fresh| fresh.iter().filter(|it| it.0 == place).count())
        })
    }

    /// `place` was read again.
    pub fn shown(self, place: Place) {
        if self
            .fresh
            .with_untracked(|fresh| fresh.iter().any(|it| it.0 == place))
        {
            self.fresh.update(|fresh| fresh.retain(|it| it.0 != place));
        }
    }

    fn shows(self, id: &RunId) -> bool {
        [Place::NeedsYou, Place::List]
            .iter()
            .any(|place| self.has(*place, id))
    }

    fn has(self, place: Place, id: &RunId) -> bool {
        self.rows
            .with_value(|rows| rows.contains_key(&(place, id.clone())))
    }

    fn heard(self, event: &Event) {
        if !event.kind.moves_run() && !self.shows(&event.run) {
            return;
        }
        self.moved.update_value(|moved| {
            if moved.len() < STRANGERS_MAX || self.shows(&event.run) {
                moved.insert(event.run.clone());
            }
        });
        self.read_soon(GATHER);
    }

    fn read_soon(self, pause: Duration) {
        if !self.reading.get_value() {
            self.reading.set_value(true);
            set_timeout(move || spawn_local(self.read()), pause);
        }
    }

    async fn read(self) {
        let ids: Option<Vec<RunId>> = self.moved.try_update_value(|moved| {
            let some: Vec<_> = moved.iter().take(READ_MAX).cloned().collect();
            some.iter().for_each(|id| {
                moved.remove(id);
            });
            some
        });
        let Some(ids) = ids else {
            return; // the page is gone
        };
        let answer = api::runs::some(ids.clone()).await;
        if self.reading.try_set_value(false).is_some() {
            return;
        }
        let pause = match answer {
            Ok(runs) => {
                runs.into_iter().for_each(|run| self.settle(run));
                GATHER
            }
            Err(_) => {
                self.moved.update_value(|moved| moved.extend(ids));
                PAUSE
            }
        };
        if self.moved.with_value(|moved| !moved.is_empty()) {
            self.read_soon(pause);
        }
    }

    /// Patches the rows of `run`, and announces it where it has none but would.
    fn settle(self, run: Run) {
        let query = self.query.get_untracked();
        let belongs = |place| match place {
            Place::NeedsYou => run.status.needs_you(),
            Place::List => query.cursor.is_none() && belongs_in_list(&query, &run),
        };
        for place in [Place::NeedsYou, Place::List] {
            let key = (place, run.id.clone());
            let row = self.rows.with_value(|rows| rows.get(&key).copied());
            let announced = self.fresh.with_untracked(|fresh| fresh.contains(&key));
            match row {
                Some(row) => {
                    row.try_set(run.clone());
                }
                None if belongs(place) != announced => self.fresh.update(|fresh| {
                    if !fresh.remove(&key) {
                        fresh.insert(key);
                    }
                }),
                None => {}
            }
        }
    }

    /// Too much was missed: reads the rows again and looks for new ones.
    async fn read_all_again(self) {
        let shown = self
            .rows
            .with_value(|rows| rows.keys().map(|key| key.1.clone()).collect::<Vec<_>>());
        self.moved.update_value(|moved| moved.extend(shown));
        self.read_soon(GATHER);
        let query = self.query.get_untracked();
        if let Ok(newest) = api::runs::list(query).await
            && self.rows.try_with_value(|_| ()).is_some()
        {
            newest
                .value
                .runs
                .into_iter()
                .for_each(|run| self.settle(run));
        }
    }
}
