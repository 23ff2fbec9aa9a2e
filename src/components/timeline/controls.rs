//! What stands above the picture: the axis, what is seen in words, and the ways to go, each one a link.

use leptos::prelude::*;

use crate::{
    components::time::Zone,
    domain::{
        Run, Time,
        views::{
            tally,
            timeline::{Axis, Stretch, Timeline},
            words,
        },
    },
};

/// A way to go from what the timeline shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Go {
    Axis(Axis),
    /// All of it if absent.
    Window(Option<Stretch>),
    /// With long idle times left out, or not.
    Fold(bool),
    Step(i64),
}

const ZOOM: f64 = 0.5;

#[component]
pub fn Controls(
    timeline: Signal<Option<Timeline>>,
    run: Signal<Option<Run>>,
    selected: Signal<Option<i64>>,
    /// What the pointer is at, in words.
    pointed: Signal<Option<String>>,
    href: Callback<Go, String>,
) -> impl IntoView {
    let axis = Memo::new(move |_| timeline.with(|it| it.as_ref().map_or(Axis::Time, |it| it.axis)));
    let segment = move |which: Axis, name: &'static str| {
        view! {
            <a
                class="segment"
                href=move || href.run(Go::Axis(which))
                aria-current=move || (axis.get() == which).then_some("true")
            >{name}</a>
        }
    };
    let zone = Zone::of_reader();
    let seen = move || {
        pointed.get().or_else(|| {
            timeline.with(|it| {
                run.with(|run| {
                    let it = it.as_ref()?;
                    Some(in_words(it, run.as_ref()?, zone.offset(it.moment())))
                })
            })
        })
    };
    let ways = Memo::new(move |_| {
        timeline.with(|it| {
            let it = it.as_ref()?;
            let middle = super::middle_of(it, selected.get());
            Some(Ways {
                idle: (it.idle > 0).then_some(it.folds.is_empty()),
                fit: it.window != it.whole,
                nearer: it.window.centred(ZOOM, middle, it.whole),
                farther: it.window.centred(1.0 / ZOOM, middle, it.whole),
            })
        })
    });
    let idle = move |hide: bool| {
        let text = if hide { "hide idle" } else { "show idle" };
        view! { <a href=href.run(Go::Fold(hide))>{text}</a> }
    };
    view! {
        <div class="timeline-controls">
            <div class="segments" role="group" aria-label="Axis">
                {segment(Axis::Time, "Time")}{segment(Axis::Steps, "Steps")}
            </div>
            <p class="timeline-words"><bdi>{seen}</bdi></p>
            <nav class="timeline-ways" aria-label="Timeline">
                {move || ways.get().map(|ways| view! {
                    {ways.idle.map(idle)}
                    {ways.fit.then(|| view! { <a href=href.run(Go::Window(None))>"fit"</a> })}
                    <span class="zoom">
                        <a href=href.run(Go::Window(Some(ways.farther))) aria-label="Zoom out">"−"</a>
                        " zoom "
                        <a href=href.run(Go::Window(Some(ways.nearer))) aria-label="Zoom in">"+"</a>
                    </span>
                })}
            </nav>
        </div>
    }
    .into_any()
}

#[derive(Debug, Clone, PartialEq)]
struct Ways {
    /// There is idle time; true if the way is to hide it.
    idle: Option<bool>,
    fit: bool,
    nearer: Stretch,
    farther: Stretch,
}

/// "09:14:02 → 09:50:55 · 46 committed, 1 crashed, 5 announced"
fn in_words(timeline: &Timeline, run: &Run, offset: i32) -> String {
    let Stretch { from, to } = timeline.window;
    let range = match timeline.axis {
        Axis::Time => format!(
            "{} → {}",
            words::time_to_the_second_at(Time(from), offset),
            words::time_to_the_second_at(Time(to), offset)
        ),
        Axis::Steps if run.steps == 0 => "no steps yet".into(),
        Axis::Steps => format!("steps {}–{}", words::number(from), words::number(to - 1)),
    };
    let mut parts = vec![format!("{} committed", words::number(run.committed))];
    parts.extend(tally::others(run, None));
    if run.announced > 0 {
        parts.push(format!("{} announced", words::count(run.announced)));
    }
    if timeline.crowded > 0 {
        parts.push(format!("+{} in parallel", timeline.crowded));
    }
    if timeline.cut {
        parts.push("zoom in to see every problem".into());
    }
    format!("{range} · {}", parts.join(", "))
}
