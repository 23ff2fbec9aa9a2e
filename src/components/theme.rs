//! Light, dark, or as the system has it. The choice is applied before the first paint by a script in the head.

use leptos::prelude::*;

/// Sets `data-theme` from the stored choice; small enough to stand in every page.
pub const BEFORE_PAINT: &str =
    "try{let t=localStorage.theme;if(t)document.documentElement.dataset.theme=t}catch(e){}";

const CHOICES: [(&str, &str); 3] = [("", "System"), ("light", "Light"), ("dark", "Dark")];

/// The switch; it needs WASM, like the choice it stores.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    let chosen = RwSignal::new(String::new());
    Effect::new(move || chosen.set(stored()));
    let choice = move |(theme, name): (&'static str, &'static str)| {
        view! {
            <button
                type="button"
                class="segment"
                aria-pressed=move || (chosen.get() == theme).to_string()
                on:click=move |_| {
                    choose(theme);
                    chosen.set(theme.into());
                }
            >
                {name}
            </button>
        }
    };
    view! {
        <div class="segments" role="group" aria-label="Theme">
            {CHOICES.map(choice).collect_view()}
        </div>
    }
    .into_any()
}

/// What was chosen before; private windows may refuse to say.
fn stored() -> String {
    let storage = window().local_storage().ok().flatten();
    let theme = storage.and_then(|storage| storage.get_item("theme").ok().flatten());
    theme.unwrap_or_default()
}

fn choose(theme: &str) {
    let Some(root) = document().document_element() else {
        return;
    };
    let storage = window().local_storage().ok().flatten();
    if theme.is_empty() {
        let _ = root.remove_attribute("data-theme");
        let _ = storage.map(|storage| storage.remove_item("theme"));
    } else {
        let _ = root.set_attribute("data-theme", theme);
        let _ = storage.map(|storage| storage.set_item("theme", theme));
    }
}
