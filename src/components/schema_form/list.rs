//! Any number of items, each with a button that removes it; one more by the button below.

use leptos::prelude::*;

use super::{Form, Words, all, described, said, shown, words};
use crate::{
    components::focus,
    domain::views::form::{Field, FieldKind, inside},
};

/// Items of one list on a page.
const ITEMS_MAX: u64 = 200;

pub fn view(form: Form, place: String, field: Field) -> AnyView {
    let Words { title, beside } = words(form, &place, &field);
    let most = field.limits.most().unwrap_or(ITEMS_MAX).min(ITEMS_MAX) as usize;
    let named = field.title.clone();
    let FieldKind::List(item) = field.kind else {
        return ().into_any();
    };
    let at = StoredValue::new(place.clone());
    let item = StoredValue::new(*item);
    let numbers = Memo::new(move |_| {
        form.filled
            .with(|it| at.with_value(|place| it.items(place).to_vec()))
    });
    let full = Memo::new(move |_| numbers.with(|it| it.len() >= most));
    let add_id = form.id(&format!("{place}-add"));
    let back_to = StoredValue::new(add_id.clone());
    let add = move |_| {
        let mut added = None;
        form.filled.update(|it| {
            let number = at.with_value(|place| item.with_value(|item| it.add(place, item)));
            added = Some(number);
        });
        if let Some(number) = added {
            let id = form.id(&at.with_value(|place| inside(place, number)));
            request_animation_frame(move || focus::enter(&id));
        }
    };
    let remove = move |number: u32| {
        form.filled
            .update(|it| at.with_value(|place| it.remove(place, number)));
        // What was said of other fields stays; the items below moved up, and the focus with them.
        request_animation_frame(move || back_to.with_value(|id| focus::enter(id)));
    };
    let list = StoredValue::new(named.clone());
    let one = move |number: u32| {
        let place = at.with_value(|place| inside(place, number));
        let order = move || {
            let index = numbers.with(|all| all.iter().position(|it| *it == number));
            index.map_or(0, |index| index + 1)
        };
        let label = move || list.with_value(|list| format!("Remove item {} of {list}", order()));
        let field = item.get_value();
        let plain = matches!(field.kind, FieldKind::Group(_));
        let fields = match field.kind {
            FieldKind::Group(members) => all(form, &place, members),
            _ => shown(form, place.clone(), field),
        };
        let whole = plain.then(|| said(form, &place));
        // A group has no field of its own that could have the place's id.
        let id = plain.then(|| form.id(&place));
        view! {
            <li class="form-item" id=id>
                <span class="form-item-number dim" aria-hidden="true">{order}</span>
                <div class="form-item-fields">{whole}{fields}</div>
                <button type="button" class="button quiet form-item-remove" aria-label=label on:click=move |_| remove(number)>"Remove"</button>
            </li>
        }
    };
    view! {
        <fieldset class="field-group" id=form.id(&place) aria-describedby=described(form, &place)>
            <legend>{title}</legend>
            {beside}
            <ol class="form-items">
                <For each=move || numbers.get() key=|number| *number children=one/>
            </ol>
            {said(form, &place)}
            <p class="form-add">
                <button type="button" class="button" id=add_id disabled=move || full.get() on:click=add aria-label=format!("Add to {named}")>"Add"</button>
                {move || full.get().then(|| view! { <span class="dim">"The list is full"</span> })}
            </p>
        </fieldset>
    }
    .into_any()
}
