//! Who is signed in, and what belongs to them: theme, time zone, keys, signing out; on a phone also the pages.

use leptos::prelude::*;

use super::{
    theme::ThemeSwitch,
    time::ZoneSwitch,
    top_bar::{Here, SectionLinks},
};
use crate::domain::Principal;

/// A menu that opens without WASM.
#[component]
pub fn Account(principal: Principal, here: Here) -> impl IntoView {
    view! {
        <details class="account">
            <summary>
                <span class="account-name">{principal.name.clone()}</span>
                <span class="account-role">" · " {principal.role.as_str()}</span>
            </summary>
            <div class="menu">
                <nav class="menu-sections" aria-label="Pages of the menu">
                    <ul><SectionLinks here/></ul>
                </nav>
                <p class="menu-title">"Theme"</p>
                <ThemeSwitch/>
                <p class="menu-title">"Times"</p>
                <ZoneSwitch/>
                <button type="button" class="menu-item" data-opens-help="">
                    "Keyboard shortcuts" <kbd>"?"</kbd>
                </button>
                <form method="post" action="/signout">
                    <button type="submit" class="menu-item">"Sign out"</button>
                </form>
            </div>
        </details>
    }
    .into_any()
}
