//! `/signin`: a one-time link leads here. The button, not the link, spends it, so that previews don't.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::{api, components::page_title::PageTitle, domain::Principal};

#[component]
pub fn SignInPage() -> impl IntoView {
    let params = use_query_map();
    let token = move || {
        params
            .with(|it| it.get("token"))
            .filter(|it| !it.is_empty())
    };
    let next = move || params.with(|it| it.get("next"));
    let error = move || params.with(|it| it.get("error"));
    let owner = Resource::new_blocking(token, |token| async move {
        match token {
            Some(token) => api::session::link_owner(token).await.ok().flatten(),
            None => None,
        }
    });
    let body = move || {
        let owner = owner.get()?;
        Some(match (error(), token(), owner) {
            (None, Some(token), Some(owner)) => {
                view! { <Spend token owner next=next()/> }.into_any()
            }
            (None, Some(_), None) => view! { <HowTo error=Some("used".to_owned())/> }.into_any(),
            (error, _, _) => view! { <HowTo error/> }.into_any(),
        })
    };
    view! {
        <PageTitle text="Sign in · Step47"/>
        <main id="main" class="signin">
            <p class="brand" aria-hidden="true">"step"<b>"47"</b></p>
            <Transition>{body}</Transition>
        </main>
    }
    .into_any()
}

#[component]
fn Spend(token: String, owner: Principal, next: Option<String>) -> impl IntoView {
    view! {
        <h1>"Sign in to Step47"</h1>
        <p>"This link is yours alone, works once, and signs in this browser. Your role: " <b>{owner.role.as_str()}</b> "."</p>
        <form method="post" action="/signin">
            <input type="hidden" name="token" value=token/>
            {next.map(|next| view! { <input type="hidden" name="next" value=next/> })}
            <button type="submit" class="button primary">"Sign in as " <bdi>{owner.name}</bdi></button>
        </form>
    }
    .into_any()
}

#[component]
fn HowTo(error: Option<String>) -> impl IntoView {
    let (title, why) = match error.as_deref() {
        None => ("Sign in to Step47", None),
        Some(_) => (
            "This link no longer works",
            Some(
                "A sign-in link works once, for a short time. It may be used, too old or cut off: ask for a new one.",
            ),
        ),
    };
    view! {
        <h1>{title}</h1>
        {why.map(|why| view! { <p role="alert">{why}</p> })}
        <p>"There are no passwords here. An admin makes you a personal link on the Settings page, or whoever runs the server makes one on its command line:"</p>
        <pre class="command" tabindex="0"><code>"step47 user add NAME --role operator"</code></pre>
        <p class="dim">"Roles: viewer reads, operator also decides, admin also manages people and tokens."</p>
    }
    .into_any()
}
