//! One of several: values to pick from, or forms of which the chosen one is shown.

use leptos::prelude::*;

use super::{Form, Words, all, described, said, shown, words};
use crate::domain::views::form::{Choice, Field, FieldKind, inside};

/// More than the digits can pick are a list to open.
const RADIOS_MAX: usize = 9;

pub fn view(form: Form, place: String, field: Field) -> AnyView {
    let Words { title, beside } = words(form, &place, &field);
    let (titles, forms) = match field.kind {
        FieldKind::Choice(all) => (titles(all), Vec::new()),
        FieldKind::Either(forms) => (forms.iter().map(|it| it.title.clone()).collect(), forms),
        _ => return ().into_any(),
    };
    if titles.len() > RADIOS_MAX {
        let select = select(form, &place, titles, field.required);
        return view! {
            <div class="field">
                <label for=form.id(&place)>{title}</label>
                {beside}
                {select}
                {said(form, &place)}
                {chosen_form(form, &place, forms)}
            </div>
        }
        .into_any();
    }
    let first = form.text(&place);
    let name = form.id(&place);
    let at = StoredValue::new(place.clone());
    let radio = |(n, text): (usize, String)| {
        let on = first == n.to_string();
        view! {
            <label class="choice">
                <input type="radio" name=name.clone() value=n.to_string() data-choice=(n + 1).to_string() checked=on prop:checked=on
                    on:change=move |_| at.with_value(|place| form.set(place, n.to_string()))/>
                <bdi>{text}</bdi>
            </label>
        }
    };
    let radios = titles.into_iter().enumerate().map(radio).collect_view();
    let role = field.required.then_some("true");
    view! {
        <fieldset class="field-choices" id=form.id(&place) role="radiogroup" aria-required=role aria-describedby=described(form, &place)>
            <legend>{title}</legend>
            {beside}
            {radios}
            {said(form, &place)}
            {chosen_form(form, &place, forms)}
        </fieldset>
    }
    .into_any()
}

fn titles(all: Vec<Choice>) -> Vec<String> {
    all.into_iter().map(|it| it.title).collect()
}

fn select(form: Form, place: &str, titles: Vec<String>, required: bool) -> AnyView {
    let first = form.text(place);
    let at = StoredValue::new(place.to_owned());
    let wrong = form.wrong_at(place);
    let option = |(n, text): (usize, String)| {
        let n = n.to_string();
        let on = n == first;
        view! { <option value=n selected=on>{text}</option> }
    };
    let options = titles.into_iter().enumerate().map(option).collect_view();
    view! {
        <select class="select" id=form.id(place) aria-required=required.then_some("true") aria-describedby=described(form, place)
            aria-invalid=move || wrong.with(Option::is_some).then_some("true")
            on:change=move |event| at.with_value(|place| form.set(place, event_target_value(&event)))>
            <option value="">"Choose…"</option>
            {options}
        </select>
    }
    .into_any()
}

/// The fields of the form that is chosen.
fn chosen_form(form: Form, place: &str, forms: Vec<Field>) -> AnyView {
    let place = StoredValue::new(place.to_owned());
    let forms = StoredValue::new(forms);
    let chosen = Memo::new(move |_| {
        let text = form
            .filled
            .with(|it| place.with_value(|place| it.text(place).to_owned()));
        text.parse::<usize>().ok()
    });
    let fields = move || {
        let n = chosen.get()?;
        let field = forms.with_value(|forms| forms.get(n).cloned())?;
        let place = place.with_value(|place| inside(place, n));
        let fields = match field.kind {
            FieldKind::Group(members) => all(form, &place, members),
            _ => shown(form, place, field),
        };
        Some(view! { <div class="field-chosen">{fields}</div> })
    };
    fields.into_any()
}
