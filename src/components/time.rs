//! Moments and spans. The server has no idea of the reader's "now": it sends the moment, the browser says how long ago.

use leptos::prelude::*;

use crate::domain::{Time, sheet::Usual, words};

/// The reader's "now": absent on the server and until the page is hydrated, then ticking.
#[derive(Clone, Copy)]
pub struct Clock(RwSignal<Option<Time>>);

impl Clock {
    pub fn provide() {
        let now = RwSignal::new(None);
        provide_context(Self(now));
        Effect::new(move || {
            now.set(Some(Time::now()));
            let tick = move || now.set(Some(Time::now()));
            let ticking = set_interval_with_handle(tick, std::time::Duration::from_secs(1));
            on_cleanup(move || {
                if let Ok(handle) = ticking {
                    handle.clear();
                }
            });
        });
    }

    fn now() -> Signal<Option<Time>> {
        expect_context::<Self>().0.into()
    }
}

/// How long ago `at` was.
#[component]
pub fn Ago(#[prop(into)] at: Signal<Time>) -> impl IntoView {
    let now = Clock::now();
    let text = Memo::new(move |_| match now.get() {
        Some(now) => words::ago(now.ms_since(at.get())),
        None => words::moment(at.get()),
    });
    view! {
        <time datetime=move || at.get().to_string() title=move || words::moment_in_full(at.get())>
            {text}
        </time>
    }
    .into_any()
}

/// What a span runs from, and to where: without an end it is still running, and `seen` is when it last moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    pub from: Time,
    pub to: Option<Time>,
    pub seen: Time,
}

/// How long something took, or has been taking until now.
#[component]
pub fn Elapsed(#[prop(into)] span: Signal<Option<Span>>) -> impl IntoView {
    let now = Clock::now();
    Memo::new(move |_| match span.get() {
        Some(Span { from, to, seen }) => {
            let to = to.or_else(|| now.get()).unwrap_or(seen);
            words::span(to.ms_since(from))
        }
        None => "—".into(),
    })
}

/// Says that something takes far longer than it usually does, and what "usually" is known from.
#[component]
pub fn Slow(#[prop(into)] usual: Signal<Option<Usual>>, span: Span) -> impl IntoView {
    let now = Clock::now();
    let said = Memo::new(move |_| {
        let usual = usual.get()?;
        let ms = now.get()?.ms_since(span.from);
        let basis = format!(
            "usually {} (median of {} before it in this run)",
            words::span(usual.median_ms),
            usual.of
        );
        usual.is_slow(ms).then_some(basis)
    });
    move || {
        said.get()
            .map(|basis| view! { <span class="tag tag-slow" title=basis.clone()>"slow"<span class="hidden">{format!(", {basis}")}</span></span> })
    }
}
