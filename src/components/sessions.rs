//! A person's sessions, and the button that ends all of them.

use leptos::prelude::*;

use super::time::Moment;
use crate::domain::nouns::access::Session;

/// A plain form: it works without WASM, and the answer leads to the sign-in page.
#[component]
pub fn Sessions(sessions: Vec<Session>) -> impl IntoView {
    let row = |session: Session| {
        let here = session.current.then_some("this browser");
        view! {
            <li>
                "signed in " <Moment at=session.created_at/>
                {session.seen_at.map(|at| view! { ", last seen " <Moment at/> })}
                ", ends " <Moment at=session.expires_at/>
                {here.map(|here| view! { " · " <b>{here}</b> })}
            </li>
        }
    };
    view! {
        <ul class="sessions">{sessions.into_iter().map(row).collect_view()}</ul>
        <form method="post" action="/signout?everywhere">
            <button type="submit" class="button danger">"Sign out everywhere"</button>
        </form>
        <p class="dim">"Ends every session of yours within two seconds, this one too, and links that were made for you and not used."</p>
    }
    .into_any()
}
