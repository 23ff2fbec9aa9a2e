//! The `EventSource` behind [`Live`]: opened when a page follows, closed while the tab is hidden, opened again for
//! ever with growing pauses. The cursor goes into the URL: a browser's own `Last-Event-ID` is lost on a hard close.

use std::{sync::Arc, time::Duration};

use leptos::{
    leptos_dom::helpers::TimeoutHandle, prelude::*, task::spawn_local, wasm_bindgen::JsCast,
};
use wasm_bindgen::closure::Closure;
use web_sys::{EventSource, MessageEvent, VisibilityState};

use super::{Connection, Live, Message};
use crate::{
    api,
    components::browser::OrSay as _,
    domain::{Code, Frame},
};

const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// What the tab holds of its stream.
#[derive(Default)]
pub struct Tab {
    started: bool,
    source: Option<Source>,
    retry: Option<TimeoutHandle>,
    /// Connections lost or refused since the last one that opened.
    refusals: u32,
}

/// An open `EventSource` with the closures it calls; closed when dropped.
struct Source {
    events: EventSource,
    _opened: Closure<dyn FnMut()>,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _lost: Closure<dyn FnMut()>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.events.set_onopen(None);
        self.events.set_onmessage(None);
        self.events.set_onerror(None);
        self.events.close();
    }
}

impl Live {
    /// Another run is watched: what is open is closed at once, so that the cursor stays behind the new page's data.
    pub(super) fn open_again(self) {
        let open = self.tab.try_update_value(|tab| tab.source.take().is_some());
        if open == Some(true) {
            // Pages that change together make one connection.
            set_timeout(move || self.open_if_closed(), Duration::ZERO);
        }
    }

    fn open_if_closed(self) {
        let idle = self
            .tab
            .with_value(|tab| tab.source.is_none() && tab.retry.is_none());
        let wanted = matches!(
            self.connection.get_untracked(),
            Connection::Live | Connection::Connecting
        );
        if idle && wanted {
            self.open();
        }
    }

    /// Starts the stream once; further pages of the tab share it.
    pub(super) fn start(self) {
        let first = self
            .tab
            .try_update_value(|tab| !std::mem::replace(&mut tab.started, true));
        if first != Some(true) {
            return;
        }
        // The listeners live as long as the tab: their handles only serve to remove them.
        let _ = window_event_listener_untyped("online", move |_| self.wake());
        let _ = window_event_listener_untyped("offline", move |_| self.lost());
        let changed = Closure::<dyn FnMut()>::new(move || self.visibility_changed());
        let listen = changed.as_ref().unchecked_ref();
        document()
            .add_event_listener_with_callback("visibilitychange", listen)
            .or_say("listen for hidden tabs");
        changed.forget();
        // Every resource of the page has named its event when the current tick is over.
        set_timeout(move || self.open(), Duration::ZERO);
    }

    fn visibility_changed(self) {
        match document().visibility_state() {
            VisibilityState::Hidden => {
                self.close();
                self.connection.set(Connection::Paused);
            }
            _ => self.wake(),
        }
    }

    /// Connects now, unless connected: someone looks, or the network is back.
    fn wake(self) {
        let idle = matches!(
            self.connection.get_untracked(),
            Connection::Paused | Connection::Lost
        );
        if idle {
            self.close();
            spawn_local(self.catch_up());
        }
    }

    fn close(self) {
        self.tab.update_value(|tab| {
            tab.source = None;
            if let Some(retry) = tab.retry.take() {
                retry.clear();
            }
        });
    }

    fn open(self) {
        if document().visibility_state() == VisibilityState::Hidden {
            return self.connection.set(Connection::Paused);
        }
        // What stays lost stays so until it opens, and a change of pages is no interruption.
        let known = self.connection.get_untracked();
        if !matches!(known, Connection::Lost | Connection::Live) {
            self.connection.set(Connection::Connecting);
        }
        match self.connect(&self.address()) {
            Some(source) => self.tab.update_value(|tab| tab.source = Some(source)),
            None => self.lost(),
        }
    }

    fn address(self) -> String {
        let after = self.cursor.get_value().unwrap_or_default();
        let run = self.watched.with_value(|it| it.run.clone());
        let run = run.map(|run| format!("&run={run}")).unwrap_or_default();
        format!("/live?after={after}{run}")
    }

    fn connect(self, address: &str) -> Option<Source> {
        let events = EventSource::new(address).or_say("open the stream of events")?;
        let opened = Closure::new(move || {
            self.tab.update_value(|tab| tab.refusals = 0);
            self.connection.set(Connection::Live);
        });
        let message = Closure::new(move |message: MessageEvent| self.received(&message));
        let lost = Closure::new(move || self.lost());
        events.set_onopen(Some(opened.as_ref().unchecked_ref()));
        events.set_onmessage(Some(message.as_ref().unchecked_ref()));
        events.set_onerror(Some(lost.as_ref().unchecked_ref()));
        Some(Source {
            events,
            _opened: opened,
            _message: message,
            _lost: lost,
        })
    }

    fn received(self, message: &MessageEvent) {
        let text = message.data().as_string().unwrap_or_default();
        let frame = serde_json::from_str::<Frame>(&text);
        let event = frame.as_ref().ok().map(|frame| frame.event);
        if let Some(event) = event.or_else(|| message.last_event_id().parse().ok()) {
            self.cursor.set_value(Some(event));
        }
        if let Ok(frame) = &frame {
            self.crowd.set_value(frame.crowd.max(1));
        }
        match frame {
            Ok(frame) if !frame.read_again => self.tell(Message::Frame(Arc::new(frame))),
            // A newer server may say what this page does not understand.
            _ => self.tell(Message::ReadAgain),
        }
    }

    fn lost(self) {
        self.close();
        self.connection.set(Connection::Lost);
        let refusals = self
            .tab
            .try_update_value(|tab| {
                tab.refusals += 1;
                tab.refusals
            })
            .unwrap_or(1);
        let pause = PAUSE_FIRST * 2u32.pow((refusals - 1).min(8));
        let again = move || {
            self.tab.update_value(|tab| tab.retry = None);
            spawn_local(self.catch_up());
        };
        let waiting = set_timeout_with_handle(again, pause.min(PAUSE_MAX));
        if let Some(handle) = waiting.or_say("wait for the next try") {
            self.tab.update_value(|tab| tab.retry = Some(handle));
        }
    }

    /// An `EventSource` does not say why it failed: asks whether the session still counts, then opens it again.
    async fn catch_up(self) {
        match api::session::me().await {
            Ok(_) => {
                if self.tab.with_value(|tab| tab.source.is_none()) {
                    self.open();
                }
            }
            Err(error) if error.is(Code::Unauthorized) => {
                self.connection.set(Connection::SignedOut);
            }
            Err(_) => self.lost(),
        }
    }
}
