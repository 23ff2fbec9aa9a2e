//! The editor and all that is said about what is typed.

use std::time::Duration;

use leptos::{ev, prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate, params::ParamsMap};
use serde_json::Value;

use super::{
    both_sides::{BothSides, compared, what_changes},
    draft,
};
use crate::{
    api::{self, AppError},
    components::{json_field::JsonField, next_field, refusal::Refusal, toast::Toasts},
    domain::{
        Action, DecisionKind,
        rules::offer::Standing,
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

/// What stands there by now, after somebody else changed the state, or why that is not known.
type Theirs = Result<EditSheet, String>;

#[component]
pub fn EditBody(sheet: EditSheet) -> impl IntoView {
    let text = RwSignal::new(sheet.text.clone());
    let reason = RwSignal::new(String::new());
    // The version that the edit is based on; after a conflict the reader may base it on the newest one.
    let base = RwSignal::new(sheet.clone());
    let theirs = RwSignal::new(None::<Theirs>);
    let restored = RwSignal::new(None::<i64>);
    let by_schema = RwSignal::new(Vec::<(String, String)>::new());
    let ready = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    Effect::new(move || {
        let now = base.get_untracked();
        if let Some(draft) = draft::read(&now).filter(|it| it.text != now.text) {
            restored.set(Some(draft.snapshot));
            if let Some(before) = draft.began_with(&now) {
                base.set(before);
                read_theirs(base, theirs);
            }
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
    let overtaken = Memo::new(move |_| theirs.with(|it| matches!(it, Some(Ok(_)))));
    let lacks = Memo::new(move |_| {
        let no_reason = reason.with(|it| it.trim().is_empty());
        match (parsed.with(Result::is_err), changed.get(), no_reason) {
            (true, ..) => Some("Not valid JSON"),
            _ if overtaken.get() => Some("the state has changed: base your edit on it first"),
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
    // The edit goes on from the state as it is now, with this text.
    let go_on = move |now: EditSheet, typed: String| {
        draft::forget(&base.get_untracked());
        theirs.set(None);
        restored.set(None);
        deciding.refused.set(None);
        base.set(now);
        text.set(typed);
    };
    let discard = move |_| {
        let now = theirs.get_untracked().and_then(Result::ok);
        let now = now.unwrap_or_else(|| base.get_untracked());
        let original = now.text.clone();
        go_on(now, original);
    };
    let rebase = Callback::new(move |typed: String| {
        if let Some(Ok(now)) = theirs.get_untracked() {
            go_on(now, typed);
        }
    });
    let closed = Standing::of(&sheet.run)
        .offer(DecisionKind::Edit, None)
        .refused;
    let may = move || shell.may(Action::Decide);
    let view_only = Signal::derive(move || !may());
    let open = closed.is_none();
    let size = move || text.with(|text| words::size(text.len() as i64));
    let one = sheet.path.clone();
    // An item of a list may have another number after a conflict.
    let what = move || {
        base.with(|base| match (base.path.as_str(), view_only.get()) {
            ("", false) => "Edit the state".to_owned(),
            ("", true) => "The state".to_owned(),
            (path, false) => format!("Edit {path}"),
            (path, true) => path.to_owned(),
        })
    };
    let label = match one.as_str() {
        "" => "State as JSON".to_owned(),
        path => format!("Value at {path} as JSON"),
    };
    let next = words::number(sheet.next);
    let whole = format!("{home}/edit");
    let newest = sheet.run.snapshot;
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
            {move || theirs.get().map(|now| match now {
                Ok(now) => view! { <BothSides base=base.get_untracked() now text on_rebase=rebase/> }.into_any(),
                Err(why) => view! { <Lost why whole=whole.clone()/> }.into_any(),
            })}
            {move || restored.get().map(|snapshot| view! {
                <p class="verified" role="status">
                    "Your draft was restored. It was made from snapshot "<b class="mono">{snapshot}</b>
                    {(newest != snapshot).then_some("; the state has changed since")}". "
                    <button type="button" class="button quiet" on:click=discard>"Discard the draft"</button>
                </p>
            })}
            <div class="edit-page">
                <div class="edit-main">
                    <JsonField name="state" label text wrong read_only=view_only/>
                    <p class="dim">{size}" · snapshot "<b class="mono">{move || base.with(|base| base.run.snapshot)}</b>{sheet.schema.then_some(" · checked by the run's schema")}</p>
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

/// Someone was first, and what stands there now is not known.
#[component]
fn Lost(why: String, whole: String) -> impl IntoView {
    view! {
        <div class="refused" role="status">
            <p>
                <b>"The state was changed meanwhile, and this value cannot be read there: "</b><bdi>{why}</bdi>". Your text stays here. "
                <a class="link" href=whole>"Edit the whole state instead"</a>
            </p>
        </div>
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

/// Reads what is true now, after a conflict.
fn read_theirs(base: RwSignal<EditSheet>, theirs: RwSignal<Option<Theirs>>) {
    let sheet = base.get_untracked();
    spawn_local(async move {
        let now = match as_it_is_now(sheet).await {
            Ok(Some(now)) => Ok(now),
            Ok(None) => {
                Err("it was removed, or the list around it was changed too much".to_owned())
            }
            Err(error) => Err(error.to_string()),
        };
        // The page may be gone by now.
        theirs.try_set(Some(now));
    });
}

/// The same value in the state as it is now; none if it is gone.
async fn as_it_is_now(sheet: EditSheet) -> Result<Option<EditSheet>, AppError> {
    let (run, whole) = (sheet.run.id.clone(), String::new());
    let now = api::snapshots::to_edit(run.clone(), whole.clone()).await?;
    if sheet.path.is_empty() {
        return Ok(Some(now.value));
    }
    let was = api::snapshots::value(run, sheet.run.snapshot, whole).await?;
    Ok(sheet.found_in(&was, now.value))
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
