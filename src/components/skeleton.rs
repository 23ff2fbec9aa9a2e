//! What stands where rows will be, as high as they will be.

use leptos::prelude::*;

#[component]
pub fn Skeleton(#[prop(default = 4)] rows: u8) -> impl IntoView {
    let row = |_| view! { <div class="skeleton-row"></div> };
    view! {
        <div class="skeleton" role="status" aria-label="Loading">{(0..rows).map(row).collect_view()}</div>
    }
    .into_any()
}
