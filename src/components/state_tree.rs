//! A state as a tree that opens branch by branch; what is below is asked for when it is opened.

use leptos::prelude::*;

use super::{
    look::{Answer, Look, Stand, Wanted},
    value_facts::value_facts,
};
use crate::domain::views::{
    state_view::{Branch, BranchPage, Label, Type},
    words,
};

/// Branches, those at hand first; the rest is asked for.
pub fn branches(
    wanted: Wanted,
    stand: Stand,
    first: Option<BranchPage>,
    look: Look,
    paths: bool,
) -> AnyView {
    let asks = first.is_none();
    let first = first.unwrap_or_default();
    let next = RwSignal::new(first.next);
    let shown = RwSignal::new(first.branches);
    let answer: Answer<BranchPage> = RwSignal::new(None);
    let reading = RwSignal::new(asks);
    Effect::new(move || {
        if let Some(Ok(page)) = answer.get() {
            shown.update(|shown| shown.extend(page.branches));
            next.set(page.next);
        }
        if answer.with(Option::is_some) {
            reading.set(false);
        }
    });
    if asks {
        look.branches.run((wanted.clone(), 0, answer));
    }
    let more = move |_| {
        if let Some(after) = next.get_untracked() {
            reading.set(true);
            look.branches.run((wanted.clone(), after, answer));
        }
    };
    let failed = move || {
        let error = answer.get()?.err()?;
        Some(view! { <p class="dim" role="status">{error.0.detail}</p> })
    };
    let nothing = move || !reading.get() && shown.with(Vec::is_empty);
    view! {
        <ul class="branches">
            <For each=move || shown.get() key=|it| it.path.clone() children={
                let stand = stand.clone();
                move |branch| branch_row(branch, stand.clone(), look, paths)
            }/>
        </ul>
        {failed}
        {move || reading.get().then(|| view! { <p class="dim" role="status">"Loading…"</p> })}
        {move || nothing().then(|| view! { <p class="dim">"Nothing here."</p> })}
        {move || next.get().map(|_| view! {
            <button type="button" class="button" on:click=more.clone()>"Show more"</button>
        })}
    }
    .into_any()
}

pub fn label(label: Option<Label>) -> Option<AnyView> {
    label.map(|label| match label {
        Label::Key(key) => view! { <bdi class="branch-key">{key}</bdi> }.into_any(),
        Label::Index(index) => view! { <span class="branch-index">{index}</span> }.into_any(),
    })
}

/// With `whole`, the branch is named by its path, not by its key alone.
pub fn branch_row(branch: Branch, stand: Stand, look: Look, whole: bool) -> AnyView {
    let open = RwSignal::new(false);
    let told = RwSignal::new(false);
    let opens = branch.kind.opens() && branch.count > 0;
    let name = match whole {
        true => view! { <bdi class="branch-key">{branch.path.clone()}</bdi> }.into_any(),
        false => label(branch.label.clone()).into_any(),
    };
    let facts = match branch.kind {
        Type::Object => format!(
            "{} · {}",
            words::several(branch.count, "key"),
            words::size(branch.bytes)
        ),
        Type::List => format!(
            "{} · {}",
            words::several(branch.count, "item"),
            words::size(branch.bytes)
        ),
        kind => format!("{} · {}", kind.as_str(), words::size(branch.bytes)),
    };
    let toggle = opens.then(|| {
        view! {
            <button
                type="button"
                class="branch-open"
                aria-expanded=move || open.get().to_string()
                aria-label=format!("Open {}", branch.path)
                on:click=move |_| open.update(|it| *it = !*it)
            >{move || if open.get() { "▾" } else { "▸" }}</button>
        }
    });
    let below = {
        let (stand, path) = (stand.clone(), branch.path.clone());
        move || {
            let wanted = Wanted::Below {
                stand: stand.clone(),
                path: path.clone(),
                items: None,
            };
            let stand = stand.clone();
            open.get()
                .then(|| branches(wanted, stand, None, look, false))
        }
    };
    let value = {
        let (path, bytes) = (branch.path.clone(), branch.bytes);
        move || {
            let (stand, path) = (stand.clone(), path.clone());
            told.get().then(|| value_facts(stand, path, bytes, look))
        }
    };
    let kind = format!("branch-text type-{}", branch.kind.as_str());
    view! {
        <li class="branch">
            <div class="branch-line">
                <span class="branch-toggle">{toggle}</span>
                <button
                    type="button"
                    class="branch-name"
                    aria-expanded=move || told.get().to_string()
                    on:click=move |_| told.update(|it| *it = !*it)
                >{name}</button>
                <code class=kind><bdi>{branch.text}</bdi></code>
                <span class="branch-facts">{facts}</span>
            </div>
            {value}
            {below}
        </li>
    }
    .into_any()
}
