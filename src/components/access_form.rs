//! Forms that change who may come in. They post like any form; with WASM the change is made in place instead.

use leptos::{ev, html, prelude::*};

use crate::{
    api::AppError,
    components::copy::CopyField,
    domain::{
        Role,
        nouns::{
            access::{Change, Changed},
            lifetime::Lifetime,
        },
    },
};

/// A form whose whole content is one change that is known beforehand; `children` is its button.
#[component]
pub fn ChangeForm(
    change: Change,
    #[prop(into)] on_change: Callback<Change>,
    children: Children,
) -> impl IntoView {
    let (word, field, value) = match &change {
        Change::NewLink { name } => ("new_link", "name", name.clone()),
        Change::DisableUser { name } => ("disable_user", "name", name.clone()),
        Change::RevokeToken { id } => ("revoke_token", "id", id.clone()),
        Change::AddUser { name, .. } => ("add_user", "name", name.clone()),
        Change::CreateToken { name, .. } => ("create_token", "name", name.clone()),
    };
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        on_change.run(change.clone());
    };
    view! {
        <form method="post" action="/settings" class="change-form" on:submit=submit>
            <input type="hidden" name="change" value=word/>
            <input type="hidden" name=field value=value/>
            {children()}
        </form>
    }
    .into_any()
}

/// A form that names someone or something new and gives it a role.
#[component]
pub fn NewForm(
    /// `add_user` or `create_token`.
    word: &'static str,
    label: &'static str,
    placeholder: &'static str,
    /// Roles and what they may, the likely one first.
    roles: Vec<(Role, &'static str)>,
    verb: &'static str,
    /// What it makes may end by itself.
    #[prop(optional)]
    ends: bool,
    make: fn(String, Role, Option<Lifetime>) -> Change,
    #[prop(into)] on_change: Callback<Change>,
) -> impl IntoView {
    let name = NodeRef::<html::Input>::new();
    let role = NodeRef::<html::Select>::new();
    let expires = NodeRef::<html::Select>::new();
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let (Some(name), Some(role)) = (name.get(), role.get()) else {
            return;
        };
        if let Ok(chosen) = role.value().parse() {
            let lives = expires.get().and_then(|it| it.value().parse().ok());
            on_change.run(make(name.value().trim().to_owned(), chosen, lives));
            name.set_value("");
        }
    };
    let option = |(role, may): (Role, &'static str)| {
        view! { <option value=role.as_str()>{format!("{role}: {may}")}</option> }
    };
    view! {
        <form method="post" action="/settings" class="new-form" on:submit=submit>
            <input type="hidden" name="change" value=word/>
            <input
                node_ref=name
                class="input"
                name="name"
                required
                maxlength="64"
                autocomplete="off"
                spellcheck="false"
                placeholder=placeholder
                aria-label=label
            />
            <select node_ref=role class="select" name="role" aria-label="Role">
                {roles.into_iter().map(option).collect_view()}
            </select>
            {ends.then(|| view! {
                <select node_ref=expires class="select" name="expires" aria-label="Valid for">
                    <option value="">"no expiry"</option>
                    <option value="30d">"30 days"</option>
                    <option value="90d">"90 days"</option>
                    <option value="365d">"1 year"</option>
                </select>
            })}
            <button type="submit" class="button">{verb}</button>
        </form>
    }
    .into_any()
}

/// What a change gave: a secret to keep, or why it was refused.
#[component]
pub fn Given(answer: Result<Changed, AppError>) -> impl IntoView {
    match answer {
        Ok(Changed::Link { name, url }) => view! {
            <div class="given" role="status">
                <p><b>"A sign-in link for " <bdi>{name}</bdi></b> ": it works once, for 24 hours, and is not shown again."</p>
                <CopyField label="Sign-in link" text=url/>
            </div>
        }
        .into_any(),
        Ok(Changed::Secret { name, secret, .. }) => view! {
            <div class="given" role="status">
                <p><b>"The token " <bdi>{name}</bdi></b> ": copy it now. It is not shown again."</p>
                <CopyField label="Token" text=secret/>
            </div>
        }
        .into_any(),
        Ok(Changed::Disabled { name }) => {
            view! { <p class="given" role="status"><bdi>{name}</bdi> " is disabled."</p> }.into_any()
        }
        Ok(Changed::Revoked) => view! { <p class="given" role="status">"The token is revoked."</p> }.into_any(),
        Err(error) => view! { <p class="given is-refused" role="alert">{error.0.detail}</p> }.into_any(),
    }
}
