//! The answer to a gate: choices or a form made from its schema, a reason, and buttons that say what they do. Keys
//! `1`–`9` only choose; Ctrl or Cmd with Enter sends.

use leptos::{ev, html, prelude::*};

use super::{
    browser::OrSay as _,
    keyboard,
    refusal::Refusal,
    schema_form::{Form, SchemaForm, said},
};
use crate::{
    api::AppError,
    domain::{
        DecisionKind, Gate,
        views::{
            form::{self, Field, Wrong},
            words,
        },
        wire::protocol::Decide,
    },
};

/// The place of the reason, below all fields.
const REASON: &str = "reason";

/// The form of a gate; none where it asks for yes or no.
fn asked(gate: &Gate) -> Option<Field> {
    match (&gate.choices, &gate.schema) {
        (Some(choices), _) if !choices.is_empty() => Some(form::choices(choices)),
        (_, schema) => schema.as_ref().map(form::of),
    }
}

#[component]
pub fn Answer(
    gate: Gate,
    step: i64,
    /// The run version that the answer is based on.
    #[prop(into)]
    version: Signal<Option<i64>>,
    /// Tells this form from others on the page.
    #[prop(into)]
    id: String,
    #[prop(into)] busy: Signal<bool>,
    #[prop(into)] refused: Signal<Option<AppError>>,
    on_decide: Callback<Decide>,
) -> impl IntoView {
    let asked = asked(&gate);
    let nothing = form::choices(&[]);
    let form = Form::new(asked.as_ref().unwrap_or(&nothing), format!("answer-{id}"));
    let kept = StoredValue::new(asked.clone());
    let reason = RwSignal::new(String::new());
    let element = NodeRef::<html::Form>::new();
    let send = move |kind: DecisionKind| {
        let answers = kind == DecisionKind::Answer;
        let read = kept.with_value(|asked| {
            let asked = asked.as_ref().filter(|_| answers)?;
            Some(form::value(asked, &form.filled.get_untracked()))
        });
        let (result, mut wrong) = match read {
            Some(Ok(value)) => (Some(value), Vec::new()),
            Some(Err(wrong)) => (None, wrong),
            None => (None, Vec::new()),
        };
        if answers && let Some(half) = half_typed(element, &wrong) {
            let behind = |it: &Wrong| in_order(&it.place) > in_order(&half.place);
            let at = wrong.iter().position(behind).unwrap_or(wrong.len());
            wrong.insert(at, half);
        }
        if reason.with_untracked(|it| it.trim().is_empty()) {
            wrong.push(Wrong {
                place: REASON.into(),
                what: "A reason is missing: it is kept in the audit log.".into(),
            });
        }
        if !wrong.is_empty() {
            return form.refuse(wrong);
        }
        form.wrong.set(Vec::new());
        on_decide.run(Decide {
            if_version: version.get_untracked(),
            step: Some(step),
            result,
            reason: Some(reason.get_untracked().trim().to_owned()),
            ..Decide::new(kind)
        });
    };
    // What the server says of a field stands at the field.
    let placed = Memo::new(move |_| {
        let error = refused.get()?;
        let filled = form.filled.get_untracked();
        let placed = kept.with_value(|it| Some(form::placed(&error.0, it.as_ref()?, &filled)));
        placed.filter(|it| !it.is_empty())
    });
    Effect::new(move || {
        if let Some(wrong) = placed.get() {
            form.refuse(wrong);
        }
    });
    let elsewhere = move || refused.get().filter(|_| placed.with(Option::is_none));
    let main = match asked {
        Some(_) => DecisionKind::Answer,
        None => DecisionKind::Approve,
    };
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        send(main);
    };
    let keys = move |event: ev::KeyboardEvent| {
        if keyboard::sends(&event) {
            send(main);
        }
    };
    let approve = words::approve(&gate.title);
    let verb = move || match kept.with_value(Option::is_some) {
        false => approve.clone(),
        true => {
            let chosen = kept.with_value(|asked| form.filled.with(|it| asked.as_ref()?.chosen(it)));
            chosen.map_or("Send answer".into(), |chosen| format!("Answer: {chosen}"))
        }
    };
    let no_reason = form.wrong_at(REASON);
    view! {
        <form class="answer" node_ref=element novalidate on:submit=submit on:keydown=keys data-answer="">
            {move || elsewhere().map(|error| view! { <Refusal error renewed=true/> })}
            {asked.map(|field| view! { <SchemaForm field form/> })}
            <div class="field">
                <label class="reason">
                    "Reason"
                    <input type="text" class="input" id=form.id(REASON) name="reason" maxlength="1000" autocomplete="off" placeholder="kept in the audit log"
                        aria-invalid=move || no_reason.with(Option::is_some).then_some("true") aria-describedby=form.id("reason-wrong")
                        prop:value=move || reason.get() on:input=move |event| reason.set(event_target_value(&event))/>
                </label>
                {said(form, REASON)}
            </div>
            <div class="answer-foot">
                <button type="button" class="button" disabled=move || busy.get() on:click=move |_| send(DecisionKind::Reject)>"Reject"</button>
                <button type="submit" class="button primary" disabled=move || busy.get()><bdi>{verb}</bdi>" "<kbd aria-hidden="true">"⌘↵"</kbd></button>
            </div>
        </form>
    }
    .into_any()
}

/// Places in the order of the fields on the page.
fn in_order(place: &str) -> Vec<Option<u32>> {
    place.split('.').map(|part| part.parse().ok()).collect()
}

/// A calendar field with half a date in it: its value is empty, and only the browser knows.
fn half_typed(form: NodeRef<html::Form>, wrong: &[Wrong]) -> Option<Wrong> {
    let dates = "input[type=date]:invalid, input[type=datetime-local]:invalid";
    let field = form.get_untracked()?.query_selector(dates);
    let field = field.or_say("look for a date")??;
    let place = field.get_attribute("data-place")?;
    let known = wrong.iter().any(|it| it.place == place);
    (!known).then(|| Wrong {
        place,
        what: "The date is not complete.".into(),
    })
}
