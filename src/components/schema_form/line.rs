//! One value: typed, picked from a calendar, ticked, or written as JSON.
//!
//! What stands in a field is set once: a calendar field that is set again while someone types loses the half of a date.

use leptos::prelude::*;

use super::{Form, Words, described, said, words};
use crate::{
    components::json_field::JsonField,
    domain::views::form::{Field, FieldKind, Format},
};

pub fn view(form: Form, place: String, field: Field) -> AnyView {
    let Words { title, beside } = words(form, &place, &field);
    let id = form.id(&place);
    let wrong = form.wrong_at(&place);
    let invalid = move || wrong.with(Option::is_some).then_some("true");
    let described = described(form, &place);
    let first = form.text(&place);
    let at = StoredValue::new(place.clone());
    let set = move |text: String| at.with_value(|place| form.set(place, text));
    let required = field.required.then_some("true");
    let control = match field.kind {
        FieldKind::Flag => {
            return view! {
                <div class="field">
                    <label class="choice">
                        <input type="checkbox" id=id aria-invalid=invalid aria-describedby=described checked=first == "true"
                            prop:checked=first == "true"
                            on:change=move |event| set(event_target_checked(&event).to_string())/>
                        {title}
                    </label>
                    {beside}
                    {said(form, &place)}
                </div>
            }
            .into_any();
        }
        FieldKind::Fixed(value) => {
            let text = match value {
                serde_json::Value::String(text) => text,
                value => value.to_string(),
            };
            return view! { <div class="field-fixed" id=id tabindex="-1">{title}" "<bdi class="mono">{text}</bdi>{beside}{said(form, &place)}</div> }
                .into_any();
        }
        FieldKind::Json(_) => {
            let text = RwSignal::new(first);
            Effect::new(move || set(text.get()));
            let label = field.title.clone();
            return view! {
                <div class="field field-json">
                    {title}
                    {beside}
                    <JsonField id name="json" label text wrong=Vec::new() described=described.clone() small=true/>
                    {said(form, &place)}
                </div>
            }
            .into_any();
        }
        FieldKind::Text => view! {
            <textarea class="input" id=id rows="3" aria-required=required aria-invalid=invalid aria-describedby=described
                prop:value=first.clone() on:input=move |event| set(event_target_value(&event))>{first.clone()}</textarea>
        }
        .into_any(),
        kind => {
            let (input, mode) = match kind {
                FieldKind::Line(Format::Date) => ("date", None),
                FieldKind::Line(Format::DateTime) => ("datetime-local", None),
                FieldKind::Line(Format::Email) => ("text", Some("email")),
                FieldKind::Number { integer: true } => ("text", Some("numeric")),
                FieldKind::Number { integer: false } => ("text", Some("decimal")),
                _ => ("text", None),
            };
            view! {
                <input type=input class="input" id=id inputmode=mode step=(input == "datetime-local").then_some("1") autocomplete="off"
                    aria-required=required aria-invalid=invalid aria-describedby=described data-place=place.clone()
                    value=first.clone() prop:value=first on:input=move |event| set(event_target_value(&event))/>
            }
            .into_any()
        }
    };
    view! {
        <div class="field">
            <label for=form.id(&place)>{title}</label>
            {beside}
            {control}
            {said(form, &place)}
        </div>
    }
    .into_any()
}
