//! The bar on top of every page: where one is, search, what needs one, whether the page is live, who one is.

use leptos::prelude::*;

use super::{
    account::Account, connection::ConnectionState, help::Help, keyboard::Keyboard,
    search_box::SearchBox,
};
use crate::{
    domain::{Principal, words},
    live::Connection,
};

/// One step of the way to the current page; the last one has no link.
#[derive(Debug, Clone, PartialEq)]
pub struct Crumb {
    pub text: String,
    pub href: Option<String>,
}

#[component]
pub fn TopBar(
    /// Below "Runs"; empty on the list itself.
    #[prop(optional)]
    crumbs: Vec<Crumb>,
    #[prop(into)] search: Signal<String>,
    /// Runs that need a person; absent while unknown.
    #[prop(into)]
    needs: Signal<Option<i64>>,
    connection: Signal<Connection>,
    #[prop(into)] principal: Signal<Option<Principal>>,
) -> impl IntoView {
    let at_top = crumbs.is_empty();
    let crumbs = crumbs.into_iter().map(|crumb| {
        let text = view! { <bdi>{crumb.text}</bdi> };
        let link = match crumb.href {
            Some(href) => view! { <a href=href>{text}</a> }.into_any(),
            None => view! { <span class="crumb-here" aria-current="page">{text}</span> }.into_any(),
        };
        view! { <li>{link}</li> }
    });
    view! {
        <a class="skip-link" href="#main" rel="external">"Skip to content"</a>
        <header class="topbar">
            <a class="brand" href="/" aria-label="Step47, all runs">"step"<b>"47"</b></a>
            <nav class="crumbs" aria-label="Pages">
                <ol>
                    <li><a href="/" aria-current=at_top.then_some("page")>"Runs"</a></li>
                    {crumbs.collect_view()}
                </ol>
            </nav>
            <SearchBox text=search/>
            <a class="needs-link" href="/?view=needs">
                "Needs you"
                {move || needs.get().filter(|n| *n > 0).map(|n| {
                    view! { " "<b class="badge">{words::count(n)}</b> }
                })}
            </a>
            <ConnectionState connection/>
            {move || principal.get().map(|principal| view! { <Account principal/> })}
        </header>
        <Help/>
        <Keyboard/>
    }
    .into_any()
}
