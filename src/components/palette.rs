//! The palette (Ctrl or Cmd with K): pages, what may be done here, and runs, by a few letters. An action is what the page itself
//! offers now, pressed from here: the palette can do nothing that a button cannot.

use leptos::{ev, html, prelude::*, web_sys::HtmlElement};
use leptos_router::hooks::use_navigate;

use super::{browser::OrSay as _, focus, keyboard::Keys, modal, run_row, top_bar::Section};
use crate::domain::{Run, RunId};

/// What counts as an action of a page.
const ACTIONS: &str = ".run-actions a.button, .more .menu-item, .step-actions a, [data-command]";

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Page(Section),
    /// An action of the page, by its words.
    Action(String),
    Run(RunId, String, String),
}

impl Entry {
    /// What it is called, and what kind of thing it is.
    fn said(&self) -> (String, String) {
        match self {
            Self::Page(section) => (section.name().to_owned(), "page".to_owned()),
            Self::Action(words) => (words.clone(), "action".to_owned()),
            Self::Run(id, title, agent) => (title.clone(), format!("{agent} {}", id.short())),
        }
    }

    /// Every word that is typed begins or stands in its name.
    fn fits(&self, typed: &str) -> bool {
        let name = self.said().0.to_lowercase();
        let typed = typed.to_lowercase();
        typed.split_whitespace().all(|word| name.contains(word))
    }
}

#[component]
pub fn Palette(
    /// Looks for runs.
    look: Callback<String>,
    /// The runs that fit what was looked for last.
    #[prop(into)]
    found: Signal<Vec<Run>>,
) -> impl IntoView {
    let keys = expect_context::<Keys>();
    let dialog = NodeRef::<html::Dialog>::new();
    let typed = RwSignal::new(String::new());
    let at = RwSignal::new(0_usize);
    let offered = RwSignal::new(Vec::<String>::new());
    Effect::new(move || {
        if let (true, Some(sheet)) = (keys.palette.get(), dialog.get()) {
            keys.palette.set(false);
            offered.set(actions().into_iter().map(|(words, _)| words).collect());
            type_in("", typed, at, look);
            modal::open(&sheet);
        }
    });
    let entries = Memo::new(move |_| {
        let pages = Section::ALL.into_iter().map(Entry::Page);
        let actions = offered.get().into_iter().map(Entry::Action);
        let typed = typed.get();
        let fits = pages.chain(actions).filter(|it| it.fits(&typed));
        let run = |run: Run| Entry::Run(run.id.clone(), run_row::title(&run), run.agent.clone());
        let runs = found.get().into_iter().map(run);
        fits.chain(runs.filter(|_| !typed.trim().is_empty()))
            .collect::<Vec<_>>()
    });
    let navigate = use_navigate();
    let go = Callback::new(move |entry: Entry| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
        match entry {
            Entry::Page(section) => navigate(section.href(), Default::default()),
            Entry::Run(id, ..) => navigate(&format!("/runs/{id}"), Default::default()),
            // Looked for again: the page may have changed since, and then offers something else.
            Entry::Action(words) => {
                let found = actions().into_iter().find(|(it, _)| *it == words);
                if let Some((_, button)) = found {
                    button.click();
                }
            }
        }
    });
    let pressed = move |event: ev::KeyboardEvent| {
        let last = entries.with_untracked(Vec::len).saturating_sub(1);
        let now = at.get_untracked().min(last);
        match event.key().as_str() {
            "ArrowDown" => at.set((now + 1).min(last)),
            "ArrowUp" => at.set(now.saturating_sub(1)),
            "Enter" => {
                let chosen = entries.with_untracked(|all| all.get(now).cloned());
                if let Some(chosen) = chosen {
                    go.run(chosen);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };
    let option = move |(n, entry): (usize, Entry)| {
        let (name, kind) = entry.said();
        let on = move || at.get().min(entries.with(Vec::len).saturating_sub(1)) == n;
        view! {
            <li role="option" id=format!("palette-{n}") aria-selected=move || on().to_string() on:click=move |_| go.run(entry.clone())>
                <bdi>{name}</bdi>" "<bdi class="dim">{kind}</bdi>
            </li>
        }
    };
    view! {
        <dialog node_ref=dialog id="palette" class="sheet palette" aria-label="Command palette">
            <input type="text" class="input" role="combobox" aria-label="Page, action or run" aria-expanded="true" autocomplete="off"
                aria-controls="palette-list" aria-activedescendant=move || format!("palette-{}", at.get())
                placeholder="A page, an action, or a run by title, agent or id" spellcheck="false" maxlength="200"
                prop:value=move || typed.get() on:keydown=pressed
                on:input=move |event| type_in(&event_target_value(&event), typed, at, look)/>
            <ul id="palette-list" role="listbox" aria-label="Found">
                {move || entries.get().into_iter().enumerate().map(option).collect_view()}
            </ul>
            <p class="dim" role="status">{move || entries.with(Vec::is_empty).then_some("No matches.")}</p>
        </dialog>
    }
    .into_any()
}

fn type_in(text: &str, typed: RwSignal<String>, at: RwSignal<usize>, look: Callback<String>) {
    typed.set(text.to_owned());
    at.set(0);
    look.run(text.to_owned());
}

/// What the page offers now: the words of each button, without its key, and the button.
fn actions() -> Vec<(String, HtmlElement)> {
    let words = |button: &HtmlElement| {
        let key = button.query_selector("kbd").or_say("look for a key");
        let key = key.flatten().and_then(|it| it.text_content());
        let text = button.text_content().unwrap_or_default();
        let text = text.trim();
        let bare = key.as_deref().and_then(|key| text.strip_suffix(key));
        bare.unwrap_or(text).trim().to_owned()
    };
    let buttons = focus::all::<HtmlElement>(ACTIONS).into_iter();
    buttons.map(|button| (words(&button), button)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_fits_all_words_in_any_case_and_order() {
        let entry = Entry::Action("Rewind to before this step…".into());
        assert!(entry.fits("step REWIND"));
        assert!(entry.fits(""));
        assert!(!entry.fits("rewind fork"));
    }
}
