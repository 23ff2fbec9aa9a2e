//! `/settings`: people and tokens for admins, what this browser shows and how, where the store stands.

mod everything;
mod noted;

use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};

use self::{everything::VerifyEverything, noted::CompareHead};
use super::shell::Page;
use crate::{
    api::{self, AppError, access::Outcome},
    components::{
        access_form::{ChangeForm, Given},
        appearance::Appearance,
        dialog::Dialog,
        integrity::IntegrityFacts,
        notice::Refused,
        page_title::PageTitle,
        people::{People, Tokens},
        sessions::Sessions,
        skeleton::Skeleton,
        toast::Toasts,
        top_bar::{Here, Section},
    },
    domain::nouns::{
        access::{AccessSheet, Change, Changed, Managed},
        noted::Chain,
    },
};

/// What the page reads and changes.
#[derive(Clone, Copy)]
struct Access {
    sheet: Resource<Result<AccessSheet, AppError>>,
    /// What a form that was posted without WASM gave.
    posted: Resource<Result<Option<Outcome>, AppError>>,
    change: Action<Change, Outcome>,
}

impl Access {
    fn new() -> Self {
        let sheet = Resource::new_blocking(|| (), |()| api::access::sheet());
        let posted = Resource::new_blocking(|| (), |()| api::access::outcome());
        let toasts = expect_context::<Toasts>();
        let navigate = use_navigate();
        let change = Action::new(move |change: &Change| {
            let change = change.clone();
            async move {
                let answer = api::access::change(change.clone()).await;
                (change, answer)
            }
        });
        Effect::new(move || {
            let Some((_, answer)) = change.value().get() else {
                return;
            };
            sheet.refetch();
            match answer {
                Ok(Changed::Disabled { name }) => toasts.say(format!("{name} is disabled")),
                Ok(Changed::Revoked) => toasts.say("The token is revoked"),
                _ => {}
            }
            let stay = NavigateOptions {
                replace: true,
                scroll: false,
                ..NavigateOptions::default()
            };
            navigate("/settings", stay);
        });
        Self {
            sheet,
            posted,
            change,
        }
    }

    /// What the last change of people, or of tokens, gave.
    fn given(self, of_people: bool) -> Option<Result<Changed, AppError>> {
        let last = self
            .change
            .value()
            .get()
            .or_else(|| self.posted.get()?.ok().flatten());
        last.filter(|(change, _)| change.of_people() == of_people)
            .map(|(_, answer)| answer)
    }
}

#[component]
pub fn SettingsPage() -> impl IntoView {
    let access = Access::new();
    let sessions = Resource::new_blocking(|| (), |()| api::session::mine());
    let sessions = move || {
        Some(match sessions.get()? {
            Ok(sessions) if sessions.is_empty() => {
                view! { <p class="dim">"You signed in with a token, not with a session."</p> }
                    .into_any()
            }
            Ok(sessions) => view! { <Sessions sessions/> }.into_any(),
            Err(error) => view! { <Refused error/> }.into_any(),
        })
    };
    let integrity = Resource::new_blocking(|| (), |()| api::access::integrity());
    let managed = move || {
        Some(match access.sheet.get()? {
            Ok(sheet) => sheet_view(sheet, access),
            Err(error) => view! { <Refused error/> }.into_any(),
        })
    };
    let integrity = move || {
        Some(match integrity.get()? {
            Ok(integrity) => view! { <IntegrityFacts integrity/> }.into_any(),
            Err(error) => view! { <Refused error/> }.into_any(),
        })
    };
    view! {
        <PageTitle text="Settings · Step47"/>
        <Page here=Here::Section(Section::Settings)>
            <main id="main" class="main settings" tabindex="-1">
                <header class="page-head"><h1>"Settings"</h1></header>
                <Transition fallback=|| view! { <Skeleton rows=4/> }>{managed}</Transition>
                <section class="setting" aria-labelledby="sessions">
                    <h2 id="sessions">"Your sessions"</h2>
                    <div class="setting-body">
                        <Transition fallback=|| view! { <Skeleton rows=1/> }>{sessions}</Transition>
                    </div>
                </section>
                <section class="setting" aria-labelledby="appearance">
                    <h2 id="appearance">"This browser"</h2>
                    <div class="setting-body"><Appearance/></div>
                </section>
                <section class="setting" aria-labelledby="integrity">
                    <h2 id="integrity">"Integrity"</h2>
                    <div class="setting-body">
                        <Transition fallback=|| view! { <Skeleton rows=2/> }>{integrity}</Transition>
                        <CompareHead chain=Chain::Events/>
                        <CompareHead chain=Chain::Audit/>
                        <Transition><VerifyEverything/></Transition>
                    </div>
                </section>
            </main>
        </Page>
    }
    .into_any()
}

fn sheet_view(sheet: AccessSheet, access: Access) -> AnyView {
    let AccessSheet {
        me,
        admins,
        managed,
    } = sheet;
    let Some(Managed { users, tokens }) = managed else {
        return view! { <AskAnAdmin role=me.role.as_str() admins/> }.into_any();
    };
    let on_change = Callback::new(move |change: Change| {
        access.change.dispatch(change);
    });
    let given = move |of_people| {
        access
            .given(of_people)
            .map(|answer| view! { <Given answer/> })
    };
    let params = use_query_map();
    let known = users.clone();
    let live = tokens.clone();
    let question = move || {
        let disable = params.with(|it| it.get("disable"));
        let revoke = params.with(|it| it.get("revoke"));
        let user = known.iter().find(|it| Some(&it.name) == disable.as_ref());
        let token = live.iter().find(|it| Some(&it.id) == revoke.as_ref());
        match (user, token) {
            (Some(user), _) => {
                Some(view! { <ConfirmDisable name=user.name.clone() on_change/> }.into_any())
            }
            (_, Some(token)) => {
                let (id, name) = (token.id.clone(), token.name.clone());
                Some(view! { <ConfirmRevoke id name on_change/> }.into_any())
            }
            _ => None,
        }
    };
    view! {
        <section class="setting" aria-labelledby="people">
            <h2 id="people">"People"</h2>
            <div class="setting-body">
                {move || given(true)}
                <People users me=me.name on_change/>
            </div>
        </section>
        <section class="setting" aria-labelledby="tokens">
            <h2 id="tokens">"Tokens"</h2>
            <div class="setting-body">
                {move || given(false)}
                <Tokens tokens on_change/>
            </div>
        </section>
        {question}
    }
    .into_any()
}

/// What stands in place of people and tokens for everyone else.
#[component]
fn AskAnAdmin(role: &'static str, admins: Vec<String>) -> impl IntoView {
    let names = admins.join(", ");
    view! {
        <section class="setting" aria-labelledby="people">
            <h2 id="people">"People and tokens"</h2>
            <div class="setting-body">
                <p>"Your role, " <b>{role}</b> ", does not manage people and tokens. Ask an admin: " <b><bdi>{names}</bdi></b> "."</p>
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn ConfirmDisable(name: String, on_change: Callback<Change>) -> impl IntoView {
    let change = Change::DisableUser { name: name.clone() };
    let title = format!("Disable {name}");
    view! {
        <Dialog title back="/settings">
            <p>"Their sessions, streams and tokens end within two seconds, and their links no longer open, for good. What they decided stays in the history. Adding them again gives them a new link."</p>
            <Foot change on_change verb=format!("Disable {name}")/>
        </Dialog>
    }
    .into_any()
}

#[component]
fn ConfirmRevoke(id: String, name: String, on_change: Callback<Change>) -> impl IntoView {
    let title = format!("Revoke token {name}");
    view! {
        <Dialog title back="/settings">
            <p>"Agents that use it are refused within two seconds, and its streams end; the runs they hold crash when their leases run out. It cannot be undone: create another token instead."</p>
            <Foot change=Change::RevokeToken { id } on_change verb=format!("Revoke {name}")/>
        </Dialog>
    }
    .into_any()
}

#[component]
fn Foot(change: Change, on_change: Callback<Change>, verb: String) -> impl IntoView {
    view! {
        <div class="sheet-foot">
            <a class="button" href="/settings">"Back"</a>
            <ChangeForm change on_change>
                <button type="submit" class="button danger"><bdi>{verb}</bdi></button>
            </ChangeForm>
        </div>
    }
    .into_any()
}
