//! The filters beside the list: plain links with bounded counts.

use leptos::prelude::*;

use super::glyph::{Glyph, Shape};
use crate::domain::views::words;

/// One filter; following it again when it is on takes it off.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterLink {
    pub text: String,
    pub shape: Option<Shape>,
    pub href: String,
    pub on: bool,
    pub count: Option<i64>,
}

/// Filters of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterGroup {
    pub title: &'static str,
    pub links: Vec<FilterLink>,
}

#[component]
pub fn Sidebar(groups: Vec<FilterGroup>) -> impl IntoView {
    let groups = groups.into_iter().filter(|group| !group.links.is_empty());
    view! {
        <nav class="sidebar" aria-label="Filters">
            {groups.map(|group| view! { <Group group/> }).collect_view()}
        </nav>
    }
    .into_any()
}

#[component]
fn Group(group: FilterGroup) -> impl IntoView {
    let link = |link: FilterLink| {
        view! {
            <li>
                <a class="filter" href=link.href aria-current=link.on.then_some("true")>
                    {link.shape.map(|shape| view! { <Glyph shape/> })}
                    <bdi class="filter-text">{link.text}</bdi>
                    {link.count.map(|n| view! { <span class="filter-count">{words::count(n)}</span> })}
                </a>
            </li>
        }
    };
    view! {
        <h2 class="label">{group.title}</h2>
        <ul>{group.links.into_iter().map(link).collect_view()}</ul>
    }
    .into_any()
}
