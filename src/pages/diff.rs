//! `/runs/:id/diff`: any two states of a run, or one of it and one of another, beside each other.

mod diff_url;
mod keys;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::{
    diff_url::{DiffUrl, View},
    keys::DiffKeys,
};
use super::{look::look, run::run_id, shell::Page};
use crate::{
    api::{self, AppError},
    components::{
        diff_view::{DiffRows, SideWords},
        excerpt::ExcerptBlock,
        notice::Refused,
        page_title::PageTitle,
        top_bar::{Crumb, Here},
    },
    domain::{
        RunId,
        views::{
            diff_sheet::{DiffSheet, Side},
            sheet::Excerpt,
            words,
        },
    },
};

type Answer = Result<(DiffSheet, Option<Excerpt>), AppError>;

async fn read(id: String, url: DiffUrl) -> Answer {
    let run = run_id(&id)?;
    let after = url.after.unwrap_or(0);
    let sheet = api::diffs::read(run.clone(), url.query.clone(), after, url.find).await?;
    let raw = match url.view {
        View::Raw => Some(api::diffs::raw(run, url.query).await?),
        View::Tree | View::Side => None,
    };
    Ok((sheet, raw))
}

#[component]
pub fn DiffPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|it| it.get("id").unwrap_or_default()));
    let url = Memo::new(move |_| query.with(DiffUrl::of));
    let answer = Resource::new_blocking(move || (id.get(), url.get()), |(id, url)| read(id, url));
    let crumbs = Signal::derive(move || Crumb::to_run(None, &id.get(), Some("Diff")));
    view! {
        <Page here=Here::BelowRuns crumbs>
            <main id="main" class="diff-page" tabindex="-1">
                <Transition fallback=|| view! { <p class="loading" role="status">"Loading…"</p> }>
                    <Shown answer url/>
                </Transition>
            </main>
        </Page>
    }
    .into_any()
}

/// Below `Transition`, where resources may be read.
#[component]
fn Shown(answer: Resource<Answer>, url: Memo<DiffUrl>) -> impl IntoView {
    move || {
        answer.get().map(|answer| match answer {
            Ok((sheet, raw)) => {
                let url = url.get_untracked();
                view! { <Compared sheet raw url/> }.into_any()
            }
            Err(error) => view! { <PageTitle text="Diff · Step47"/><Refused error/> }.into_any(),
        })
    }
}

#[component]
fn Compared(sheet: DiffSheet, raw: Option<Excerpt>, url: DiffUrl) -> impl IntoView {
    let run = sheet.from.run.clone();
    let url = DiffUrl {
        query: crate::domain::views::diff_sheet::DiffQuery {
            from: Some(sheet.from.snapshot),
            to: Some(sheet.to.snapshot),
            other: url.query.other,
        },
        ..url
    };
    let two = sheet.from.run != sheet.to.run;
    let title = format!(
        "Snapshot {} → {} · Step47",
        words::number(sheet.from.snapshot),
        words::number(sheet.to.snapshot)
    );
    let totals = sheet.totals;
    let (from, to) = (sheet.from.clone(), sheet.to.clone());
    let of_step = run.clone();
    let look = look(Callback::new(move |seq: i64| {
        format!("/runs/{of_step}?step={seq}&tab=diff")
    }));
    let next = sheet.page.next.map(|after| {
        let href = url.with_after(Some(after)).href(&run);
        view! { <a class="button" href=href rel="next">"Further changes"</a> }
    });
    let back = (url.after.unwrap_or(0) > 0).then(|| {
        let href = url.with_after(None).href(&run);
        view! { <a class="button" href=href>"First changes"</a> }
    });
    let body = match (url.view, raw) {
        (View::Raw, Some(raw)) => {
            view! { <ExcerptBlock title="changes" excerpt=Some(raw)/> }.into_any()
        }
        (view, _) => {
            let beside = view == View::Side;
            view! { <DiffRows sheet beside look/> }.into_any()
        }
    };
    let moved = (totals.moved > 0).then(|| format!(" · {} moved", words::number(totals.moved)));
    view! {
        <PageTitle text=title/>
        <DiffKeys/>
        <header class="page-head">
            <h1>"What changed"</h1>
            <p class="diff-between">
                <SideWords side=from.clone() other=two/>" → "<SideWords side=to.clone() other=two/>
                <span class="dim">{format!(" {} → {}", words::size(from.bytes), words::size(to.bytes))}</span>
            </p>
        </header>
        <Choose run=run.clone() url=url.clone() from to/>
        <section class="diff-box" aria-label="Changes">
            <header class="diff-head">
                <p class="diff-totals">
                    <span class="tone-committed">{format!("+{}", words::number(totals.added))}</span>" "
                    <span class="tone-failed">{format!("−{}", words::number(totals.removed))}</span>
                    <span class="dim">{moved}</span>
                </p>
                <p class="dim diff-hint"><kbd>"["</kbd>" "<kbd>"]"</kbd>" previous, next change"</p>
                <Views run=run.clone() url/>
            </header>
            {body}
        </section>
        <nav class="pager" aria-label="Pages of changes">{back}{next}</nav>
    }
    .into_any()
}

#[component]
fn Views(run: RunId, url: DiffUrl) -> impl IntoView {
    let link = move |(view, name): (View, &'static str)| {
        let here = (url.view == view).then_some("true");
        let to = DiffUrl {
            view,
            ..url.clone()
        };
        view! { <a class="segment" href=to.href(&run) aria-current=here>{name}</a> }
    };
    let all = [
        (View::Tree, "Tree"),
        (View::Side, "Side by side"),
        (View::Raw, "Raw"),
    ];
    view! {
        <nav class="segments" aria-label="Views of the change">{all.map(link).into_iter().collect_view()}</nav>
    }
    .into_any()
}

/// Which two states, and what is looked for; works without WASM.
#[component]
fn Choose(run: RunId, url: DiffUrl, from: Side, to: Side) -> impl IntoView {
    let earlier = DiffUrl::between(from.snapshot - 1, from.snapshot);
    let later = DiffUrl::between(to.snapshot, to.snapshot + 1);
    let same = from.run == to.run;
    let earlier = (same && from.snapshot > 0).then(|| {
        view! { <a class="button" href=earlier.href(&run)>"Previous change"</a> }
    });
    let later = (same && to.snapshot < to.newest).then(|| {
        view! { <a class="button" href=later.href(&run)>"Next change"</a> }
    });
    let view = url.view.as_str();
    view! {
        <form class="diff-choose" method="get" action=format!("/runs/{run}/diff")>
            <label>"from snapshot "
                <input class="input" type="number" name="from" min="0" max=from.newest value=from.snapshot/>
            </label>
            <label>"to "
                <input class="input" type="number" name="to" min="0" value=to.snapshot/>
            </label>
            <label>"in run "
                <input class="input" type="text" name="other" maxlength="128" placeholder="a fork or any run's id"
                    value=url.query.other.map(|it| it.to_string())/>
            </label>
            <label>"containing "
                <input id="search-changes" class="input" type="search" name="find" placeholder="text or path" value=url.find/>
            </label>
            <input type="hidden" name="view" value=view/>
            <button class="button" type="submit">"Compare"</button>
            {earlier}
            {later}
        </form>
    }
    .into_any()
}
