//! A run's steps as a table that shows only the rows in view, however many there are. Rows have one height, so that a
//! place in the list is a number; what is above and below is empty room of the right size.

mod rows;

use leptos::{ev, html, prelude::*, wasm_bindgen::JsCast as _, web_sys};
use std::collections::HashMap;

use self::rows::RowView;
use super::{
    browser::OrSay as _,
    connected::when_connected,
    focus::{focus_in_place, focused},
};
use crate::domain::{
    Step,
    views::{
        outline::{Outline, PAGE, Row},
        sheet::Usual,
    },
};

/// The height of every row until one can be measured; on a phone they are higher.
const ROW: f64 = 29.0;
/// The head of the table covers the top of what is in view.
const HEAD: f64 = 28.0;
/// Rows kept ready above and below what is in view.
const SPARE: i64 = 8;
/// Pixels that a list moves up by when a reader scrolls it; less is rounding.
const UP: i32 = 4;

/// What a row needs to know beside its step.
#[derive(Clone, Copy)]
pub struct RowContext {
    pub outline: RwSignal<Outline>,
    pub steps: RwSignal<HashMap<i64, Step>>,
    pub selected: Signal<Option<i64>>,
    /// The address that selects a step.
    pub href: Callback<i64, String>,
    /// How long the step that is under way usually takes.
    pub usual: Signal<Option<(i64, Usual)>>,
}

#[component]
pub fn StepList(
    context: RowContext,
    /// The first row that the server rendered.
    base: i64,
    /// The address of the list from another row on, for pages that cannot scroll by themselves.
    page_href: Callback<i64, String>,
    /// Rows came into view: the first one and how many.
    on_view: Callback<(i64, i64)>,
    /// The reader scrolled up.
    on_up: Callback<()>,
    /// Brings this step into view, first of all and when it changes.
    #[prop(into)]
    reveal: Signal<Option<i64>>,
) -> impl IntoView {
    let outline = context.outline;
    let window = RwSignal::new((base, PAGE));
    // In the browser the list scrolls by itself.
    let scrolls = RwSignal::new(false);
    let place = NodeRef::<html::Div>::new();
    let (above, below) = (NodeRef::<html::Tr>::new(), NodeRef::<html::Tr>::new());
    let length = Memo::new(move |_| outline.with(Outline::len));

    let row = StoredValue::new(ROW);
    // The height that the room below the last row was measured for.
    let high = StoredValue::new(0);
    let look = move || {
        let Some(element) = place.try_get_untracked().flatten() else {
            return;
        };
        let Some(row) = row.try_get_value() else {
            return;
        };
        if scrolls.get_untracked() && high.get_value() != element.client_height() {
            high.set_value(element.client_height());
            end_in_whole_rows(&element, row);
            begin_with_whole_row(&element, row);
        }
        let first = (f64::from(element.scroll_top()) / row) as i64;
        let shown = (f64::from(element.client_height()) - HEAD) / row;
        let base = (first - SPARE).max(0);
        let seen = (base, first - base + shown.ceil() as i64 + SPARE);
        if window.get_untracked() != seen {
            window.set(seen);
        }
        on_view.run((first, shown as i64));
    };
    Effect::new(move || {
        let Some(element) = place.get() else { return };
        if scrolls.get_untracked() {
            return;
        }
        when_connected(element, move |element| {
            row.set_value(measured(&element));
            scrolls.set(true);
            room(above, base, row.get_value());
            room(below, length.get_untracked() - base - PAGE, row.get_value());
            high.set_value(element.client_height());
            end_in_whole_rows(&element, row.get_value());
            element.set_scroll_top((base as f64 * row.get_value()) as i32);
            look();
        });
    });
    Effect::new(move || {
        if scrolls.get() {
            let (base, many) = window.get();
            room(above, base, row.get_value());
            room(below, length.get() - base - many, row.get_value());
        }
    });
    // Unfolded rows may not be read yet. The list is measured when all rows are in their places.
    Effect::new(move || {
        length.track();
        if scrolls.get() {
            request_animation_frame(look);
        }
    });
    // What stands above the list may grow or shrink with the run, and the window with the reader.
    Effect::new(move || {
        let resized = window_event_listener(ev::resize, move |_| look());
        on_cleanup(move || resized.remove());
    });
    // How far down the list was when it, or the reader, last moved down.
    let down_to = StoredValue::new(0);
    let scrolled = move || {
        if let Some(top) = place.get_untracked().map(|it| it.scroll_top()) {
            if top < down_to.get_value() - UP {
                on_up.run(());
            }
            down_to.set_value(top);
        }
        look();
    };
    Effect::new(move |before: Option<Option<i64>>| {
        // Nothing can be brought into view before the list has its size.
        if !scrolls.get() {
            return None;
        }
        let wanted = reveal.get();
        if let Some(seq) = wanted
            && before.flatten() != wanted
            && let Some(element) = place.get_untracked()
        {
            if outline.with_untracked(|it| !matches!(it.row(it.index_of(seq)), Some(Row::Step(_))))
            {
                outline.update(|it| it.reveal(seq));
            }
            let index = outline.with_untracked(|it| it.index_of(seq));
            request_animation_frame(move || {
                // The focus goes along if it was on a step.
                let along = focused().is_some_and(|it| element.contains(Some(it.as_ref())));
                bring(&element, index, row.try_get_value().unwrap_or(ROW));
                down_to.try_set_value(element.scroll_top());
                look();
                if along {
                    request_animation_frame(move || focus_selected(&element));
                }
            });
        }
        wanted
    });

    let rows = move || {
        let (base, many) = window.get();
        outline.with(|it| it.rows(base, many).zip(base + 2..).collect::<Vec<_>>())
    };
    let pages = move || {
        let (base, many) = window.get();
        (!scrolls.get()).then(|| {
            let earlier = (base > 0).then(|| page_href.run((base - PAGE).max(0)));
            let later = (base + many < length.get()).then(|| page_href.run(base + many));
            view! {
                <nav class="more-steps" aria-label="Pages of steps">
                    {earlier.map(|href| view! { <a href=href rel="prev">"↑ Earlier steps"</a> })}
                    {later.map(|href| view! { <a href=href rel="next">"↓ Later steps"</a> })}
                </nav>
            }
        })
    };
    view! {
        <div class="steps-scroll" node_ref=place on:scroll=move |_| scrolled() tabindex="-1">
            <table class="steps" aria-label="Steps" aria-rowcount=move || (length.get() + 1).to_string()>
                <Heads/>
                <tbody>
                    <tr class="room" aria-hidden="true" node_ref=above></tr>
                    <For each=rows key=|(row, _)| *row let((row, index))>
                        <RowView row index context/>
                    </For>
                    <tr class="room" aria-hidden="true" node_ref=below></tr>
                </tbody>
            </table>
        </div>
        {pages}
    }
    .into_any()
}

/// These steps alone, for what was found.
#[component]
pub fn StepTable(
    steps: HashMap<i64, Step>,
    selected: Signal<Option<i64>>,
    href: Callback<i64, String>,
    usual: Signal<Option<(i64, Usual)>>,
) -> impl IntoView {
    let mut seqs: Vec<i64> = steps.keys().copied().collect();
    seqs.sort_unstable();
    let context = RowContext {
        outline: RwSignal::new(Outline::default()),
        steps: RwSignal::new(steps),
        selected,
        href,
        usual,
    };
    let rows = seqs.into_iter().zip(2..).map(|(seq, index)| {
        view! { <RowView row=Row::Step(seq) index context/> }
    });
    view! {
        <div class="steps-scroll">
            <table class="steps" aria-label="Steps found"><Heads/><tbody>{rows.collect_view()}</tbody></table>
        </div>
    }
    .into_any()
}

#[component]
fn Heads() -> impl IntoView {
    view! {
        <thead>
            <tr aria-rowindex="1">
                <th scope="col" class="col-seq">"#"</th>
                <th scope="col" class="col-mark"><span class="hidden">"Status"</span></th>
                <th scope="col" class="col-step">"Step"</th>
                <th scope="col" class="col-duration">"Duration"</th>
                <th scope="col" class="col-usd">"Cost"</th>
                <th scope="col" class="col-change"><abbr title="by how many bytes the state grew">"State Δ"</abbr></th>
            </tr>
        </thead>
    }
    .into_any()
}

/// The height of a row as it is drawn.
fn measured(list: &web_sys::HtmlDivElement) -> f64 {
    let row = list
        .query_selector(".step-row")
        .or_say("look for a row")
        .flatten();
    let height = row.map_or(0.0, |row| row.get_bounding_client_rect().height());
    if height > 0.0 { height } else { ROW }
}

/// Leaves room for this many rows.
fn room(element: NodeRef<html::Tr>, rows: i64, row: f64) {
    if let Some(element) = element.get_untracked() {
        let height = format!("{}px", rows.max(0) as f64 * row);
        web_sys::HtmlElement::style(&element)
            .set_property("height", &height)
            .or_say("leave room for rows");
    }
}

/// Leaves as much empty room below the last row as lets the end of the list, too, begin with a whole row.
fn end_in_whole_rows(list: &web_sys::HtmlDivElement, row: f64) {
    let rest = (f64::from(list.client_height()) - HEAD).rem_euclid(row);
    web_sys::HtmlElement::style(list)
        .set_property("padding-bottom", &format!("{rest}px"))
        .or_say("leave room below the rows");
}

/// Scrolls down to the next whole row, so that the table's head cuts none in half.
fn begin_with_whole_row(list: &web_sys::HtmlDivElement, row: f64) {
    let top = f64::from(list.scroll_top());
    list.set_scroll_top(((top / row).ceil() * row) as i32);
}

fn focus_selected(list: &web_sys::HtmlDivElement) {
    let link = list
        .query_selector("a[aria-current]")
        .or_say("look for the selected step")
        .flatten();
    if let Some(link) = link.and_then(|it| it.dyn_into().ok()) {
        focus_in_place(&link);
    }
}

/// Scrolls as little as brings the row at `index` into view.
fn bring(element: &web_sys::HtmlDivElement, index: i64, row: f64) {
    // A row that begins under the head of the table cannot be read: the list moves by whole rows.
    let whole = |top: f64| ((top / row).ceil() * row).max(0.0) as i32;
    let top = index as f64 * row;
    let seen = f64::from(element.scroll_top());
    let height = f64::from(element.client_height()) - HEAD;
    if top < seen + row {
        element.set_scroll_top(whole(top - 3.0 * row));
    } else if top > seen + height - 2.0 * row {
        element.set_scroll_top(whole(top - height + 4.0 * row));
    }
}
