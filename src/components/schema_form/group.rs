//! The members of an object, inside one frame.

use leptos::prelude::*;

use super::{Form, Words, all, described, said, words};
use crate::domain::views::form::{Field, FieldKind};

pub fn view(form: Form, place: String, field: Field) -> AnyView {
    let Words { title, beside } = words(form, &place, &field);
    let FieldKind::Group(members) = field.kind else {
        return ().into_any();
    };
    view! {
        <fieldset class="field-group" id=form.id(&place) aria-describedby=described(form, &place)>
            <legend>{title}</legend>
            {beside}
            {said(form, &place)}
            {all(form, &place, members)}
        </fieldset>
    }
    .into_any()
}
