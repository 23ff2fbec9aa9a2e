//! The browser's side of the event stream: one stream per tab, which every page listens to.
//!
//! Nothing is lost between the page and the stream: a page's data names the newest event that it contains, the
//! first connection goes on from there, and each later one from the last event received. Where too much was missed
//! to replay (a tab hidden for hours, pruned events), listeners are told to read again.

#[cfg(feature = "hydrate")]
mod stream;

use leptos::prelude::*;

use crate::domain::Event;

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
    Event(Box<Event>),
    /// Events were missed that will not come: read again what is shown.
    ReadAgain,
}

type Listener = (u64, Callback<Message>);

/// The tab's stream, provided once by the app.
#[derive(Clone, Copy)]
pub struct Live {
    connection: RwSignal<Connection>,
    /// The last event received, or the oldest of those that the page's data starts from.
    cursor: StoredValue<Option<i64>>,
    listeners: StoredValue<Vec<Listener>>,
    #[cfg(feature = "hydrate")]
    tab: StoredValue<stream::Tab, LocalStorage>,
}

impl Live {
    pub fn provide() -> Self {
        let live = Self {
            connection: RwSignal::new(Connection::Static),
            cursor: StoredValue::new(None),
            listeners: StoredValue::new(Vec::new()),
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
