//! What can be done with the picked runs: copy, open, pause, cancel. The dialog says what will happen before it does.

use std::collections::{BTreeMap, BTreeSet};

use leptos::{html, prelude::*, web_sys};

use super::{
    browser::OrSay as _,
    clipboard,
    focus::open_dialog,
    keyboard, modal,
    selection::{Picked, Selection},
    toast::Toasts,
};
use crate::domain::{
    DecisionKind, RunId, RunStatus,
    rules::offer::Standing,
    views::words,
    wire::bulk_order::{Decided, Ordered},
};

/// Pages opened at once; browsers stop more than a few.
const OPEN_MAX: usize = 20;

#[component]
pub fn SelectionBar(
    selection: Selection,
    /// Whether this person may decide about runs.
    #[prop(into)]
    may_decide: Signal<bool>,
    /// Carries out what was ordered.
    order: Callback<Ordered>,
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
                None => view! { <Order picked kind order progress unknown/> }.into_any(),
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
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() || progress.with_untracked(Option::is_some) {
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
                <button type="submit" class="button primary" disabled=move || busy.get()>{verb}</button>
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

/// What was done to a run; one that a worker holds was only asked.
fn past(kind: DecisionKind, asked: bool) -> &'static str {
    match (kind, asked) {
        (DecisionKind::Resume, _) => "resumed",
        (DecisionKind::Pause, false) => "paused",
        (DecisionKind::Pause, true) => "pause requested",
        (_, false) => "cancelled",
        (_, true) => "cancel requested",
    }
}

/// "Cancelled 2 runs, cancel requested for 1 run"
fn came_of_it(kind: DecisionKind, now: usize, later: usize) -> String {
    let runs = |n: usize| words::several(n as i64, "run");
    let did = format!("{} {}", past(kind, false), runs(now));
    let asked = format!("{} for {}", past(kind, true), runs(later));
    words::capital(match (now, later) {
        (_, 0) => did,
        (0, _) => asked,
        _ => format!("{did}, {asked}"),
    })
}

/// "Cancel 3 runs"
fn heading(kind: DecisionKind, n: usize) -> String {
    let verb = match kind {
        DecisionKind::Pause => "Pause",
        DecisionKind::Resume => "Resume",
        _ => "Cancel",
    };
    match n {
        1 => format!("{verb} 1 run"),
        n => format!("{verb} {n} runs"),
    }
}

/// What will happen, by what each run is: "2 stop at their next step boundary, 1 at once".
fn consequences(kind: DecisionKind, picked: &BTreeMap<RunId, Picked>) -> String {
    let count = |fits: &dyn Fn(&Picked) -> bool| picked.values().filter(|it| fits(it)).count();
    if kind == DecisionKind::Resume {
        return resumed(count(&|it| offered(kind, it)), picked.len());
    }
    let over = |it: &Picked| it.status.over();
    let paused = |it: &Picked| it.status == RunStatus::Paused && kind == DecisionKind::Pause;
    let idle = |it: &Picked| over(it) || paused(it);
    let (later, now) = (
        count(&|it| !idle(it) && it.live),
        count(&|it| !idle(it) && !it.live),
    );
    let verb = |n: usize| match (kind, n) {
        (DecisionKind::Pause, 1) => "pauses",
        (DecisionKind::Pause, _) => "pause",
        (_, 1) => "stops",
        _ => "stop",
    };
    let mut said = Vec::new();
    if later > 0 {
        let whose = if later == 1 { "its" } else { "their" };
        said.push(format!(
            "{later} {} at {whose} next step boundary",
            verb(later)
        ));
    }
    if now > 0 {
        said.push(format!("{now} {} at once", verb(now)));
    }
    let (is_over, is_paused) = (count(&over), count(&paused));
    if is_over > 0 {
        let are = if is_over == 1 { "is" } else { "are" };
        said.push(format!("{is_over} {are} over already"));
    }
    if is_paused > 0 {
        let are = if is_paused == 1 { "is" } else { "are" };
        said.push(format!("{is_paused} {are} paused already"));
    }
    let unknown = match count(&|it| !over(it) && it.unknown) {
        0 => String::new(),
        1 => " 1 has an unknown effect: it may have happened.".to_owned(),
        n => format!(" {n} have an unknown effect: each may have happened."),
    };
    let undone = match kind {
        DecisionKind::Cancel => format!(" Nothing that they did outside is undone.{unknown}"),
        _ => String::new(),
    };
    format!("{}.{undone}", said.join(", "))
}

/// The server would accept it for this run, as it was seen.
fn offered(kind: DecisionKind, it: &Picked) -> bool {
    let standing = Standing {
        status: it.status,
        live: it.live,
        effects_unknown: false,
        not_undone: false,
    };
    standing.offers(kind, None)
}

/// What a resume of several does.
fn resumed(fits: usize, all: usize) -> String {
    let rest = match all - fits {
        0 => String::new(),
        1 => " 1 run cannot be resumed and is left unchanged.".to_owned(),
        n => format!(" {n} runs cannot be resumed and are left unchanged."),
    };
    let each = if fits == 1 { "The" } else { "Each" };
    format!(
        "{each} run with known effects resumes by its own plan: a step that stopped is tried again with the same key. \
         A run with an unknown effect is left for you to look at.{rest}"
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(each: &[(RunStatus, bool)]) -> BTreeMap<RunId, Picked> {
        let one = |(index, (status, live)): (usize, &(RunStatus, bool))| {
            let id = format!("r{index}").parse().unwrap();
            let known = Picked {
                version: 1,
                status: *status,
                live: *live,
                unknown: *status == RunStatus::Crashed,
            };
            (id, known)
        };
        each.iter().enumerate().map(one).collect()
    }

    #[test]
    fn the_dialog_says_what_will_happen_to_each() {
        let three = picked(&[
            (RunStatus::Running, true),
            (RunStatus::Running, true),
            (RunStatus::Crashed, false),
        ]);
        assert_eq!(heading(DecisionKind::Cancel, three.len()), "Cancel 3 runs");
        assert_eq!(
            consequences(DecisionKind::Cancel, &three),
            "2 stop at their next step boundary, 1 stops at once. Nothing that they did outside is undone. \
             1 has an unknown effect: it may have happened."
        );
        assert_eq!(
            came_of_it(DecisionKind::Cancel, 1, 2),
            "Cancelled 1 run, cancel requested for 2 runs"
        );
        assert_eq!(
            came_of_it(DecisionKind::Cancel, 0, 3),
            "Cancel requested for 3 runs"
        );
        assert_eq!(came_of_it(DecisionKind::Pause, 2, 0), "Paused 2 runs");
        let two = picked(&[(RunStatus::Paused, false), (RunStatus::Done, false)]);
        assert_eq!(
            consequences(DecisionKind::Pause, &two),
            "1 is over already, 1 is paused already."
        );
        assert_eq!(heading(DecisionKind::Resume, 3), "Resume 3 runs");
        let said = consequences(DecisionKind::Resume, &three);
        assert!(
            said.contains("2 runs cannot be resumed and are left unchanged."),
            "{said}"
        );
    }
}
