//! People who may sign in, and tokens for programs.

use leptos::prelude::*;
use leptos_router::params::ParamsMap;

use super::{
    access_form::{ChangeForm, NewForm},
    time::Moment,
};
use crate::domain::{
    Role,
    nouns::access::{Change, Token, User},
};

/// The settings with a question above them.
fn asking(question: &str, about: &str) -> String {
    let mut params = ParamsMap::new();
    params.insert(question.to_owned(), about.to_owned());
    format!("/settings{}", params.to_query_string())
}

#[component]
pub fn People(
    users: Vec<User>,
    /// The reader: nobody shuts themselves out.
    me: String,
    #[prop(into)] on_change: Callback<Change>,
) -> impl IntoView {
    let row = move |user: User| {
        let own = user.name == me;
        let out = user.disabled_at.is_some();
        let name = user.name.clone();
        let actions = (!out).then(|| view! { <UserActions name=name.clone() own on_change/> });
        view! {
            <tr role="row" class:is-out=out>
                <td role="cell"><b><bdi>{name}</bdi></b>{own.then_some(" (you)")}</td>
                <td role="cell">{user.role.as_str()}</td>
                <td role="cell" class="cell-since">"since " <Moment at=user.created_at/></td>
                <td role="cell" class="cell-state">
                    {user.disabled_at.map(|at| view! { "disabled " <Moment at/> })}
                    <span class="actions">{actions}</span>
                </td>
            </tr>
        }
    };
    let roles = vec![
        (Role::Operator, "reads and decides"),
        (Role::Viewer, "reads"),
        (Role::Admin, "also manages people and tokens"),
    ];
    view! {
        <AccessTable label="People">{users.into_iter().map(row).collect_view()}</AccessTable>
        <NewForm
            word="add_user"
            label="Name of the person"
            placeholder="Name"
            roles
            verb="Add person"
            make=|name, role, _| Change::AddUser { name, role }
            on_change
        />
    }
    .into_any()
}

#[component]
fn UserActions(name: String, own: bool, on_change: Callback<Change>) -> impl IntoView {
    let disable = (!own).then(|| {
        let (href, name) = (asking("disable", &name), name.clone());
        view! { <a class="button quiet" href=href>"Disable… " <span class="hidden">{name}</span></a> }
    });
    let change = Change::NewLink { name: name.clone() };
    view! {
        <ChangeForm change on_change>
            <button type="submit" class="button quiet">"New link" <span class="hidden">" for "{name}</span></button>
        </ChangeForm>
        {disable}
    }
    .into_any()
}

#[component]
pub fn Tokens(tokens: Vec<Token>, #[prop(into)] on_change: Callback<Change>) -> impl IntoView {
    let row = |token: Token| {
        let out = token.revoked_at.is_some();
        let href = asking("revoke", &token.id);
        view! {
            <tr role="row" class:is-out=out>
                <td role="cell"><b><bdi>{token.name.clone()}</bdi></b></td>
                <td role="cell">{token.role.as_str()}</td>
                <td role="cell" class="cell-since">
                    "since " <Moment at=token.created_at/>
                    {token.owner.map(|owner| view! { " · belongs to " <bdi>{owner}</bdi> })}
                    {token.expires_at.map(|at| view! { " · ends " <Moment at/> })}
                    {token.used_at.map(|at| view! { " · last used " <Moment at/> })}
                    " · " <span class="mono">{token.id}</span>
                </td>
                <td role="cell" class="cell-state">
                    {token.revoked_at.map(|at| view! { "revoked " <Moment at/> })}
                    <span class="actions">{(!out).then(|| view! {
                        <a class="button quiet" href=href>"Revoke… " <span class="hidden">{token.name.clone()}</span></a>
                    })}</span>
                </td>
            </tr>
        }
    };
    let empty = tokens.is_empty();
    let roles = vec![
        (Role::Agent, "reads, and advances runs"),
        (Role::Viewer, "reads"),
        (Role::Operator, "reads and decides"),
        (Role::Admin, "everything"),
    ];
    view! {
        {empty.then(|| view! { <p class="dim">"No token yet. An agent needs one to record its runs."</p> })}
        {(!empty).then(|| view! {
            <AccessTable label="Tokens">{tokens.into_iter().map(row).collect_view()}</AccessTable>
        })}
        <NewForm
            word="create_token"
            label="Name of the token"
            placeholder="Name, such as my-agent"
            roles
            verb="Create token"
            ends=true
            make=|name, role, expires| Change::CreateToken { name, role, expires }
            on_change
        />
    }
    .into_any()
}

#[component]
fn AccessTable(label: &'static str, children: Children) -> impl IntoView {
    view! {
        <table class="table access" role="table" aria-label=label>
            <thead role="rowgroup" class="hidden">
                <tr role="row">
                    <th scope="col" role="columnheader">"Name"</th>
                    <th scope="col" role="columnheader">"Role"</th>
                    <th scope="col" role="columnheader">"Since"</th>
                    <th scope="col" role="columnheader">"State and actions"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{children()}</tbody>
        </table>
    }
    .into_any()
}
