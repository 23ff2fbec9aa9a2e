//! The bar on top of every page: the way to the page, search, how many runs need a person, whether the page is live, and who
//! is signed in.

use leptos::prelude::*;
use leptos_router::params::ParamsMap;

use super::{
    account::Account, connection::ConnectionState, help::Help, keyboard::Keyboard,
    search_box::SearchBox,
};
use crate::{
    domain::{Principal, RunId, views::words},
    live::Connection,
};

/// A page of its own in the bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Runs,
    Inbox,
    Workers,
    Audit,
    Settings,
}

impl Section {
    pub const ALL: [Self; 5] = [
        Self::Runs,
        Self::Inbox,
        Self::Workers,
        Self::Audit,
        Self::Settings,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Runs => "Runs",
            Self::Inbox => "Inbox",
            Self::Workers => "Workers",
            Self::Audit => "Audit",
            Self::Settings => "Settings",
        }
    }

    pub fn href(self) -> &'static str {
        match self {
            Self::Runs => "/",
            Self::Inbox => "/inbox",
            Self::Workers => "/workers",
            Self::Audit => "/audit",
            Self::Settings => "/settings",
        }
    }

    /// The key that leads there after `g`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Runs => "r",
            Self::Inbox => "i",
            Self::Workers => "w",
            Self::Audit => "a",
            Self::Settings => "s",
        }
    }
}

/// Where a page is: one of the sections, or below the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    Section(Section),
    BelowRuns,
    /// A page that the bar does not lead to.
    Nowhere,
}

/// One step of the way to the current page; the last one has no link.
#[derive(Debug, Clone, PartialEq)]
pub struct Crumb {
    pub text: String,
    pub href: Option<String>,
}

impl Crumb {
    /// The way to a run, by its agent once that is known, and to a page below it.
    pub fn to_run(agent: Option<String>, id: &str, below: Option<&str>) -> Vec<Self> {
        let agent = agent.map(|agent| Self {
            href: Some(runs_of(&agent)),
            text: agent,
        });
        let short = id.parse::<RunId>();
        let run = Self {
            text: short.map_or_else(|_| "?".into(), |id| id.short().to_owned()),
            href: below.map(|_| format!("/runs/{id}")),
        };
        let below = below.map(|name| Self {
            text: name.into(),
            href: None,
        });
        agent.into_iter().chain([run]).chain(below).collect()
    }
}

/// The list, narrowed to this agent's runs.
pub fn runs_of(agent: &str) -> String {
    runs_with("agent", agent)
}

/// The runs that a worker holds or held.
pub fn runs_by(worker: &str) -> String {
    runs_with("worker", worker)
}

fn runs_with(name: &'static str, value: &str) -> String {
    let mut params = ParamsMap::new();
    params.insert(name, value.to_owned());
    format!("/{}", params.to_query_string())
}

#[component]
pub fn TopBar(
    here: Here,
    /// The way from "Runs" to a page below it; it may read a resource.
    crumbs: Signal<Vec<Crumb>>,
    #[prop(into)] search: Signal<String>,
    /// Runs that need a person; absent while unknown.
    #[prop(into)]
    needs: Signal<Option<i64>>,
    connection: Signal<Connection>,
    #[prop(into)] principal: Signal<Option<Principal>>,
) -> impl IntoView {
    let way = match here {
        Here::BelowRuns => view! { <Crumbs crumbs/> }.into_any(),
        here => view! {
            <nav class="sections" aria-label="Pages">
                <ul><SectionLinks here/></ul>
            </nav>
        }
        .into_any(),
    };
    view! {
        <a class="skip-link" href="#main" rel="external">"Skip to content"</a>
        <header class="topbar">
            <a class="brand" href="/" aria-label="Step47, all runs">"step"<b>"47"</b></a>
            {way}
            <SearchBox text=search/>
            <a class="inbox-link" href="/inbox" aria-current=(here == Here::Section(Section::Inbox)).then_some("page")>"Inbox"</a>
            <a class="needs-link" href="/?view=needs">
                "Needs you"
                {move || needs.get().filter(|n| *n > 0).map(|n| {
                    view! { " "<b class="badge">{words::count(n)}</b> }
                })}
            </a>
            <ConnectionState connection/>
            {move || principal.get().map(|principal| view! { <Account principal here/> })}
        </header>
        <Help/>
        <Keyboard/>
    }
    .into_any()
}

/// The pages of the bar, one list item each.
#[component]
pub fn SectionLinks(here: Here) -> impl IntoView {
    let link = move |section: Section| {
        let current = (here == Here::Section(section)).then_some("page");
        view! { <li><a href=section.href() aria-current=current>{section.name()}</a></li> }
    };
    Section::ALL.map(link).collect_view()
}

#[component]
fn Crumbs(crumbs: Signal<Vec<Crumb>>) -> impl IntoView {
    let crumb = |crumb: Crumb| {
        let text = view! { <bdi>{crumb.text}</bdi> };
        let link = match crumb.href {
            Some(href) => view! { <a href=href>{text}</a> }.into_any(),
            None => view! { <span class="crumb-here" aria-current="page">{text}</span> }.into_any(),
        };
        view! { <li>{link}</li> }
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <ol>
                <li><a href="/">"Runs"</a></li>
                <Transition>{move || crumbs.get().into_iter().map(crumb).collect_view()}</Transition>
            </ol>
        </nav>
    }
    .into_any()
}
