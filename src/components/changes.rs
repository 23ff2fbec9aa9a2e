//! Changes of a state as a short list: where, what was there, what is there now. The page of two states has the rest.

use leptos::prelude::*;

use crate::domain::diff::Change;

/// Changes that are shown; the rest is counted.
const SHOWN: usize = 40;
/// Characters of one value.
const VALUE_MAX: usize = 200;

#[component]
pub fn Changes(changes: Vec<Change>) -> impl IntoView {
    let more = changes.len().saturating_sub(SHOWN);
    let one = |change: Change| {
        let (sign, class, path, text) = spoken(&change);
        view! { <li class=class><b aria-hidden="true">{sign}</b><span class="hidden">{word(sign)}</span><bdi>{path}</bdi><bdi class="dim">{text}</bdi></li> }
    };
    let empty = changes.is_empty();
    view! {
        {empty.then(|| view! { <p class="dim">"No changes."</p> })}
        <ul class="changes">{changes.into_iter().take(SHOWN).map(one).collect_view()}</ul>
        {(more > 0).then(|| view! { <p class="dim">{format!("and {more} more")}</p> })}
    }
    .into_any()
}

fn word(sign: &str) -> &'static str {
    match sign {
        "+" => "added",
        "−" => "removed",
        _ => "changed",
    }
}

fn spoken(change: &Change) -> (&'static str, &'static str, String, String) {
    let root = |path: &String| match path.as_str() {
        "" => "all of it".to_owned(),
        path => path.to_owned(),
    };
    let cut = |text: String| match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    match change {
        Change::Add { path, new } => (
            "+",
            "change-add",
            root(path),
            cut(new.to_value().to_string()),
        ),
        Change::Remove { path, old } => {
            let old = old.as_ref().map(|it| it.to_value().to_string());
            (
                "−",
                "change-remove",
                root(path),
                cut(old.unwrap_or_default()),
            )
        }
        Change::Replace { path, old, new } => {
            let old = old
                .as_ref()
                .map(|it| it.to_value().to_string())
                .unwrap_or_default();
            let text = format!("{} → {}", cut(old), cut(new.to_value().to_string()));
            ("~", "change-add", root(path), text)
        }
        Change::Move { from, path } => ("~", "change-add", root(path), format!("was at {from}")),
        Change::Text { path, edits } => {
            let said: Vec<_> = edits
                .iter()
                .map(|it| format!("“{}” → “{}”", it.old.clone().unwrap_or_default(), it.new))
                .collect();
            ("~", "change-add", root(path), cut(said.join(", ")))
        }
    }
}
