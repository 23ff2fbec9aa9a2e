//! What the reader may choose for this browser.

use leptos::prelude::*;

use super::{keyboard::KeysSwitch, notify::NotifySwitch, theme::ThemeSwitch, time::ZoneSwitch};

#[component]
pub fn Appearance() -> impl IntoView {
    view! {
        <dl class="choices">
            <div><dt>"Theme"</dt><dd><ThemeSwitch/></dd></div>
            <div><dt>"Times"</dt><dd><ZoneSwitch/></dd></div>
            <div><dt>"Keyboard"</dt><dd><KeysSwitch/></dd></div>
            <div><dt>"Notifications"</dt><dd><NotifySwitch/></dd></div>
        </dl>
        <noscript><p class="dim">"These choices need JavaScript; without it the system's theme and UTC are used."</p></noscript>
    }
    .into_any()
}
