//! Whether what is shown is current.

use leptos::prelude::*;

use crate::live::Connection;

#[component]
pub fn ConnectionState(connection: Signal<Connection>) -> impl IntoView {
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
            "A hidden tab does not update; it catches up when looked at",
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
            <span class="connection-word">{move || words().1}</span>
        </span>
    }
    .into_any()
}
