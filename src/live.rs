//! The browser's side of the live stream: one stream per tab, which every page listens to.
//!
//! Nothing is lost between the page and the stream: a page's data names the newest event that it contains, the
//! first connection goes on from there, and each later one from the last frame received. Where too much was missed
//! to send (a tab hidden for hours, pruned events), listeners are told to read again.

#[cfg(feature = "hydrate")]
mod stream;
mod throttle;

pub use throttle::Throttle;

use std::sync::Arc;

use leptos::prelude::*;

use crate::domain::{Frame, RunId};

/// How the page stands to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Server-rendered, no stream yet; without WASM it stays so.
    Static,
    Connecting,
    Live,
    /// Hidden tabs pause and catch up when they are looked at.
    Paused,
    /// Lost; tried again by itself.
    Lost,
    SignedOut,
}

/// What a listener hears.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    Frame(Arc<Frame>),
    /// Changes were missed that will not come: read again what is shown.
    ReadAgain,
}

type Listener = (u64, Callback<Message>);

/// The run whose steps are wanted, and how often that changed.
#[derive(Default)]
struct Watched {
    run: Option<RunId>,
    turn: u64,
}

/// The tab's stream, provided once by the app.
#[derive(Clone, Copy)]
pub struct Live {
    connection: RwSignal<Connection>,
    /// The event of the last frame, or the oldest of those that the page's data starts from.
    cursor: StoredValue<Option<i64>>,
    watched: StoredValue<Watched>,
    listeners: StoredValue<Vec<Listener>>,
    /// As the last frame told it.
    crowd: StoredValue<u32>,
    #[cfg(feature = "hydrate")]
    tab: StoredValue<stream::Tab, LocalStorage>,
}

impl Live {
    pub fn provide() -> Self {
        let live = Self {
            connection: RwSignal::new(Connection::Static),
            cursor: StoredValue::new(None),
            watched: StoredValue::new(Watched::default()),
            listeners: StoredValue::new(Vec::new()),
            crowd: StoredValue::new(1),
            #[cfg(feature = "hydrate")]
            tab: StoredValue::new_local(stream::Tab::default()),
        };
        provide_context(live);
        live
    }

    pub fn connection(self) -> Signal<Connection> {
        self.connection.into()
    }

    /// Calls `hear` for each message until the calling component is gone.
    pub fn listen(self, hear: impl Fn(Message) + Send + Sync + 'static) {
        let id = self
            .listeners
            .with_value(|all| all.last().map_or(0, |(id, _)| id + 1));
        let listener = (id, Callback::new(hear));
        self.listeners.update_value(|all| all.push(listener));
        on_cleanup(move || {
            self.listeners
                .try_update_value(|all| all.retain(|(it, _)| *it != id));
        });
    }

    /// Asks for the steps of this run, until the calling component is gone or another run is asked for. Call it before
    /// the run's data is read: the stream then contains all that changes after the data.
    pub fn watch(self, run: Option<RunId>) {
        let turn = self.wants(run);
        on_cleanup(move || {
            let ours = self.watched.try_with_value(|it| it.turn == turn);
            if ours == Some(true) {
                self.wants(None);
            }
        });
    }

    fn wants(self, run: Option<RunId>) -> u64 {
        let changed = self.watched.with_value(|it| it.run != run);
        let turn = self.watched.try_update_value(|it| {
            it.run = run;
            it.turn += 1;
            it.turn
        });
        #[cfg(feature = "hydrate")]
        if changed {
            self.open_again();
        }
        #[cfg(not(feature = "hydrate"))]
        let _ = changed;
        turn.unwrap_or_default()
    }

    /// Follows the stream for data that contains all events up to `event`.
    pub fn follow(self, event: i64) {
        if self.connection.get_untracked() == Connection::Static {
            let oldest = |cursor: &mut Option<i64>| {
                *cursor = Some(cursor.map_or(event, |it| it.min(event)));
            };
            self.cursor.update_value(oldest);
        }
        #[cfg(feature = "hydrate")]
        self.start();
    }

    #[cfg(feature = "hydrate")]
    fn tell(self, message: Message) {
        for (_, listener) in self.listeners.get_value() {
            listener.run(message.clone());
        }
    }
}

/// Makes the tab follow the stream for the data that it stands beside.
#[component]
pub fn Follow(event: i64) -> impl IntoView {
    let live = expect_context::<Live>();
    Effect::new(move || live.follow(event));
}
