//! Light, dark, or as the system has it. The choice is applied before the first paint by a script in the head.

use leptos::prelude::*;

use super::{browser::OrSay as _, preference, segments::Segments};

/// Sets `data-theme` from the stored choice; small enough to stand in every page.
pub const BEFORE_PAINT: &str =
    "try{let t=localStorage.theme;if(t)document.documentElement.dataset.theme=t}catch(e){}";

/// `None` is the system's own.
type Theme = Option<&'static str>;

const CHOICES: [(Theme, &str); 3] = [
    (None, "System"),
    (Some("light"), "Light"),
    (Some("dark"), "Dark"),
];

/// What was chosen, shared by every switch on the page.
#[derive(Clone, Copy)]
pub struct ThemeChoice(RwSignal<Theme>);

impl ThemeChoice {
    pub fn provide() {
        let chosen = RwSignal::new(None);
        provide_context(Self(chosen));
        Effect::new(move || {
            let stored = preference::read("theme");
            let known = CHOICES.iter().find(|(it, _)| *it == stored.as_deref());
            chosen.set(known.and_then(|(it, _)| *it));
        });
    }

    fn choose(self, theme: Theme) {
        self.0.set(theme);
        preference::keep("theme", theme);
        if let Some(root) = document().document_element() {
            let changed = match theme {
                Some(theme) => root.set_attribute("data-theme", theme),
                None => root.remove_attribute("data-theme"),
            };
            changed.or_say("change the theme");
        }
    }
}

#[component]
pub fn ThemeSwitch() -> impl IntoView {
    let theme = expect_context::<ThemeChoice>();
    view! {
        <Segments
            label="Theme"
            choices=CHOICES.to_vec()
            chosen=theme.0
            on_choose=move |choice| theme.choose(choice)
        />
    }
    .into_any()
}
