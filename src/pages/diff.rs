//! `/runs/:id/diff`: any two states of a run, or one of it and one of another, beside each other.

mod keys;
mod place;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::{
    keys::DiffKeys,
    place::{Place, View},
};
use super::{look::look, run::run_id, shell::Page};
use crate::{
    api::{self, AppError},
    components::{
        diff_view::{DiffRows, SideWords},
        excerpt::ExcerptBlock,
        frame::{Crumb, Here},
        notice::Refused,
        page_title::PageTitle,
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

async fn read(id: String, place: Place) -> Answer {
    let run = run_id(&id)?;
    let after = place.after.unwrap_or(0);
    let sheet = api::diffs::read(run.clone(), place.query.clone(), after, place.find).await?;
    let raw = match place.view {
        View::Raw => Some(api::diffs::raw(run, place.query).await?),
        View::Tree | View::Side => None,
    };
    Ok((sheet, raw))
}

#[component]
pub fn DiffPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|it| it.get("id").unwrap_or_default()));
    let place = Memo::new(move |_| query.with(Place::of));
    let answer = Resource::new_blocking(
        move || (id.get(), place.get()),
        |(id, place)| read(id, place),
    );
    let crumbs = Signal::derive(move || Crumb::to_run(None, &id.get(), Some("Diff")));
    view! {
        <Page here=Here::BelowRuns crumbs>
            <main id="main" class="diff-page" tabindex="-1">
                <Transition fallback=|| view! { <p class="loading" role="status">"Reading…"</p> }>
                    <Shown answer place/>
                </Transition>
            </main>
        </Page>
    }
    .into_any()
}

/// Below `Transition`, where resources may be read.
#[component]
fn Shown(answer: Resource<Answer>, place: Memo<Place>) -> impl IntoView {
    move || {
        answer.get().map(|answer| match answer {
            Ok((sheet, raw)) => {
                let place = place.get_untracked();
                view! { <Compared sheet raw place/> }.into_any()
            }
            Err(error) => view! { <PageTitle text="Diff · Step47"/><Refused error/> }.into_any(),
        })
    }
}

#[component]
fn Compared(sheet: DiffSheet, raw: Option<Excerpt>, place: Place) -> impl IntoView {
    let run = sheet.from.run.clone();
    let place = Place {
        query: crate::domain::views::diff_sheet::DiffQuery {
            from: Some(sheet.from.snapshot),
            to: Some(sheet.to.snapshot),
            other: place.query.other,
        },
        ..place
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
        let href = place.with_after(Some(after)).href(&run);
        view! { <a class="button" href=href rel="next">"Further changes"</a> }
    });
    let back = (place.after.unwrap_or(0) > 0).then(|| {
        let href = place.with_after(None).href(&run);
        view! { <a class="button" href=href>"First changes"</a> }
    });
    let body = match (place.view, raw) {
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
        <Choose run=run.clone() place=place.clone() from to/>
        <section class="diff-box" aria-label="Changes">
            <header class="diff-head">
                <p class="diff-totals">
                    <span class="tone-committed">{format!("+{}", words::number(totals.added))}</span>" "
                    <span class="tone-failed">{format!("−{}", words::number(totals.removed))}</span>
                    <span class="dim">{moved}</span>
                </p>
                <p class="dim diff-hint"><kbd>"["</kbd>" "<kbd>"]"</kbd>" previous, next change"</p>
                <Views run=run.clone() place/>
            </header>
            {body}
        </section>
        <nav class="pager" aria-label="Pages of changes">{back}{next}</nav>
    }
    .into_any()
}

#[component]
fn Views(run: RunId, place: Place) -> impl IntoView {
    let link = move |(view, name): (View, &'static str)| {
        let here = (place.view == view).then_some("true");
        let to = Place {
            view,
            ..place.clone()
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
fn Choose(run: RunId, place: Place, from: Side, to: Side) -> impl IntoView {
    let earlier = Place::between(from.snapshot - 1, from.snapshot);
    let later = Place::between(to.snapshot, to.snapshot + 1);
    let same = from.run == to.run;
    let earlier = (same && from.snapshot > 0).then(|| {
        view! { <a class="button" href=earlier.href(&run)>"Change before"</a> }
    });
    let later = (same && to.snapshot < to.newest).then(|| {
        view! { <a class="button" href=later.href(&run)>"Change after"</a> }
    });
    let view = place.view.as_str();
    view! {
        <form class="diff-choose" method="get" action=format!("/runs/{run}/diff")>
            <label>"from snapshot "
                <input class="input" type="number" name="from" min="0" max=from.newest value=from.snapshot/>
            </label>
            <label>"to "
                <input class="input" type="number" name="to" min="0" value=to.snapshot/>
            </label>
            <label>"of another run "
                <input class="input" type="text" name="other" maxlength="128" placeholder="a fork or any run's id"
                    value=place.query.other.map(|it| it.to_string())/>
            </label>
            <label>"holding "
                <input id="search-changes" class="input" type="search" name="find" placeholder="text or path" value=place.find/>
            </label>
            <input type="hidden" name="view" value=view/>
            <button class="button" type="submit">"Compare"</button>
            {earlier}
            {later}
        </form>
    }
    .into_any()
}
