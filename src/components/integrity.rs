//! Where the chain of events stands: a head that can be compared with an exported one. It claims no more.

use leptos::prelude::*;

use super::copy_hash::CopyHash;
use crate::domain::{nouns::access::Integrity, views::words};

#[component]
pub fn IntegrityFacts(integrity: Integrity) -> impl IntoView {
    let head = integrity.head.to_string();
    let audit = integrity.audit.head.to_string();
    let short = |head: &str| head.chars().take(8).collect::<String>();
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
                    <p>"Head " <span class="mono">{short(&head)}"…"</span> " at event " {words::number(integrity.event)}" "<CopyHash hash=head.clone()/></p>
                    <p class="mono dim head-hash">{head}</p>
                    <p class="dim">"Every event is chained to the one before it. Note this head down elsewhere, or compare it with one you noted or exported earlier: below."</p>
                </dd>
            </div>
            <div>
                <dt>"Audit trail"</dt>
                <dd>
                    <p>"Head " <span class="mono">{short(&audit)}"…"</span> " at entry " {words::number(integrity.audit.entry)}" "<CopyHash hash=audit.clone()/></p>
                    <p class="mono dim head-hash">{audit}</p>
                    <p class="dim">"Note it down elsewhere: it is the only way to notice entries that were cut off later."</p>
                </dd>
            </div>
        </dl>
    }
    .into_any()
}
