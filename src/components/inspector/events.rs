//! What happened to a step, as the store recorded it.

use leptos::prelude::*;

use crate::{
    components::time::At,
    domain::{Event, views::words},
};

/// Data shown of one event at most.
const DATA_MAX: usize = 2_000;

#[component]
pub fn Events(events: Vec<Event>) -> impl IntoView {
    if events.is_empty() {
        return view! { <p class="dim">"Its events are no longer kept."</p> }.into_any();
    }
    let row = |event: Event| {
        let data = event.data.to_string();
        let end = data.floor_char_boundary(DATA_MAX);
        view! {
            <tr role="row">
                <td class="cell-figure" role="cell">{words::number(event.id)}</td>
                <td class="cell-figure" role="cell"><At at=event.at/></td>
                <td role="cell">{event.kind.as_str()}</td>
                <td class="mono event-data" role="cell"><bdi>{data[..end].to_owned()}</bdi></td>
            </tr>
        }
    };
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label="Events">
            <table class="attempts events" role="table" aria-label="Events, oldest first">
                <thead role="rowgroup">
                    <tr role="row">
                        <th scope="col" role="columnheader">"Event"</th><th scope="col" role="columnheader">"At"</th>
                        <th scope="col" role="columnheader">"What"</th><th scope="col" role="columnheader">"Data"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{events.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
