//! A run's history in one picture: bars for what happened, dots for what nobody held, words for what matters.
//!
//! The picture is drawn in percent of its width, so it is complete in the server's HTML and needs no measuring. Bars of
//! one look are one path: the number of elements follows the number of looks, not of steps.

mod controls;
mod picture;
mod pointer;

pub use controls::Go;

use leptos::{ev, prelude::*};

use self::{
    controls::Controls,
    picture::{Label, Picture},
    pointer::Pointer,
};
use crate::{
    components::time::Zone,
    domain::{
        Run,
        views::{
            timeline::{Axis, Bar, Look, Timeline, WIDTH},
            words,
        },
    },
};

#[component]
pub fn TimelineView(
    #[prop(into)] timeline: Signal<Option<Timeline>>,
    #[prop(into)] run: Signal<Option<Run>>,
    #[prop(into)] selected: Signal<Option<i64>>,
    /// The steps that the list shows.
    #[prop(into)]
    listed: Signal<Option<(i64, i64)>>,
    /// The address of each way to go.
    href: Callback<Go, String>,
    on_go: Callback<Go>,
) -> impl IntoView {
    let zone = Zone::of_reader();
    let picture = Memo::new(move |_| {
        timeline.with(|it| {
            let it = it.as_ref()?;
            Some(Picture::of(it, zone.offset(it.moment())))
        })
    });
    let pointed = RwSignal::new(None::<i64>);
    let brushed = RwSignal::new(None::<(f64, f64)>);
    let pointer = Pointer {
        timeline,
        selected,
        pointed,
        brushed,
        on_go,
    };
    let said = Memo::new(move |_| {
        let about = pointed.get().or(selected.get());
        timeline.with(|it| {
            let it = it.as_ref()?;
            let bar = bar_of(it, about?)?;
            Some(bar_in_words(bar, it.look(bar), about?))
        })
    });
    let pointed_words = move || pointed.get().and_then(|_| said.get());
    let lanes = Memo::new(move |_| timeline.with(|it| it.as_ref().map_or(1, |it| it.lanes)));
    let most = move || run.with(|run| run.as_ref().map_or(0, |run| run.steps));
    view! {
        <section class="timeline" aria-label="Timeline">
            <Controls timeline run selected pointed=Signal::derive(pointed_words) href/>
            <div class="timeline-picture">
                {move || picture.get().map(|picture| view! { <Drawing picture href on_go/> })}
                <svg class="timeline-over" width="100%" height="100%" aria-hidden="true">
                    {move || timeline.with(|it| frame_of(it.as_ref()?, listed.get()?))}
                    {move || brushed.get().map(|(from, to)| view! {
                        <rect class="brush" x=percent(from.min(to)) width=percent((to - from).abs()) y="16" height="34"/>
                    })}
                </svg>
                <div
                    class=move || format!("timeline-hand lanes-{}", lanes.get())
                    role="slider"
                    tabindex="0"
                    aria-label="Step on the timeline"
                    aria-valuemin="1"
                    aria-valuemax=move || most().max(1).to_string()
                    aria-valuenow=move || selected.get().unwrap_or(1).to_string()
                    aria-valuetext=move || said.get().unwrap_or_else(|| "no step".into())
                    on:pointerdown=move |event| pointer.down(&event)
                    on:pointermove=move |event| pointer.moved(&event)
                    on:pointerup=move |event| pointer.up(&event)
                    on:pointerleave=move |_| pointer.left()
                    on:wheel=move |event| pointer.wheel(&event)
                    on:keydown=move |event| pointer.key(&event)
                ></div>
            </div>
        </section>
    }
    .into_any()
}

/// The bar that holds the step `seq`.
fn bar_of(timeline: &Timeline, seq: i64) -> Option<&Bar> {
    let holds = |bar: &&Bar| (bar.first..=bar.last).contains(&seq);
    timeline.bars.iter().rev().find(holds)
}

fn bar_in_words(bar: &Bar, (look, ghost): (Look, bool), seq: i64) -> String {
    let look = match ghost && look != Look::Superseded {
        true => format!("{}, superseded", look.as_str()),
        false => look.as_str().to_owned(),
    };
    match &bar.name {
        Some(name) => {
            let took = words::span(bar.to.ms_since(bar.from));
            format!("{} · {name} · {look} · {took}", words::number(seq))
        }
        None if bar.count() == 1 => format!("{} · {look}", words::number(seq)),
        None => format!(
            "steps {}–{} · worst: {look}",
            words::number(bar.first),
            words::number(bar.last)
        ),
    }
}

/// What zooming keeps in the middle: the selected step if it is drawn, else the middle of the picture, which is never inside
/// a time that is left out.
fn middle_of(timeline: &Timeline, selected: Option<i64>) -> i64 {
    let step = selected.and_then(|seq| bar_of(timeline, seq));
    let stretch = step.map(|bar| bar.stretch(timeline.axis));
    match stretch {
        Some(it) => it.from + it.length() / 2,
        None => picture::scale(timeline).value(WIDTH / 2.0),
    }
}

/// A frame around the steps that the list shows.
fn frame_of(timeline: &Timeline, (first, last): (i64, i64)) -> Option<impl IntoView + use<>> {
    let scale = picture::scale(timeline);
    let stretch = |seq| bar_of(timeline, seq).map(|bar| bar.stretch(timeline.axis));
    let from = scale.x(stretch(first)?.from);
    let to = scale.x(stretch(last)?.to);
    Some(view! {
        <rect class="listed" x=percent(from) width=percent((to - from).max(30.0)) y="18" height="30" rx="4"/>
    })
}

/// Units of the width as an attribute.
fn percent(units: f64) -> String {
    format!("{:.2}%", units / 100.0)
}

/// A link of the picture leads within the page; the router looks at links of HTML alone.
fn stay(event: &ev::MouseEvent, seq: i64, on_go: Callback<Go>) {
    let elsewhere = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
    if event.button() == 0 && !elsewhere {
        event.prevent_default();
        on_go.run(Go::Step(seq));
    }
}

/// Links stand in a `g` each: an `a` that is not made inside an element of SVG is one of HTML, and has no size here.
#[component]
fn Drawing(picture: Picture, href: Callback<Go, String>, on_go: Callback<Go>) -> impl IntoView {
    let paths = picture.paths.into_iter().map(|(class, d)| {
        view! { <path class=class d=d/> }
    });
    let hatched = picture.crashed.into_iter().map(|it| {
        view! { <rect class=it.class("bar-hatched") x=percent(it.x) width=percent(it.width) y=it.y.to_string() height="22" rx="2"/> }
    });
    let dashed = picture.skipped.into_iter().map(|it| {
        view! { <rect class=it.class("bar-dashed") x=percent(it.x) width=percent(it.width) y=(it.y + 1.0).to_string() height="20" rx="2"/> }
    });
    let crosses = picture.crosses.into_iter().map(|it| {
        view! { <text class=it.class("bar-cross") x=percent(it.x) y=it.y.to_string() text-anchor="middle">"×"</text> }
    });
    let folds = picture.folds.into_iter().map(|fold| {
        view! {
            <g role="img" aria-label=fold.said.clone() class=fold.class>
                <title>{fold.said.clone()}</title>
                <rect x=percent(fold.x) width=percent(fold.width) y="18" height="30"/>
            </g>
        }
    });
    let gaps = picture.gaps.into_iter().map(|(x, width)| {
        view! { <rect class="gap" x=percent(x) width=percent(width) y="25" height="16"/> }
    });
    let phases = picture.phases.into_iter().map(|x| {
        view! { <line class="phase-line" x1=percent(x) x2=percent(x) y1="20" y2="62"/> }
    });
    let ticks = picture.ticks.into_iter().map(|(x, text)| {
        let y = picture.height - 6.0;
        view! { <text class="tick" x=percent(x) y=y.to_string()>{text}</text> }
    });
    let announced = picture.announced.into_iter().map(|(x, width)| {
        view! { <rect class="bar-announced" x=percent(x) width=percent(width) y="24" height="18" rx="3"/> }
    });
    let children = picture.children.into_iter().map(|child| {
        view! {
            <g>
                <a href=format!("/runs/{}", child.id) class="child" aria-label=format!("child run {}", child.title)>
                    <title>{child.title.clone()}</title>
                    <rect class=child.class x=percent(child.x) width=percent(child.width) y=child.y.to_string() height="8" rx="2"/>
                </a>
            </g>
        }
    });
    let now = picture
        .now
        .map(|x| view! { <line class="now-line" x1=percent(x) x2=percent(x) y1="14" y2="58"/> });
    let label = move |label: Label| {
        let said = label.said.clone().unwrap_or_else(|| label.text.clone());
        let text = view! {
            <text class=label.class x=percent(label.x) y=label.y.to_string() text-anchor=label.anchor>{label.text}</text>
        };
        match (label.step, label.said) {
            (Some(seq), _) => view! {
                <g>
                    <a class=label.class href=move || href.run(Go::Step(seq)) aria-label=said.clone() on:click=move |event| stay(&event, seq, on_go)>
                        <title>{said.clone()}</title>
                        {text}
                    </a>
                </g>
            }
            .into_any(),
            (None, Some(_)) => view! { <g role="img" aria-label=said.clone()><title>{said.clone()}</title>{text}</g> }.into_any(),
            (None, None) => text.into_any(),
        }
    };
    let height = picture.height.to_string();
    view! {
        <svg class="timeline-svg" width="100%" height=height.clone() role="group" aria-label="What happened, from left to right">
            <defs>
                <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <path class="hatch" d="M0 0V6M6 0V6"/>
                </pattern>
                <pattern id="dots" width="8" height="8" patternUnits="userSpaceOnUse">
                    <circle class="dots" cx="2" cy="4" r="0.9"/>
                </pattern>
            </defs>
            {gaps.collect_view()}
            {phases.collect_view()}
            <svg x="0" y="0" width="100%" height=height.clone() viewBox=format!("0 0 10000 {height}") preserveAspectRatio="none">
                {paths.collect_view()}
            </svg>
            {dashed.collect_view()}
            {hatched.collect_view()}
            {crosses.collect_view()}
            {folds.collect_view()}
            {announced.collect_view()}
            {children.collect_view()}
            {now}
            {ticks.collect_view()}
            {picture.labels.into_iter().map(label).collect_view()}
        </svg>
    }
    .into_any()
}

/// Step numbers are no moments.
fn is_time(axis: Axis) -> bool {
    axis == Axis::Time
}
