//! The answer to a gate: choices or a form made from its schema, a reason, and buttons that say what they do. Keys
//! `1`–`9` only choose; Ctrl or Cmd with Enter sends.

use leptos::{ev, prelude::*};
use serde_json::Value;

use super::{keyboard, refusal::Refusal, schema_form::SchemaForm};
use crate::{
    api::AppError,
    domain::{
        DecisionKind, Gate,
        views::form::{self, Field, FieldKind, Filled},
        wire::protocol::Decide,
    },
};

/// How a gate can be answered.
#[derive(Debug, Clone, PartialEq)]
enum Ask {
    /// One of these, by the gate's `choices`.
    Choices(Vec<Value>),
    /// By its schema.
    Form(Vec<Field>),
    /// Yes or no.
    Plain,
}

fn ask(gate: &Gate) -> Ask {
    match (&gate.choices, &gate.schema) {
        (Some(choices), _) if !choices.is_empty() => Ask::Choices(choices.clone()),
        (_, Some(schema)) => Ask::Form(form::fields(schema)),
        _ => Ask::Plain,
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
    let ask = ask(&gate);
    let filled = RwSignal::new(Filled::new());
    let reason = RwSignal::new(String::new());
    let wrong = RwSignal::new(None::<String>);
    let fields = match &ask {
        Ask::Choices(all) => vec![Field {
            name: "choice".into(),
            title: "Choose".into(),
            hint: None,
            required: true,
            kind: FieldKind::OneOf(all.clone()),
            first: String::new(),
        }],
        Ask::Form(fields) => fields.clone(),
        Ask::Plain => Vec::new(),
    };
    let kept = StoredValue::new(fields.clone());
    let plain = ask == Ask::Plain;
    let send = move |kind: DecisionKind| {
        let result = match kind {
            DecisionKind::Answer => {
                match kept.with_value(|fields| form::value(fields, &filled.get_untracked())) {
                    Ok(value) => Some(value),
                    Err((_, why)) => return wrong.set(Some(why)),
                }
            }
            _ => None,
        };
        if reason.with_untracked(|it| it.trim().is_empty()) {
            return wrong.set(Some(
                "A reason is missing: it is kept in the audit log.".into(),
            ));
        }
        wrong.set(None);
        on_decide.run(Decide {
            if_version: version.get_untracked(),
            step: Some(step),
            result,
            reason: Some(reason.get_untracked().trim().to_owned()),
            ..Decide::new(kind)
        });
    };
    let main = if plain {
        DecisionKind::Approve
    } else {
        DecisionKind::Answer
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
    let said = {
        let gate = gate.clone();
        move || match &ask {
            Ask::Plain => format!("Approve: {}", statement(&gate.title)),
            Ask::Choices(_) | Ask::Form(_) => {
                let chosen = filled.with(|all| all.get("choice").cloned());
                match chosen {
                    Some(chosen) => format!("Answer: {chosen}"),
                    None => "Send answer".to_owned(),
                }
            }
        }
    };
    let prefix = format!("answer-{id}");
    view! {
        <form class="answer" on:submit=submit on:keydown=keys data-answer="">
            {move || refused.get().map(|error| view! { <Refusal error renewed=true/> })}
            <SchemaForm fields filled prefix/>
            <label class="reason">
                "Reason"
                <input type="text" class="input" name="reason" maxlength="1000" autocomplete="off" placeholder="kept in the audit log"
                    prop:value=move || reason.get() on:input=move |event| reason.set(event_target_value(&event))/>
            </label>
            {move || wrong.get().map(|why| view! { <p class="tone-crashed" role="alert"><bdi>{why}</bdi></p> })}
            <div class="answer-foot">
                <button type="button" class="button" disabled=move || busy.get() on:click=move |_| send(DecisionKind::Reject)>"Reject"</button>
                <button type="submit" class="button primary" disabled=move || busy.get()><bdi>{said}</bdi>" "<kbd aria-hidden="true">"⌘↵"</kbd></button>
            </div>
        </form>
    }
    .into_any()
}

/// "Send €120.00 back?" as what is approved: without its question mark.
fn statement(title: &str) -> &str {
    title.trim_end().trim_end_matches('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_becomes_what_is_approved() {
        assert_eq!(
            statement("Send €120.00 back to the customer?"),
            "Send €120.00 back to the customer"
        );
        assert_eq!(statement("Deploy"), "Deploy");
    }
}
