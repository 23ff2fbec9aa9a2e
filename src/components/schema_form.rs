//! A form made from a JSON Schema: each field with its limits beside it, and what is wrong said at it.

mod either;
mod group;
mod line;
mod list;

use leptos::prelude::*;

use super::focus;
use crate::domain::views::form::{Field, FieldKind, Filled, Wrong, inside};

/// What the fields of one form share.
#[derive(Clone, Copy)]
pub struct Form {
    pub filled: RwSignal<Filled>,
    /// What is wrong, in the order of the fields.
    pub wrong: RwSignal<Vec<Wrong>>,
    /// Tells the fields of one form from those of another on the same page.
    prefix: StoredValue<String>,
}

impl Form {
    pub fn new(form: &Field, prefix: String) -> Self {
        Self {
            filled: RwSignal::new(Filled::of(form)),
            wrong: RwSignal::new(Vec::new()),
            prefix: StoredValue::new(prefix),
        }
    }

    /// The id of the field at a place.
    pub fn id(self, place: &str) -> String {
        self.prefix.with_value(|prefix| format!("{prefix}-{place}"))
    }

    /// What is wrong at a place, and whether it is the first of all.
    pub fn wrong_at(self, place: &str) -> Memo<Option<(String, bool)>> {
        let place = place.to_owned();
        Memo::new(move |_| {
            self.wrong.with(|all| {
                let at = all.iter().position(|it| it.place == place)?;
                Some((all[at].what.clone(), at == 0))
            })
        })
    }

    fn text(self, place: &str) -> String {
        self.filled.with_untracked(|it| it.text(place).to_owned())
    }

    fn set(self, place: &str, text: impl Into<String>) {
        self.filled.update(|it| it.set(place, text));
    }

    /// Says what is wrong, and leads to the first of it.
    pub fn refuse(self, wrong: Vec<Wrong>) {
        let first = wrong.first().map(|it| self.id(&it.place));
        self.wrong.set(wrong);
        if let Some(id) = first {
            // What is said there is in the page by then.
            request_animation_frame(move || focus::enter(&id));
        }
    }
}

#[component]
pub fn SchemaForm(field: Field, form: Form) -> impl IntoView {
    let fields = match field.kind {
        FieldKind::Group(members) => {
            let whole = view! { <div id=form.id("") class="form-whole" tabindex="-1">{said(form, "")}</div> };
            view! { {whole}{all(form, "", members)} }.into_any()
        }
        _ => shown(form, String::new(), field),
    };
    view! { <div class="form-fields">{fields}</div> }.into_any()
}

fn all(form: Form, place: &str, members: Vec<Field>) -> AnyView {
    let one = |(n, member)| shown(form, inside(place, n), member);
    members
        .into_iter()
        .enumerate()
        .map(one)
        .collect_view()
        .into_any()
}

fn shown(form: Form, place: String, field: Field) -> AnyView {
    match field.kind {
        FieldKind::Group(_) => group::view(form, place, field),
        FieldKind::List(_) => list::view(form, place, field),
        FieldKind::Choice(_) | FieldKind::Either(_) => either::view(form, place, field),
        _ => line::view(form, place, field),
    }
}

/// The words around a field: what it is called, what it is for, how much fits.
struct Words {
    title: AnyView,
    beside: AnyView,
}

/// The limits of a field in words, with what its kind adds to them.
fn limits(field: &Field) -> Option<String> {
    use crate::domain::views::form::Format;
    let format = match field.kind {
        FieldKind::Line(Format::DateTime) => Some("in UTC".to_owned()),
        FieldKind::Line(Format::Email) => Some("e-mail address".to_owned()),
        _ => None,
    };
    let parts: Vec<_> = format.into_iter().chain(field.limits.said()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn words(form: Form, place: &str, field: &Field) -> Words {
    let optional = (!field.required).then_some(" (optional)");
    let hint = field.hint.clone();
    let hint = hint.map(|hint| view! { <span class="field-hint"><bdi>{hint}</bdi></span> });
    let limits =
        limits(field).map(|it| view! { <span class="field-limits"><bdi>{it}</bdi></span> });
    let json = match field.kind {
        FieldKind::Json(why) => Some(view! {
            <span class="field-hint">"A form cannot show this part: "{why}". Type it as JSON."</span>
        }),
        _ => None,
    };
    let beside = (hint.is_some() || limits.is_some() || json.is_some()).then(|| {
        view! { <span class="field-beside dim" id=form.id(&format!("{place}-beside"))>{limits}{hint}{json}</span> }
    });
    Words {
        title:
            view! { <span class="field-title"><bdi>{field.title.clone()}</bdi>{optional}</span> }
                .into_any(),
        beside: beside.into_any(),
    }
}

/// What describes a field to who does not see it: the words beside it, and what is wrong.
fn described(form: Form, place: &str) -> String {
    let beside = form.id(&format!("{place}-beside"));
    let wrong = form.id(&format!("{place}-wrong"));
    format!("{beside} {wrong}")
}

/// What is wrong with a field, said at it; the first of all is announced.
pub fn said(form: Form, place: &str) -> AnyView {
    let id = StoredValue::new(form.id(&format!("{place}-wrong")));
    let wrong = form.wrong_at(place);
    let said = move || {
        wrong.get().map(|(what, first)| {
            view! {
                <p class="field-wrong tone-crashed" id=id.get_value() role=first.then_some("alert")><bdi>{what}</bdi></p>
            }
        })
    };
    said.into_any()
}
