//! Workers as rows: what each holds, whether it waits for work, and what was last refused to it.

use leptos::prelude::*;

use super::{
    glyph::{Glyph, Shape},
    time::{Ago, At, Moment, Since},
    top_bar::{runs_by, runs_of},
};
use crate::domain::{
    Time,
    nouns::worker::{Asks, Doing, Hold, RefusedWrite, Worker},
    views::words,
};

#[component]
pub fn WorkersTable(
    workers: Vec<Worker>,
    /// The store's clock when they were read.
    now: Time,
) -> impl IntoView {
    let rows = workers
        .into_iter()
        .map(|worker| view! { <WorkerRow worker now/> });
    view! {
        <table class="table workers" role="table" aria-label="Workers">
            <thead role="rowgroup">
                <tr role="row">
                    <th scope="col" role="columnheader" class="col-glyph"><span class="hidden">"Status"</span></th>
                    <th scope="col" role="columnheader" class="col-worker">"Worker"</th>
                    <th scope="col" role="columnheader" class="col-agents">"Agents"</th>
                    <th scope="col" role="columnheader">"Holds"</th>
                    <th scope="col" role="columnheader" class="col-refused">"Last refused write"</th>
                    <th scope="col" role="columnheader" class="col-heard">"Heard"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

#[component]
fn WorkerRow(worker: Worker, now: Time) -> impl IntoView {
    let doing = worker.doing(now);
    let (shape, label) = match doing {
        Doing::Works => (Shape::Running, "Working on runs"),
        Doing::Waits => (Shape::Pending, "Polling for work"),
        Doing::Idle => (Shape::Pending, "Idle"),
        Doing::Silent => (Shape::Cancelled, "Not heard from lately"),
    };
    let runs = runs_by(&worker.name);
    let code = [worker.version, worker.model].into_iter().flatten();
    let agents = worker.agents.into_iter().map(|agent| {
        let href = runs_of(&agent);
        view! { <li><a href=href><bdi>{agent}</bdi></a></li> }
    });
    let holds = worker
        .holds
        .into_iter()
        .map(|hold| view! { <HoldItem hold/> });
    let more = (worker.holds_more > 0).then(
        || view! { <li class="dim">{format!("and {} more", words::number(worker.holds_more))}</li> },
    );
    let idle = match (doing, worker.asks) {
        (Doing::Works, _) => None,
        (Doing::Waits, Some(asks)) => Some(view! { <Waiting asks/> }.into_any()),
        (Doing::Waits | Doing::Idle, _) => {
            Some(view! { <p class="dim">"Idle, not polling"</p> }.into_any())
        }
        (Doing::Silent, _) => {
            let (name, at) = (worker.name.clone(), worker.heard_at);
            let since = format!(" {} ", words::NOT_HEARD_SINCE);
            Some(view! { <p class="dim"><bdi>{name}</bdi>{since}<Since at now/></p> }.into_any())
        }
    };
    view! {
        <tr class="worker-row" role="row">
            <td class="cell-glyph" role="cell"><Glyph shape label=label.to_owned()/></td>
            <td class="cell-worker" role="cell">
                <a class="hold-run mono" href=runs data-row=""><b><bdi>{worker.name}</bdi></b></a>
                <span class="under">{code.map(|it| view! { <bdi>{it}</bdi> }).collect_view()}</span>
            </td>
            <td class="cell-agents" role="cell"><ul>{agents.collect_view()}</ul></td>
            <td class="cell-holds" role="cell"><ul>{holds.collect_view()}{more}</ul>{idle}</td>
            <td class="cell-refused" role="cell">{worker.refused.map(|refused| view! { <Refusal refused/> })}</td>
            <td class="cell-figure cell-heard" role="cell"><Ago at=worker.heard_at/></td>
        </tr>
    }
    .into_any()
}

#[component]
fn HoldItem(hold: Hold) -> impl IntoView {
    let href = format!("/runs/{}", hold.run);
    let title = hold.title.unwrap_or(hold.agent);
    let at = hold
        .at
        .map(|at| format!("{} · {}", words::number(at.seq), at.name));
    view! {
        <li>
            <a class="hold-run" href=href data-row=""><bdi>{title}</bdi></a>
            {at.map(|at| view! { " "<bdi class="dim">{at}</bdi> })}
            <span class="under">
                <span>{format!("epoch {}", hold.epoch.0)}</span>
                {hold.heartbeat_at.map(|at| view! { <span>"heartbeat " <Ago at/></span> })}
                <span>"lease until " <At at=hold.expires_at/></span>
            </span>
        </li>
    }
    .into_any()
}

#[component]
fn Waiting(asks: Asks) -> impl IntoView {
    let what = match asks.agents.is_empty() {
        true => "any agent".to_owned(),
        false => asks.agents.join(", "),
    };
    view! {
        <p>"Idle, polling for work"</p>
        <p class="under"><span>"for " <bdi>{what}</bdi></span><span>"Idle since " <Moment at=asks.since/></span></p>
    }
    .into_any()
}

#[component]
fn Refusal(refused: RefusedWrite) -> impl IntoView {
    let href = format!("/runs/{}", refused.run);
    let short = refused.run.short().to_owned();
    view! {
        <p><bdi>{refused.what}</bdi>": "<b class="tone-failed">{refused.code.as_str()}</b></p>
        <p class="under">
            <span>"run " <a class="mono" href=href>{short}</a></span>
            <span><Ago at=refused.at/></span>
        </p>
        <p class="under refused-why">{refused.detail}</p>
    }
    .into_any()
}
