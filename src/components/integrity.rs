//! Where the chain of events stands: a head that can be compared with an exported one. It claims no more.

use leptos::prelude::*;

use crate::domain::{nouns::access::Integrity, views::words};

#[component]
pub fn IntegrityFacts(integrity: Integrity) -> impl IntoView {
    let head = integrity.head.to_string();
    let short: String = head.chars().take(8).collect();
    let engine = match integrity.engine.as_str() {
        "sqlite" => "SQLite, embedded".to_owned(),
        "postgres" => "PostgreSQL".to_owned(),
        other => other.to_owned(),
    };
    view! {
        <dl class="choices">
            <div><dt>"Store"</dt><dd>{engine}", schema "{integrity.schema}</dd></div>
            <div>
                <dt>"Events"</dt>
                <dd>
                    <p>"Head " <span class="mono">{short}"…"</span> " at event " {words::number(integrity.event)}</p>
                    <p class="mono dim head-hash">{head}</p>
                    <p class="dim">"Every event is chained to the one before it. Compare this head with one you noted earlier or exported."</p>
                </dd>
            </div>
        </dl>
    }
    .into_any()
}
