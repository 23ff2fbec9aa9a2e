//! The run's state after a step, as a tree with a search.

use leptos::prelude::*;

use crate::{
    components::{
        copy_hash::CopyHash,
        edited_by::EditedBy,
        look::{Look, Stand, Wanted},
        state_tree::branches,
        time::At,
    },
    domain::{
        RunId, StepStatus,
        views::{sheet::StepSheet, state_view::StateView, words},
        wire::protocol::TagName,
    },
};

#[component]
pub fn StateTab(run: RunId, state: StateView, step: StepSheet, look: Look) -> impl IntoView {
    let it = &step.detail.step;
    let seq = words::number(it.seq);
    let own = state.seq == Some(it.seq);
    let said = match (own, state.seq, it.status) {
        _ if state.edit.is_some() => match it.snapshot {
            Some(_) => format!(
                "Step {seq} committed a state, and someone changed it since. This one is current."
            ),
            None => format!("Step {seq} committed no state. This is the one that it goes on from."),
        },
        (false, None, _) if state.snapshot > 0 => {
            format!("Step {seq} committed no state. This is the one that it began from.")
        }
        (true, _, _) => format!("The state that step {seq} committed."),
        (false, None, _) => format!("Step {seq} committed no state. This is the initial state."),
        (false, Some(before), StepStatus::Committed) => {
            format!(
                "Step {seq} left the state as step {} had made it.",
                words::number(before)
            )
        }
        (false, Some(before), _) => format!(
            "Step {seq} committed no state. This is the last one before it, of step {}.",
            words::number(before)
        ),
    };
    let stand = Stand {
        run: run.clone(),
        snapshot: state.snapshot,
    };
    let text = RwSignal::new(String::new());
    let field = NodeRef::<leptos::html::Input>::new();
    let search = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if let Some(field) = field.get_untracked() {
            text.set(field.value().trim().to_owned());
        }
    };
    let root = state.root.clone();
    let facts = format!("{} · {}", root.kind.as_str(), words::size(root.bytes));
    let first = state.page;
    let body = move || {
        let stand = stand.clone();
        match text.get() {
            all if all.is_empty() => {
                let wanted = Wanted::Below {
                    stand: stand.clone(),
                    path: String::new(),
                    items: None,
                };
                branches(wanted, stand, Some(first.clone()), look, false)
            }
            text => {
                let wanted = Wanted::Found {
                    stand: stand.clone(),
                    text,
                };
                branches(wanted, stand, None, look, true)
            }
        }
    };
    let scalar = (!root.kind.opens()).then(|| view! { <code><bdi>{root.text}</bdi></code> });
    let compare = format!("/runs/{run}/diff?to={}", state.snapshot);
    let edit = state.edit.clone();
    let tagged = tagged(state.tags);
    let hash = state.hash.to_string();
    let short: String = hash.chars().take(16).collect();
    view! {
        {edit.map(|edit| view! { <EditedBy edit run=run.clone()/> })}
        <p class="dim">{said}</p>
        <form class="state-search" role="search" on:submit=search>
            <input node_ref=field type="search" class="input" aria-label="Search the state" placeholder="Search keys and values"/>
            <button type="submit" class="button">"Search"</button>
            <span class="dim">{facts}</span>
            <a class="button" href=compare>"Compare…"</a>
        </form>
        {scalar}
        <div class="state-tree">{body}</div>
        <p class="dim">
            "snapshot "<b class="mono">{state.snapshot}</b>{tagged}" · "<At at=state.created_at/>
            " · hash "<bdi class="mono">{short}"…"</bdi>" "<CopyHash hash=hash/>
        </p>
    }
    .into_any()
}

/// What programs call the snapshot.
fn tagged(tags: Vec<TagName>) -> Option<AnyView> {
    let name = |TagName { space, id }: TagName| {
        let title = match space.is_empty() {
            true => "A name that the program gave to this snapshot".to_owned(),
            false => format!("A name that the program gave to this snapshot, in the space {space}"),
        };
        view! { " "<bdi class="tag mono" title=title>{id}</bdi> }
    };
    let one = tags.len() == 1;
    let names = tags.into_iter().map(name).collect_view();
    let word = if one { " · tag" } else { " · tags" };
    (!names.is_empty()).then(|| view! { {word}{names} }.into_any())
}
