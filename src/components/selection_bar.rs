//! What can be done with the picked runs: copy, open, pause, cancel. The dialog says what will happen before it does.

mod order_words;

use std::collections::{BTreeMap, BTreeSet};

use leptos::{html, prelude::*, web_sys};

use self::order_words::{came_of_it, consequences, heading, past};
use super::{
    browser::OrSay as _,
    clipboard,
    focus::open_dialog,
    keyboard, modal,
    selection::{Picked, Selection},
    toast::Toasts,
    unknown_effects::UnknownEffectsOf,
};
use crate::{
    api::AppError,
    domain::{
        DecisionKind, RunId,
        rules::plan::LeftBehind,
        views::words,
        wire::bulk_order::{Decided, Ordered},
    },
};

/// Pages opened at once; browsers stop more than a few.
const OPEN_MAX: usize = 20;

/// The unknown effects of the picked runs, or why they could not be read.
pub type Named = Option<Result<Vec<LeftBehind>, AppError>>;

#[component]
pub fn SelectionBar(
    selection: Selection,
    /// Whether this person may decide about runs.
    #[prop(into)]
    may_decide: Signal<bool>,
    /// Carries out what was ordered.
    order: Callback<Ordered>,
    /// Reads the unknown effects of these runs.
    name_effects: Callback<Vec<RunId>>,
    /// What was read; none until it is.
    #[prop(into)]
    effects: Signal<Named>,
    /// How many runs of the order are done, and of how many, while it is under way.
    #[prop(into)]
    progress: Signal<Option<(usize, usize)>>,
    /// An answer got lost: what came of a part of the order is not known yet.
    #[prop(into)]
    unknown: Signal<bool>,
    /// What came of it, run by run; none while it is under way or nothing was ordered.
    #[prop(into)]
    outcome: Signal<Option<Vec<Decided>>>,
    on_close: Callback<()>,
) -> impl IntoView {
    let picked = selection.picked();
    let toasts = expect_context::<Toasts>();
    let kind = RwSignal::new(DecisionKind::Pause);
    // Runs that a worker held when the order was given: they stop at their next step boundary.
    let live = RwSignal::new(BTreeSet::new());
    let order = Callback::new(move |ordered: Ordered| {
        live.set(picked.with_untracked(held));
        order.run(ordered);
    });
    let dialog = NodeRef::<html::Dialog>::new();
    let ask = move |what: DecisionKind| {
        // One order at a time: what is under way is shown instead.
        if progress.with_untracked(Option::is_none) {
            kind.set(what);
            on_close.run(());
            if what == DecisionKind::Cancel {
                name_effects.run(picked.with_untracked(in_doubt));
            }
        }
        if let Some(dialog) = dialog.get_untracked() {
            modal::open(&dialog);
        }
    };
    let said = move || match picked.with(BTreeMap::len) {
        0 => String::new(),
        n => format!("{} selected", words::number(n as i64)),
    };
    view! {
        <div class="selection" class:is-empty=move || picked.with(BTreeMap::is_empty) role="region" aria-label="Selected runs">
            <p role="status">{said}</p>
            {move || (!picked.with(BTreeMap::is_empty)).then(|| view! {
                <button type="button" class="button" on:click=move |_| copy(toasts, &picked.get_untracked())>"Copy ids"</button>
                <button type="button" class="button" on:click=move |_| open(toasts, &picked.get_untracked())>"Open in new tabs"</button>
                {move || may_decide.get().then(|| view! {
                    <button type="button" class="button" on:click=move |_| ask(DecisionKind::Resume)>"Resume…"</button>
                    <button type="button" class="button" on:click=move |_| ask(DecisionKind::Pause)>"Pause…"</button>
                    <button type="button" class="button" on:click=move |_| ask(DecisionKind::Cancel)>"Cancel…"</button>
                })}
                <button type="button" class="button" on:click=move |_| selection.clear()>"Clear selection"</button>
            })}
        </div>
        <dialog node_ref=dialog class="sheet" aria-labelledby="order-title" on:close=move |_| on_close.run(())>
            {move || match outcome.get() {
                Some(outcome) => view! { <Outcome kind=kind.get_untracked() outcome live=live.get_untracked()/> }.into_any(),
                None => view! { <Order picked kind order effects progress unknown/> }.into_any(),
            }}
        </dialog>
    }
    .into_any()
}

#[component]
fn Order(
    picked: Signal<BTreeMap<RunId, Picked>>,
    kind: RwSignal<DecisionKind>,
    order: Callback<Ordered>,
    effects: Signal<Named>,
    progress: Signal<Option<(usize, usize)>>,
    unknown: Signal<bool>,
) -> impl IntoView {
    let reason = RwSignal::new(String::new());
    let busy = RwSignal::new(false);
    let far = move || {
        let done = |(done, all): (usize, usize)| {
            view! {
                <p class="sheet-text" role="status">{format!("{done} of {all} done")}<progress max=all.to_string() value=done.to_string()></progress></p>
            }
        };
        progress.get().map(done)
    };
    let verb = move || picked.with(|picked| heading(kind.get(), picked.len()));
    let cancels = move || kind.get() == DecisionKind::Cancel;
    // Nobody cancels before they were shown what stays unknown.
    let reads = Signal::derive(move || cancels() && effects.with(Option::is_none));
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() || progress.with_untracked(Option::is_some) || reads.get_untracked()
        {
            return;
        }
        busy.set(true);
        order.run(Ordered {
            kind: kind.get_untracked(),
            reason: reason.get_untracked(),
            runs: picked.with_untracked(|picked| {
                let runs = picked.iter();
                runs.map(|(id, known)| (id.clone(), known.version))
                    .collect()
            }),
            key: None,
        });
    };
    view! {
        <h2 id="order-title">{verb}</h2>
        <p class="sheet-text">{move || picked.with(|picked| consequences(kind.get(), picked))}</p>
        {move || cancels().then(|| view! { <UnknownEffectsOf effects=effects.get()/> })}
        <form on:submit=submit on:keydown=keyboard::send_form>
            <label class="field">
                "Reason"
                <textarea
                    name="reason"
                    rows="2"
                    required=true
                    maxlength="1000"
                    prop:value=move || reason.get()
                    on:input=move |event| reason.set(event_target_value(&event))
                ></textarea>
            </label>
            {far}
            {move || unknown.get().then(|| view! {
                <div class="refused" role="status">
                    <p>
                        <b>"Not known yet: the server's answer got lost."</b>
                        " The order may have been carried out. This page asks the server again by itself; each run is decided about only once."
                    </p>
                </div>
            })}
            <div class="sheet-foot">
                <button type="submit" class="button" formmethod="dialog" formnovalidate=true value="back" on:click=back>"Back"</button>
                <button type="submit" class="button" class:primary=move || !cancels() class:danger=cancels disabled=move || busy.get() || reads.get()>{verb}</button>
            </div>
        </form>
    }
    .into_any()
}

fn back(event: leptos::ev::MouseEvent) {
    event.prevent_default();
    close_dialog();
}

fn close_dialog() {
    use leptos::wasm_bindgen::JsCast as _;
    if let Some(open) =
        open_dialog().and_then(|it| it.dyn_into::<web_sys::HtmlDialogElement>().ok())
    {
        open.close();
    }
}

/// What came of it, run by run.
#[component]
fn Outcome(
    kind: DecisionKind,
    outcome: Vec<Decided>,
    /// Those that a worker held: it is asked, and stops later.
    live: BTreeSet<RunId>,
) -> impl IntoView {
    let asked = move |it: &Decided| kind != DecisionKind::Resume && live.contains(&it.run);
    let done = outcome.iter().filter(|it| it.refused.is_none());
    let (later, now): (Vec<_>, Vec<_>) = done.partition(|it| asked(it));
    let title = came_of_it(kind, now.len(), later.len());
    let done = now.len() + later.len();
    let all = outcome.len();
    // What was refused comes first: that is what is left to do.
    let (refused, accepted): (Vec<_>, Vec<_>) =
        outcome.into_iter().partition(|it| it.refused.is_some());
    let each = refused.into_iter().chain(accepted).map(|it| {
        let class = if it.refused.is_some() { "tone-crashed" } else { "dim" };
        let done_to_it = past(kind, asked(&it));
        let said = it.refused.unwrap_or_else(|| done_to_it.to_owned());
        let href = format!("/runs/{}", it.run);
        view! { <li><a href=href><code>{it.run.short().to_owned()}</code></a>": "<bdi class=class>{said}</bdi></li> }
    });
    let left = (all > done).then(|| format!(", {} refused", all - done));
    view! {
        <h2 id="order-title">{title}{left}</h2>
        <ul class="sheet-text order-results" tabindex="0" aria-label="Result for each run">{each.collect_view()}</ul>
        <div class="sheet-foot">
            <button type="button" class="button" on:click=|_| close_dialog()>"Close"</button>
        </div>
    }
    .into_any()
}

fn held(picked: &BTreeMap<RunId, Picked>) -> BTreeSet<RunId> {
    let live = picked.iter().filter(|(_, it)| it.live);
    live.map(|(id, _)| id.clone()).collect()
}

/// The runs that a cancel would leave with an unknown effect.
fn in_doubt(picked: &BTreeMap<RunId, Picked>) -> Vec<RunId> {
    let left = picked
        .iter()
        .filter(|(_, it)| it.unknown && !it.status.over());
    left.map(|(id, _)| id.clone()).collect()
}

fn copy(toasts: Toasts, picked: &BTreeMap<RunId, Picked>) {
    let ids: Vec<_> = picked.keys().map(RunId::as_str).collect();
    let said = match ids.len() {
        1 => "Copied 1 id".to_owned(),
        n => format!("Copied {} ids", words::number(n as i64)),
    };
    clipboard::copy(toasts, "the ids", &ids.join("\n"), move || toasts.say(said));
}

/// Browsers stop a page that opens several tabs until its reader allows it; they answer with no window then.
fn open(toasts: Toasts, picked: &BTreeMap<RunId, Picked>) {
    let tab = |id: &RunId| {
        let opened = window().open_with_url_and_target(&format!("/runs/{id}"), "_blank");
        opened.or_say("open a tab").flatten()
    };
    let asked = picked.len().min(OPEN_MAX);
    let opened = picked.keys().take(OPEN_MAX).filter_map(tab).count();
    if opened < asked {
        toasts.say(format!(
            "The browser opened {opened} of {asked} tabs: allow pop-ups for this page"
        ));
    }
}
