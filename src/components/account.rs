//! Who is signed in, and what belongs to them: theme, keys, signing out.

use leptos::prelude::*;

use super::theme::ThemeSwitch;
use crate::domain::Principal;

/// A menu that opens without WASM.
#[component]
pub fn Account(principal: Principal) -> impl IntoView {
    view! {
        <details class="account">
            <summary>
                <span class="account-name">{principal.name.clone()}</span>
                <span class="account-role">" · " {principal.role.as_str()}</span>
            </summary>
            <div class="menu">
                <p class="menu-title">"Theme"</p>
                <ThemeSwitch/>
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
