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
            <tr>
                <td class="cell-figure">{words::number(event.id)}</td>
                <td class="cell-figure"><At at=event.at/></td>
                <td>{event.kind.as_str()}</td>
                <td class="mono event-data"><bdi>{data[..end].to_owned()}</bdi></td>
            </tr>
        }
    };
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label="Events">
            <table class="attempts" aria-label="Events, oldest first">
                <thead>
                    <tr>
                        <th scope="col">"Event"</th><th scope="col">"At"</th>
                        <th scope="col">"What"</th><th scope="col">"Data"</th>
                    </tr>
                </thead>
                <tbody>{events.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
