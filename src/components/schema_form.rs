//! Fields made from a JSON Schema. They have names, so that they also work as a plain form.

use leptos::prelude::*;

use crate::domain::views::form::{Field, FieldKind, Filled, shown};

/// What a field is called in a plain form.
pub fn posted_name(prefix: &str, name: &str) -> String {
    format!("{prefix}.{name}")
}

#[component]
pub fn SchemaForm(
    fields: Vec<Field>,
    filled: RwSignal<Filled>,
    /// Tells the fields of one form from those of another on the same page.
    #[prop(into)]
    prefix: String,
) -> impl IntoView {
    let one = move |field: Field| view! { <FieldView field filled prefix=prefix.clone()/> };
    view! { <div class="form-fields">{fields.into_iter().map(one).collect_view()}</div> }.into_any()
}

#[component]
fn FieldView(field: Field, filled: RwSignal<Filled>, prefix: String) -> impl IntoView {
    let posted = posted_name(&prefix, &field.name);
    let name = StoredValue::new(field.name.clone());
    let first = field.first.clone();
    let set = move |text: String| filled.update(|all| drop(all.insert(name.get_value(), text)));
    let value = {
        let first = first.clone();
        move || {
            filled.with(|all| {
                name.with_value(|name| all.get(name).cloned())
                    .unwrap_or_else(|| first.clone())
            })
        }
    };
    let hint = field
        .hint
        .clone()
        .map(|hint| view! { <span class="field-hint dim"><bdi>{hint}</bdi></span> });
    let title = view! {
        <span class="field-title"><bdi>{field.title.clone()}</bdi>{(!field.required).then_some(" (optional)")}</span>
    };
    match field.kind {
        FieldKind::OneOf(all) => {
            let choices = all.iter().map(shown).enumerate().map(|(n, text)| {
                let chosen = {
                    let (value, text) = (value.clone(), text.clone());
                    move || value() == text
                };
                let said = text.clone();
                let posted = posted.clone();
                view! {
                    <label class="choice">
                        <input type="radio" name=posted value=text.clone() required=field.required data-choice=(n + 1).to_string()
                            checked=first == text prop:checked=chosen on:change=move |_| set(text.clone())/>
                        <bdi>{said}</bdi>
                    </label>
                }
            });
            view! {
                <fieldset class="field-choices">
                    <legend>{title}{hint}</legend>
                    {choices.collect_view()}
                </fieldset>
            }
            .into_any()
        }
        FieldKind::Flag => view! {
            <label class="choice">
                <input type="checkbox" name=posted value="true" checked=first == "true"
                    prop:checked=move || value() == "true"
                    on:change=move |event| set(event_target_checked(&event).to_string())/>
                {title}{hint}
            </label>
        }
        .into_any(),
        FieldKind::Text | FieldKind::Json => {
            let class = if field.kind == FieldKind::Json {
                "input mono"
            } else {
                "input"
            };
            view! {
                <label class="field">
                    {title}{hint}
                    <textarea class=class name=posted rows="3" required=field.required
                        prop:value=value on:input=move |event| set(event_target_value(&event))>{first}</textarea>
                </label>
            }
            .into_any()
        }
        FieldKind::Line | FieldKind::Number { .. } => {
            let mode = match field.kind {
                FieldKind::Number { integer: true } => "numeric",
                FieldKind::Number { .. } => "decimal",
                _ => "text",
            };
            view! {
                <label class="field">
                    {title}{hint}
                    <input type="text" class="input" name=posted inputmode=mode autocomplete="off" required=field.required
                        value=first prop:value=value on:input=move |event| set(event_target_value(&event))/>
                </label>
            }
            .into_any()
        }
    }
}
