//! Whether what is shown is current.

use leptos::prelude::*;

use super::time::{Clock, Zone};
use crate::{domain::views::words, live::Connection};

#[component]
pub fn ConnectionState(connection: Signal<Connection>) -> impl IntoView {
    let (now, zone) = (Clock::now(), Zone::of_reader());
    // The page is as old as the last frame from the server.
    let as_of = move || {
        let lost = connection.get() == Connection::Lost;
        let at = now.get().filter(|_| lost)?;
        let said = words::time_to_the_second_at(at, zone.offset(at));
        Some(format!(", as of {said}"))
    };
    let words = move || match connection.get() {
        Connection::Static => (
            "connection",
            "not live",
            "This page was loaded once and does not update",
        ),
        Connection::Connecting => (
            "connection",
            "connecting",
            "Connecting to the server's event stream",
        ),
        Connection::Live => (
            "connection is-live",
            "live",
            "Updates arrive as they happen",
        ),
        Connection::Paused => (
            "connection",
            "paused",
            "Updates pause while this tab is hidden and catch up when you return",
        ),
        Connection::Lost => (
            "connection is-lost",
            "connection lost",
            "What is shown may be old. Trying again by itself; nothing will be missed",
        ),
        Connection::SignedOut => (
            "connection is-lost",
            "signed out",
            "Your session has ended: sign in again",
        ),
    };
    view! {
        <span class=move || words().0 title=move || words().2 role="status">
            <i class="dot" aria-hidden="true"></i>
            <span class="connection-word">{move || words().1}{as_of}</span>
        </span>
    }
    .into_any()
}
