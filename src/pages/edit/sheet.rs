//! The editor and all that is said about what is typed.

use std::time::Duration;

use leptos::{ev, prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate, params::ParamsMap};
use serde_json::Value;

use super::draft;
use crate::{
    api,
    components::{
        changes::Changes, json_field::JsonField, next_field, refusal::Refusal, toast::Toasts,
    },
    domain::{
        Action, Code, DecisionKind,
        diff::{self, Change},
        rules::offer::Standing,
        tree::Tree,
        views::{
            edit::EditSheet,
            typed_json::{self, Wrong},
            words,
        },
    },
    pages::{deciding::Deciding, shell::Shell},
};

/// How long after the last key the schema is asked.
const PAUSE: Duration = Duration::from_millis(500);
/// Values that are offered one by one.
const PARTS_MAX: usize = 30;
/// Longer texts are compared when they are saved, not while they are typed.
const LIVE_MAX: usize = 2 << 20;

#[component]
pub fn EditBody(sheet: EditSheet) -> impl IntoView {
    let text = RwSignal::new(sheet.text.clone());
    let reason = RwSignal::new(String::new());
    // The version that the edit is based on; after a conflict the reader may base it on the newest one.
    let base = RwSignal::new(sheet.clone());
    let theirs = RwSignal::new(None::<EditSheet>);
    let restored = RwSignal::new(None::<i64>);
    let by_schema = RwSignal::new(Vec::<(String, String)>::new());
    let ready = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    Effect::new(move || {
        let base = base.get_untracked();
        if let Some(draft) = draft::read(&base).filter(|it| it.text != base.text) {
            restored.set(Some(draft.snapshot));
            text.set(draft.text);
        }
    });
    let parsed = Memo::new(move |_| text.with(|text| typed_json::parse(text)));
    let changed = Memo::new(move |_| text.with(|text| base.with(|base| *text != base.text)));
    Effect::new(move || {
        let text = text.get();
        if ready.get_untracked() {
            draft::keep(&base.get_untracked(), &text);
        }
    });
    check_by_schema(base, parsed, by_schema);
    let wrong = Signal::derive(move || match parsed.get() {
        Err(wrong) => vec![wrong],
        Ok(_) => {
            let inside = |path: &str| {
                let at = base.with(|base| base.path.len());
                path.get(at..).unwrap_or_default().to_owned()
            };
            let line = |(path, what): (String, String)| Wrong {
                line: text.with(|text| typed_json::line_of(text, &inside(&path))),
                what: format!("{what} ({path})"),
            };
            by_schema.get().into_iter().map(line).collect()
        }
    });
    let toasts = expect_context::<Toasts>();
    let shell = expect_context::<Shell>();
    let navigate = use_navigate();
    let home = format!("/runs/{}", sheet.run.id);
    let deciding = {
        let home = home.clone();
        Deciding::new(
            move |_| {
                draft::forget(&base.get_untracked());
                toasts.say_at(&home, "Saved as a new snapshot");
                navigate(&home, NavigateOptions::default());
            },
            move || read_theirs(base, theirs),
        )
    };
    let lacks = Memo::new(move |_| {
        let no_reason = reason.with(|it| it.trim().is_empty());
        match (parsed.with(Result::is_err), changed.get(), no_reason) {
            (true, ..) => Some("Not valid JSON"),
            (_, false, _) => Some("no changes yet"),
            (_, _, true) => Some("a reason is missing"),
            _ => None,
        }
    });
    let save = move || {
        if lacks.with_untracked(Option::is_some) {
            return;
        }
        let order = text.with_untracked(|text| {
            base.with_untracked(|base| base.order(text, &reason.get_untracked()))
        });
        if let Ok(order) = order {
            let run = base.with_untracked(|base| base.run.id.clone());
            deciding.send(run, order);
        }
    };
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        save();
    };
    // Enter ends a line in the editor, and does nothing in the reason.
    let keys = move |event: ev::KeyboardEvent| {
        next_field::send_or_go(&event, lacks.with_untracked(Option::is_none), save);
    };
    let discard = move |_| {
        draft::forget(&base.get_untracked());
        restored.set(None);
        text.set(base.with_untracked(|base| base.text.clone()));
    };
    let rebase = move |_| {
        if let Some(now) = theirs.get_untracked() {
            base.set(now);
            theirs.set(None);
            deciding.refused.set(None);
        }
    };
    let closed = Standing::of(&sheet.run)
        .offer(DecisionKind::Edit, None)
        .refused;
    let may = move || shell.may(Action::Decide);
    let view_only = Signal::derive(move || !may());
    let open = closed.is_none();
    let size = move || text.with(|text| words::size(text.len() as i64));
    let one = sheet.path.clone();
    let what = {
        let one = one.clone();
        move || match (one.as_str(), view_only.get()) {
            ("", false) => "Edit the state".to_owned(),
            ("", true) => "The state".to_owned(),
            (path, false) => format!("Edit {path}"),
            (path, true) => path.to_owned(),
        }
    };
    let label = match one.as_str() {
        "" => "State as JSON".to_owned(),
        path => format!("Value at {path} as JSON"),
    };
    let next = words::number(sheet.next);
    view! {
        <form class="edit" method="post" action=format!("{home}/edit") on:submit=submit on:keydown=keys>
            <header class="page-head">
                <h1><bdi>{what}</bdi></h1>
                {move || match view_only.get() {
                    true => view! { <p role="note">{words::VIEW_ONLY}</p> }.into_any(),
                    false => view! {
                        <p class="dim">"Saves a new snapshot; the previous one stays readable. The next step will be "<b>{next.clone()}</b>" and sees it."</p>
                    }
                    .into_any(),
                }}
            </header>
            <input type="hidden" name="version" value=sheet.run.version.to_string()/>
            <input type="hidden" name="path" value=one.clone()/>
            {closed.map(|why| view! { <div class="refused"><p><b>"It cannot be edited now: "</b><bdi>{why}</bdi>"."</p></div> })}
            {move || deciding.refused.get().map(|error| view! { <Refusal error/> })}
            {move || theirs.get().map(|now| view! { <BothSides base=base.get_untracked() now text=text.get_untracked() on_rebase=Callback::new(rebase)/> })}
            {move || restored.get().map(|snapshot| view! {
                <p class="verified" role="status">
                    "Your draft was restored. It was made from snapshot "<b class="mono">{snapshot}</b>
                    {move || (base.with(|base| base.run.snapshot) != snapshot).then_some("; the state has changed since")}". "
                    <button type="button" class="button quiet" on:click=discard>"Discard the draft"</button>
                </p>
            })}
            <div class="edit-page">
                <div class="edit-main">
                    <JsonField name="state" label text wrong read_only=view_only/>
                    <p class="dim">{size}" · snapshot "<b class="mono">{sheet.run.snapshot}</b>{sheet.schema.then_some(" · checked by the run's schema")}</p>
                </div>
                <div class="edit-side">
                    {move || (!view_only.get()).then(|| view! {
                        <h2>"What changes"</h2>
                        {move || (changed.get() && ready.get()).then(|| what_changes(compared(&base.get(), &text.get())))}
                        {move || (!changed.get()).then(|| view! { <p class="dim">"No changes yet. Your text is compared with the original while you type."</p> })}
                    })}
                    {(!one.is_empty()).then(|| view! {
                        <p><a class="link" href=format!("{home}/edit")>{move || if view_only.get() { "Show the whole state instead" } else { "Edit the whole state instead" }}</a></p>
                    })}
                    <Parts sheet=sheet.clone() view_only/>
                </div>
            </div>
            <footer class="plan-foot edit-foot">
                {move || (!view_only.get()).then(|| view! {
                    <label class="reason">
                        "Reason"
                        <input type="text" class="input" name="reason" maxlength="1000" autocomplete="off" placeholder="kept in the audit log"
                            prop:value=move || reason.get() on:input=move |event| reason.set(event_target_value(&event))/>
                    </label>
                    <p class="dim missing" role="status">{move || ready.get().then(|| lacks.get())}</p>
                })}
                <a class="button" href=home.clone()>"Back"</a>
                {move || (open && may()).then(|| view! {
                    <button type="submit" class="button primary" disabled=move || deciding.busy.get() || (ready.get() && lacks.with(Option::is_some))>
                        "Save state "<kbd aria-hidden="true">"⌘↵"</kbd>
                    </button>
                })}
            </footer>
        </form>
    }
    .into_any()
}

/// The values inside this one, each to be edited alone.
#[component]
fn Parts(sheet: EditSheet, view_only: Signal<bool>) -> impl IntoView {
    let inside = parts(&sheet);
    let run = sheet.run.id.clone();
    let link = move |(name, path): (String, String)| {
        let mut params = ParamsMap::new();
        params.insert("path", path);
        let href = format!("/runs/{run}/edit{}", params.to_query_string());
        view! { <li><a class="link mono" href=href><bdi>{name}</bdi></a></li> }
    };
    (!inside.is_empty()).then(|| {
        view! {
            <h2>{move || if view_only.get() { "One value" } else { "Edit one value" }}</h2>
            <ul class="parts">{inside.into_iter().map(link).collect_view()}</ul>
        }
    })
}

/// Names and places of the values inside, the first ones.
fn parts(sheet: &EditSheet) -> Vec<(String, String)> {
    let place = |name: &str| {
        let token = name.replace('~', "~0").replace('/', "~1");
        (name.to_owned(), format!("{}/{token}", sheet.path))
    };
    match serde_json::from_str(&sheet.text) {
        Ok(Value::Object(map)) => map.keys().take(PARTS_MAX).map(|key| place(key)).collect(),
        Ok(Value::Array(items)) => (0..items.len().min(PARTS_MAX))
            .map(|index| place(&index.to_string()))
            .collect(),
        _ => Vec::new(),
    }
}

/// Someone was first: what they changed, and what this text would change, side by side.
#[component]
fn BothSides(
    base: EditSheet,
    now: EditSheet,
    text: String,
    on_rebase: Callback<leptos::ev::MouseEvent>,
) -> impl IntoView {
    let changed = compared(&base, &now.text);
    let ours = compared(&base, &text);
    view! {
        <section class="verified" aria-label="Both sides">
            <div class="sides">
                <div><h2>"Changed meanwhile"</h2>{what_changes(changed)}</div>
                <div><h2>"Your change"</h2>{what_changes(ours)}</div>
            </div>
            <p><button type="button" class="button" on:click=move |event| on_rebase.run(event)>"Base my edit on the state as it is now"</button></p>
        </section>
    }
    .into_any()
}

/// What changes, or why that is not known here: "no changes" must not be said of what was not compared.
fn compared(base: &EditSheet, text: &str) -> Result<Vec<Change>, &'static str> {
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

fn what_changes(changes: Result<Vec<Change>, &'static str>) -> AnyView {
    match changes {
        Ok(changes) => view! { <Changes changes/> }.into_any(),
        Err(why) => view! { <p class="dim">{why}</p> }.into_any(),
    }
}

/// Reads what is true now, after a conflict.
fn read_theirs(base: RwSignal<EditSheet>, theirs: RwSignal<Option<EditSheet>>) {
    let (run, path) = base.with_untracked(|base| (base.run.id.clone(), base.path.clone()));
    spawn_local(async move {
        match api::snapshots::to_edit(run, path).await {
            Ok(now) => {
                theirs.try_set(Some(now.value));
            }
            Err(error) => debug_assert!(!error.is(Code::Malformed), "{error}"),
        }
    });
}

/// Asks the server what the schema says, a moment after the last key.
fn check_by_schema(
    base: RwSignal<EditSheet>,
    parsed: Memo<Result<Value, Wrong>>,
    by_schema: RwSignal<Vec<(String, String)>>,
) {
    let turn = StoredValue::new(0_u64);
    Effect::new(move || {
        let value = parsed.get();
        let sheet = base.get_untracked();
        turn.update_value(|turn| *turn += 1);
        let mine = turn.get_value();
        let (true, Ok(value)) = (sheet.schema, value) else {
            return by_schema.set(Vec::new());
        };
        let ask = move || {
            if turn.try_get_value() != Some(mine) {
                return;
            }
            spawn_local(async move {
                let said = api::snapshots::check(sheet.run.id, sheet.path, value).await;
                if let (Ok(said), Some(true)) = (said, turn.try_get_value().map(|now| now == mine))
                {
                    by_schema.set(said);
                }
            });
        };
        set_timeout(ask, PAUSE);
    });
}
