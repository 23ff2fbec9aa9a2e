//! Moments and spans. The server knows neither the reader's "now" nor the reader's zone: it sends the moment in UTC,
//! and the browser says it in the reader's own words once the page is hydrated.

use leptos::prelude::*;

use super::{browser::every, preference, segments::Segments};
use crate::domain::{
    Time,
    views::{sheet::Usual, words},
};

/// The reader's "now": absent on the server and until the page is hydrated, then ticking. It stands still while the page hears
/// nothing: "heard 30 s ago" must not grow into a claim about a worker that may be well.
#[derive(Clone, Copy)]
pub struct Clock {
    now: RwSignal<Option<Time>>,
    stands: StoredValue<bool>,
}

impl Clock {
    pub fn provide() {
        let now = RwSignal::new(None);
        let stands = StoredValue::new(false);
        provide_context(Self { now, stands });
        Effect::new(move || {
            now.set(Some(Time::now()));
            let tick = move || {
                if !stands.get_value() {
                    now.set(Some(Time::now()));
                }
            };
            every(std::time::Duration::from_secs(1), tick);
        });
    }

    pub fn now() -> Signal<Option<Time>> {
        expect_context::<Self>().now.into()
    }

    /// Stops the clock while `lost` is true.
    pub fn stand_while(lost: impl Fn() -> bool + Send + Sync + 'static) {
        let Self { now, stands } = expect_context();
        Effect::new(move || {
            let lost = lost();
            stands.set_value(lost);
            if !lost && now.with_untracked(Option::is_some) {
                now.set(Some(Time::now()));
            }
        });
    }
}

/// Which zone moments are said in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneChoice {
    Local,
    Utc,
}

/// The reader's zone: UTC on the server and until the page is hydrated, then as chosen.
#[derive(Clone, Copy)]
pub struct Zone {
    chosen: RwSignal<ZoneChoice>,
    hydrated: RwSignal<bool>,
}

impl Zone {
    pub fn provide() {
        let zone = Self {
            chosen: RwSignal::new(ZoneChoice::Local),
            hydrated: RwSignal::new(false),
        };
        provide_context(zone);
        Effect::new(move || {
            if preference::read("zone").as_deref() == Some("utc") {
                zone.chosen.set(ZoneChoice::Utc);
            }
            zone.hydrated.set(true);
        });
    }

    pub fn of_reader() -> Self {
        expect_context()
    }

    /// Minutes east of UTC at this moment; summer time makes it depend on the moment.
    pub fn offset(self, at: Time) -> i32 {
        match (self.hydrated.get(), self.chosen.get()) {
            (true, ZoneChoice::Local) => at.local_offset(),
            _ => 0,
        }
    }

    fn choose(self, choice: ZoneChoice) {
        self.chosen.set(choice);
        preference::keep("zone", (choice == ZoneChoice::Utc).then_some("utc"));
    }
}

#[component]
pub fn ZoneSwitch() -> impl IntoView {
    let zone = Zone::of_reader();
    view! {
        <Segments
            label="Time zone"
            choices=vec![(ZoneChoice::Local, "Local"), (ZoneChoice::Utc, "UTC")]
            chosen=zone.chosen
            on_choose=move |choice| zone.choose(choice)
        />
    }
    .into_any()
}

/// A `<time>` that says `words` and, when pointed at, the moment in full.
#[component]
fn Said(at: Signal<Time>, words: Signal<String>) -> impl IntoView {
    let zone = Zone::of_reader();
    let in_full = move || words::moment_in_full_at(at.get(), zone.offset(at.get()));
    view! { <time datetime=move || at.get().to_string() title=in_full>{words}</time> }.into_any()
}

/// A time of day to the millisecond: "09:50:25.114".
#[component]
pub fn At(#[prop(into)] at: Signal<Time>) -> impl IntoView {
    let zone = Zone::of_reader();
    let words = Memo::new(move |_| words::time_of_day_at(at.get(), zone.offset(at.get())));
    view! { <Said at words=words.into()/> }.into_any()
}

/// A day and a time of day: "16 Nov 02:00".
#[component]
pub fn Moment(#[prop(into)] at: Signal<Time>) -> impl IntoView {
    let zone = Zone::of_reader();
    let words = Memo::new(move |_| words::moment_at(at.get(), zone.offset(at.get())));
    view! { <Said at words=words.into()/> }.into_any()
}

/// A moment that something has lasted since, for a page that was read at `now`: "09:50:25".
#[component]
pub fn Since(#[prop(into)] at: Signal<Time>, now: Time) -> impl IntoView {
    let zone = Zone::of_reader();
    let words = Memo::new(move |_| words::since_at(at.get(), now, zone.offset(at.get())));
    view! { <Said at words=words.into()/> }.into_any()
}

/// How long ago `at` was; the moment itself until there is a "now".
#[component]
pub fn Ago(#[prop(into)] at: Signal<Time>) -> impl IntoView {
    let now = Clock::now();
    let words = Memo::new(move |_| match now.get() {
        Some(now) => words::ago(now.ms_since(at.get())),
        None => words::moment(at.get()),
    });
    view! { <Said at words=words.into()/> }.into_any()
}

/// How long ago `at` was, within a sentence: "4 seconds ago".
#[component]
pub fn AgoInFull(#[prop(into)] at: Signal<Time>) -> impl IntoView {
    let now = Clock::now();
    let words = Memo::new(move |_| match now.get() {
        Some(now) => words::ago_in_full(now.ms_since(at.get())),
        None => format!("at {}", words::moment(at.get())),
    });
    view! { <Said at words=words.into()/> }.into_any()
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
            "usually {} (median of {} earlier steps in this run)",
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
