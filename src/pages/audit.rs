//! `/audit`: every decision, sign-in, change of access and refused attempt; filtered by the URL, exported as JSON
//! lines, and verified on demand.

use leptos::prelude::*;
use leptos_router::{components::Form, hooks::use_query_map, params::ParamsMap};
use serde_json::Value;

use super::{run::run_id, shell::Page};
use crate::{
    api,
    components::{
        copy_hash::CopyHash,
        notice::{Notice, Refused},
        page_title::PageTitle,
        skeleton::Skeleton,
        time::Moment,
        top_bar::{Here, Section},
    },
    domain::{
        nouns::audit::{AuditEntry, AuditKind, AuditPage as Entries, AuditQuery, AuditVerified},
        views::{audit_words, words},
    },
};

/// The query that an address stands for; what it cannot name is left out.
fn asked(params: &ParamsMap) -> AuditQuery {
    let text = |name| {
        params
            .get(name)
            .map(|it| it.trim().to_owned())
            .filter(|it| !it.is_empty())
    };
    AuditQuery {
        kind: text("kind").and_then(|it| it.parse().ok()),
        actor: text("actor"),
        action: text("action"),
        run: text("run").and_then(|it| run_id(&it).ok()),
        before: text("before").and_then(|it| it.parse().ok()),
    }
}

fn href(base: &str, query: &AuditQuery) -> String {
    let mut params = ParamsMap::new();
    let pairs = [
        ("kind", query.kind.map(|it| it.to_string())),
        ("actor", query.actor.clone()),
        ("action", query.action.clone()),
        ("run", query.run.as_ref().map(ToString::to_string)),
        ("before", query.before.map(|it| it.to_string())),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            params.insert(name, value);
        }
    }
    format!("{base}{}", params.to_query_string())
}

#[component]
pub fn AuditPage() -> impl IntoView {
    let params = use_query_map();
    let query = Memo::new(move |_| params.with(asked));
    let page = Resource::new_blocking(move || query.get(), api::audit::page);
    let verify = Action::new(|(): &()| api::audit::verify());
    let verified = verify.value();
    let ready = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    let export = move || {
        query.with(|query| {
            href(
                "/audit.jsonl",
                &AuditQuery {
                    before: None,
                    ..query.clone()
                },
            )
        })
    };
    let body = move || {
        Some(match page.get()? {
            Ok(entries) => shown(entries, &query.get()).into_any(),
            Err(error) => view! { <Refused error/> }.into_any(),
        })
    };
    view! {
        <PageTitle text="Audit · Step47"/>
        <Page here=Here::Section(Section::Audit)>
            <main id="main" class="main" tabindex="-1">
                <header class="page-head">
                    <h1>"Audit"</h1>
                    <p class="dim">"every decision, sign-in, change of access and refused attempt · each entry is chained to the one before it"</p>
                </header>
                <Filters query/>
                <div class="audit-filter">
                    <a class="button" href=export rel="external" download="audit.jsonl">"Export JSON lines"</a>
                    {move || ready.get().then(|| view! {
                        <button type="button" class="button" data-command="" disabled=move || verify.pending().get() on:click=move |_| { verify.dispatch(()); }>
                            {move || if verify.pending().get() { "Verifying…" } else { "Verify the chain" }}
                        </button>
                    })}
                    <div role="status">{move || verified.get().map(|answer| match answer {
                        Ok(found) => view! { <Verified found/> }.into_any(),
                        Err(error) => view! { <p class="tone-crashed">{error.0.detail}</p> }.into_any(),
                    })}</div>
                </div>
                <Transition fallback=|| view! { <Skeleton rows=8/> }>{body}</Transition>
            </main>
        </Page>
    }
    .into_any()
}

/// Says what the head is good for: to be compared with an exported one.
#[component]
fn Verified(found: AuditVerified) -> impl IntoView {
    let hash = found.head.to_string();
    let short: String = hash.chars().take(12).collect();
    match found.damaged {
        None => view! { <p class="tone-committed">"Verified to entry "{words::number(found.entry)}", head "<b class="mono">{short}"…"</b>" "<CopyHash hash/></p> }.into_any(),
        Some(entry) => view! { <p class="tone-crashed"><b>"Entry "{words::number(entry)}" does not match the entry before it."</b>" The chain holds to entry "{words::number(found.entry)}", head "<b class="mono">{short}"…"</b>" "<CopyHash hash/></p> }.into_any(),
    }
}

#[component]
fn Filters(query: Memo<AuditQuery>) -> impl IntoView {
    let first = query.get_untracked();
    let chosen = first.kind;
    let kinds = AuditKind::ALL.iter().map(move |kind| {
        let kind = *kind;
        let said = match kind {
            AuditKind::Decision => "decisions",
            AuditKind::Session => "sign-ins",
            AuditKind::Access => "people and tokens",
            AuditKind::Refused => "refused attempts",
        };
        view! { <option value=kind.as_str() selected=chosen == Some(kind) prop:selected=move || query.with(|it| it.kind == Some(kind))>{said}</option> }
    });
    let field = move |name: &'static str,
                      label: &'static str,
                      value: Option<String>,
                      now: fn(&AuditQuery) -> Option<String>| {
        view! {
            <label class="field">{label}
                <input type="search" class="input" name=name autocomplete="off" value=value.unwrap_or_default()
                    prop:value=move || query.with(now).unwrap_or_default()/>
            </label>
        }
    };
    view! {
        <Form method="GET" action="/audit" attr:class="audit-filter" attr:role="search">
            <label class="field">"What"
                <select class="select" name="kind">
                    <option value="">"everything"</option>
                    {kinds.collect_view()}
                </select>
            </label>
            {field("actor", "Who", first.actor.clone(), |it| it.actor.clone())}
            {field("action", "Action", first.action.clone(), |it| it.action.clone())}
            {field("run", "Run", first.run.as_ref().map(ToString::to_string), |it| it.run.as_ref().map(ToString::to_string))}
            <button type="submit" class="button">"Filter"</button>
            <a class="button quiet" href="/audit">"Clear"</a>
        </Form>
    }
    .into_any()
}

fn shown(page: Entries, query: &AuditQuery) -> impl IntoView {
    if page.entries.is_empty() {
        return view! {
            <Notice title="No matching entries">
                <p>"What people do here is written down the moment they do it."</p>
                <p><a class="button" href="/audit">"Show everything"</a></p>
            </Notice>
        }
        .into_any();
    }
    let older = page.next.map(|before| {
        href(
            "/audit",
            &AuditQuery {
                before: Some(before),
                ..query.clone()
            },
        )
    });
    let newest = query.before.is_some().then(|| {
        href(
            "/audit",
            &AuditQuery {
                before: None,
                ..query.clone()
            },
        )
    });
    view! {
        <table class="table audit" aria-label="Audit log">
            <thead><tr><th scope="col">"When"</th><th scope="col">"Who"</th><th scope="col">"What"</th><th scope="col">"Run"</th><th scope="col">"Reason"</th></tr></thead>
            <tbody>{page.entries.into_iter().map(row).collect_view()}</tbody>
        </table>
        <nav class="pager" aria-label="Pages of the log">
            {newest.map(|href| view! { <a class="button" href=href>"Newest"</a> })}
            {older.map(|href| view! { <a class="button" href=href rel="next">"Older"</a> })}
        </nav>
    }
    .into_any()
}

fn row(entry: AuditEntry) -> impl IntoView {
    let what = entry.action.replace('_', " ");
    let refused = entry.kind == AuditKind::Refused;
    let why = entry
        .detail
        .get("why")
        .or(entry.detail.get("detail"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    // A name may stand for a person and for a token; the role is the one that it had then.
    let who = &entry.detail["who"];
    let kind = who["kind"].as_str();
    let kind = kind.filter(|it| *it != "person" && *it != entry.actor);
    let caller: Vec<_> = kind.into_iter().chain(who["role"].as_str()).collect();
    let caller = (!caller.is_empty()).then(|| format!(" ({})", caller.join(", ")));
    // Several tokens may have one name: the id, as Settings list it, says which one it was.
    let token = who["token"].as_str();
    let token = token.map(|id| view! { <p class="dim mono">{id.to_owned()}</p> });
    let said = audit_words::said(&entry);
    let peer = entry.detail["peer"].as_str();
    let peer = peer.map(|peer| view! { <p class="dim">"from " <bdi>{peer.to_owned()}</bdi></p> });
    let repeated = entry.detail["repeated"].as_i64();
    let repeated = repeated.map(|n| format!(" × {} more", words::number(n)));
    let run = entry.run.map(|run| {
        let href = match entry.step {
            Some(step) => format!("/runs/{run}?step={step}"),
            None => format!("/runs/{run}"),
        };
        let step = entry.step.map(|step| format!(" step {step}"));
        view! { <a class="link mono" href=href>{run.short().to_owned()}</a>{step} }
    });
    view! {
        <tr>
            <td class="cell-when"><Moment at=entry.at/></td>
            <td><b><bdi>{entry.actor}</bdi></b>{caller}{token}{peer}</td>
            <td>
                {refused.then(|| view! { <span class="tone-crashed">"refused: "</span> })}<bdi>{what}</bdi>{repeated}
                {why.filter(|_| refused).map(|why| view! { <p class="dim"><bdi>{why}</bdi></p> })}
                {said.into_iter().map(|said| view! { <p class="audit-said"><bdi>{said}</bdi></p> }).collect_view()}
            </td>
            <td>{run}</td>
            <td><bdi>{entry.reason}</bdi></td>
        </tr>
    }
}
