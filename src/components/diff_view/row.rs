//! One row of a diff: its sign, its name, its value with what changed marked, and what opens below it.

use leptos::prelude::*;

use crate::{
    components::{
        look::{Look, Stand, Wanted},
        state_tree::branches,
        value_facts::value_facts,
    },
    domain::{
        diff::rows::{Body, Mark, Piece, Row},
        views::{diff_sheet::DiffQuery, state_view::Label, words},
    },
};

/// Indented further than this looks the same.
const DEPTH_MAX: i64 = 12;

#[derive(Clone)]
pub struct Context {
    pub old: Stand,
    pub new: Stand,
    pub query: DiffQuery,
    pub look: Look,
}

pub fn row_view(row: Row, context: &Context) -> AnyView {
    let (class, sign, said) = match (row.mark, row.from.is_some()) {
        (Mark::Removed, _) => ("diff-row diff-removed", "−", "removed "),
        (Mark::Added, _) => ("diff-row diff-added", "+", "added "),
        (Mark::Same, true) => ("diff-row diff-moved", "↕", "moved "),
        (Mark::Same, false) => ("diff-row", "", ""),
    };
    let indent = format!("diff-text depth-{}", row.depth.clamp(0, DEPTH_MAX));
    let first = row.first.then_some("");
    let content = match row.body.clone() {
        Body::Open { list, count } => opened(&row, list, count),
        Body::Close { list } => view! { <span>{if list { "]" } else { "}" }}</span> }.into_any(),
        Body::Fold { .. } => return fold(row, context),
        Body::Value {
            pieces,
            clipped,
            opens,
        } => return value(row, pieces, clipped, opens, context, (class, sign, said)),
    };
    view! {
        <li class=class data-change=first>
            <span class="diff-sign" aria-hidden="true">{sign}</span>
            <div class=indent>{content}{moved(&row)}</div>
        </li>
    }
    .into_any()
}

fn moved(row: &Row) -> Option<AnyView> {
    row.from.clone().map(|from| {
        view! { <span class="diff-note">"moved from "<bdi>{from}</bdi></span> }.into_any()
    })
}

fn name(label: Option<Label>) -> AnyView {
    match label {
        Some(Label::Key(key)) => {
            view! { <bdi class="diff-key">{format!("{key:?}")}</bdi> }.into_any()
        }
        Some(Label::Index(index)) => view! { <span class="diff-index">{index}</span> }.into_any(),
        None => view! { <span class="diff-index">"state"</span> }.into_any(),
    }
}

fn opened(row: &Row, list: bool, count: i64) -> AnyView {
    let label = row
        .label
        .clone()
        .map(|label| view! { {name(Some(label))}": " });
    let bracket = match list {
        true => format!("[ … {}", words::several(count, "item")),
        false => "{".to_owned(),
    };
    view! { <span>{label}{bracket}</span> }.into_any()
}

fn value(
    row: Row,
    pieces: Vec<Piece>,
    clipped: bool,
    opens: bool,
    context: &Context,
    (class, sign, said): (&'static str, &'static str, &'static str),
) -> AnyView {
    let told = RwSignal::new(false);
    let indent = format!("diff-text depth-{}", row.depth.clamp(0, DEPTH_MAX));
    let stand = match row.mark {
        Mark::Removed => context.old.clone(),
        Mark::Same | Mark::Added => context.new.clone(),
    };
    let look = context.look;
    let (path, bytes) = (row.path.clone(), row.bytes);
    let facts = move || {
        let (stand, path) = (stand.clone(), path.clone());
        told.get().then(|| {
            let below = opens.then(|| {
                let wanted = Wanted::Below {
                    stand: stand.clone(),
                    path: path.clone(),
                    items: None,
                };
                branches(wanted, stand.clone(), None, look, false)
            });
            view! { <div class="diff-told">{value_facts(stand, path, bytes, look)}{below}</div> }
        })
    };
    let piece = |piece: Piece| match piece.changed {
        true => view! { <mark>{piece.text}</mark> }.into_any(),
        false => view! { <span>{piece.text}</span> }.into_any(),
    };
    let size = clipped.then(|| view! { <span class="diff-note">{words::size(bytes)}</span> });
    let note = moved(&row);
    view! {
        <li class=class data-change=row.first.then_some("")>
            <span class="diff-sign" aria-hidden="true">{sign}</span>
            <div class=indent>
                <button
                    type="button"
                    class="diff-name"
                    aria-expanded=move || told.get().to_string()
                    on:click=move |_| told.update(|it| *it = !*it)
                ><span class="hidden">{said}</span>{name(row.label)}</button>
                ": "
                <bdi class="diff-value">{pieces.into_iter().map(piece).collect_view()}</bdi>
                {size}
                {note}
                {facts}
            </div>
        </li>
    }
    .into_any()
}

fn fold(row: Row, context: &Context) -> AnyView {
    let Body::Fold {
        count,
        list,
        start,
        names,
        old_path,
    } = row.body
    else {
        return ().into_any();
    };
    let open = RwSignal::new(false);
    let what = match (list, count) {
        (true, 1) => "unchanged item",
        (true, _) => "unchanged items",
        (false, 1) => "unchanged key",
        (false, _) => "unchanged keys",
    };
    let more = count > names.len() as i64;
    let names = match names.is_empty() {
        true => String::new(),
        false => format!(" — {}{}", names.join(", "), if more { ", …" } else { "" }),
    };
    let said = format!("{} {what}{names}", words::number(count));
    let indent = format!("diff-text depth-{}", row.depth.clamp(0, DEPTH_MAX));
    let (stand, look) = (context.new.clone(), context.look);
    let wanted = match list {
        true => Wanted::Below {
            stand: stand.clone(),
            path: row.path,
            items: Some((start, count)),
        },
        false => Wanted::Unchanged {
            run: context.old.run.clone(),
            query: context.query.clone(),
            path: row.path,
            old_path,
        },
    };
    let below = move || {
        open.get()
            .then(|| branches(wanted.clone(), stand.clone(), None, look, false))
    };
    view! {
        <li class="diff-row diff-fold">
            <span class="diff-sign" aria-hidden="true">"⋯"</span>
            <div class=indent>
                <button
                    type="button"
                    class="diff-unfold"
                    aria-expanded=move || open.get().to_string()
                    on:click=move |_| open.update(|it| *it = !*it)
                ><bdi>{said}</bdi></button>
                {below}
            </div>
        </li>
    }
    .into_any()
}
