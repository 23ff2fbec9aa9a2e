//! Someone was first: what they changed and what this text changes, side by side, and how both become one edit.

use std::collections::BTreeSet;

use leptos::prelude::*;

use crate::{
    components::changes::Changes,
    domain::{
        diff::{self, Change, rebase::Conflict},
        tree::Tree,
        views::{
            edit::{EditSheet, typed},
            typed_json, words,
        },
    },
};

/// Longer texts are compared when they are saved, not while they are typed.
const LIVE_MAX: usize = 2 << 20;
/// Places that are shown to choose at; in the others theirs is kept.
const SHOWN: usize = 40;
/// Characters of one value.
const VALUE_MAX: usize = 2_000;

#[component]
pub fn BothSides(
    base: EditSheet,
    now: EditSheet,
    text: RwSignal<String>,
    /// Goes on from the state as it is now, with this text.
    on_rebase: Callback<String>,
) -> impl IntoView {
    let changed = compared(&base, &now.text);
    let sheets = StoredValue::new((base, now));
    // Where mine is chosen; everywhere else theirs is kept.
    let mine_at = RwSignal::new(BTreeSet::<String>::new());
    let rebased = move |mine_at: &BTreeSet<String>| {
        sheets.with_value(|(base, now)| text.with(|text| base.rebased(text, now, mine_at)))
    };
    let conflicts = Memo::new(move |_| rebased(&BTreeSet::new()).map(|it| it.conflicts));
    let ours =
        move || sheets.with_value(|(base, _)| text.with(|text| what_changes(compared(base, text))));
    let rebase = move |_| {
        if let Ok(made) = untrack(|| mine_at.with(rebased)) {
            on_rebase.run(typed(&made.state));
        }
    };
    let choose = move || {
        match conflicts.get() {
        Err(_) => view! { <p class="dim">"Your change can be made on the state as it is now once your text is valid JSON."</p> }
            .into_any(),
        Ok(none) if none.is_empty() => view! { <p>"No place was changed by both: both changes are kept."</p> }.into_any(),
        Ok(conflicts) => view! { <Choose conflicts mine_at/> }.into_any(),
    }
    };
    view! {
        <section class="verified" aria-label="Both sides">
            <div class="sides">
                <div><h2>"Changed meanwhile"</h2>{what_changes(changed)}</div>
                <div><h2>"Your change"</h2>{ours}</div>
            </div>
            {choose}
            <p>
                <button type="button" class="button" disabled=move || conflicts.with(Result::is_err) on:click=rebase>
                    "Base my edit on the state as it is now"
                </button>
            </p>
        </section>
    }
    .into_any()
}

/// Each place that both changed, with both values.
#[component]
fn Choose(conflicts: Vec<Conflict>, mine_at: RwSignal<BTreeSet<String>>) -> impl IntoView {
    let places = words::several(conflicts.len() as i64, "place");
    let more = conflicts.len().saturating_sub(SHOWN);
    let one = |(n, it): (usize, Conflict)| {
        let path = match it.path.as_str() {
            "" => "all of it".to_owned(),
            path => path.to_owned(),
        };
        let at = StoredValue::new(it.at);
        let is_mine = move || mine_at.with(|all| at.with_value(|at| all.contains(at)));
        let take = move |mine: bool| {
            mine_at.update(|all| {
                all.remove(&at.get_value());
                if mine {
                    all.insert(at.get_value());
                }
            });
        };
        let option = move |mine: bool, what: &'static str, value: Option<Tree>| {
            view! {
                <label class="choice">
                    <input type="radio" name=format!("both.{n}") prop:checked=move || is_mine() == mine on:change=move |_| take(mine)/>
                    <span class="choice-words"><b>{what}</b>" "<bdi class="mono">{spoken(value.as_ref())}</bdi></span>
                </label>
            }
        };
        view! {
            <fieldset class="both-changed">
                <legend><bdi class="mono">{path}</bdi></legend>
                {option(false, "Keep theirs:", it.theirs)}
                {option(true, "Use mine:", it.mine)}
            </fieldset>
        }
    };
    let shown = conflicts.into_iter().take(SHOWN).enumerate().map(one);
    view! {
        <p class="tone-crashed" role="status"><b>{format!("You and they both changed {places}.")}</b>" Theirs is kept unless you choose yours."</p>
        {shown.collect_view()}
        {(more > 0).then(|| view! { <p class="dim">{format!("and {} more, where theirs is kept", words::number(more as i64))}</p> })}
    }
    .into_any()
}

fn spoken(value: Option<&Tree>) -> String {
    let Some(value) = value else {
        return "removed".to_owned();
    };
    let text = value.to_value().to_string();
    match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What changes, or why that is not known here: "no changes" must not be said of what was not compared.
pub fn compared(base: &EditSheet, text: &str) -> Result<Vec<Change>, &'static str> {
    if base.text.len().max(text.len()) > LIVE_MAX {
        return Err(
            "A text this long is not compared here: the State diff tab compares what is saved.",
        );
    }
    match (typed_json::parse(&base.text), typed_json::parse(text)) {
        (Ok(old), Ok(new)) => Ok(diff::diff(&Tree::from(old), &Tree::from(new))),
        _ => Err("It is compared once it is valid JSON."),
    }
}

pub fn what_changes(changes: Result<Vec<Change>, &'static str>) -> AnyView {
    match changes {
        Ok(changes) => view! { <Changes changes/> }.into_any(),
        Err(why) => view! { <p class="dim">{why}</p> }.into_any(),
    }
}
