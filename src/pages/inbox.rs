//! `/inbox`: every question that waits for a person, oldest first. A question that is answered elsewhere says so where
//! it stands, and new ones come at the end: nothing moves while someone types.

use std::collections::BTreeSet;

use leptos::{ev, prelude::*, task::spawn_local, wasm_bindgen::JsCast as _, web_sys::Element};
use leptos_router::{hooks::use_query_map, params::ParamsMap};

use super::{
    deciding::Deciding,
    shell::{Page, Shell},
};
use crate::{
    api::{self, AppError},
    components::{
        answer::Answer,
        browser::OrSay as _,
        changes::Changes,
        excerpt::ExcerptBlock,
        glyph::{Glyph, Shape},
        keyboard, next_field,
        notice::{Notice, Refused},
        page_title::PageTitle,
        refusal::Refusal,
        time::Ago,
        top_bar::{Here, Section},
        who_first::{First, WhoFirst},
    },
    domain::{
        Action, AsOf, RunId,
        diff::Change,
        views::{
            inbox::{InboxItem, InboxPage as Questions, settled_by},
            sheet::Excerpt,
            words,
        },
    },
    live::{Connection, Follow, Live, Message, Throttle},
};

type Key = (RunId, i64);

fn key(item: &InboxItem) -> Key {
    (item.run.clone(), item.seq)
}

/// The questions on the screen, in the order they came.
#[derive(Clone, Copy)]
struct Shown {
    items: RwSignal<Vec<InboxItem>>,
    /// No longer waiting since they were shown.
    gone: RwSignal<BTreeSet<Key>>,
}

impl Shown {
    fn new() -> Self {
        Self {
            items: RwSignal::new(Vec::new()),
            gone: RwSignal::new(BTreeSet::new()),
        }
    }

    /// Takes in what waits now.
    fn take(self, now: Vec<InboxItem>) {
        let waiting: BTreeSet<_> = now.iter().map(key).collect();
        let before: BTreeSet<_> = self
            .items
            .with_untracked(|all| all.iter().map(key).collect());
        let gone = before.difference(&waiting).cloned().collect();
        if self.gone.with_untracked(|it| *it != gone) {
            self.gone.set(gone);
        }
        let (known, new): (Vec<_>, Vec<_>) =
            now.into_iter().partition(|it| before.contains(&key(it)));
        let moved = self.items.with_untracked(|all| {
            let stale = |item: &InboxItem| all.iter().any(|it| key(it) == key(item) && it != item);
            known.iter().any(stale)
        });
        if !new.is_empty() || moved {
            self.items.update(|all| {
                for item in known {
                    if let Some(place) = all.iter_mut().find(|it| key(it) == key(&item)) {
                        *place = item;
                    }
                }
                all.extend(new);
            });
        }
    }
}

#[component]
pub fn InboxPage() -> impl IntoView {
    let params = use_query_map();
    let cursor = Memo::new(move |_| params.with(|it| it.get("cursor")));
    let read = Resource::new_blocking(move || cursor.get(), api::decisions::inbox);
    let live = expect_context::<Live>();
    let again = Throttle::patiently(live, move || read.refetch());
    live.listen(move |message| match message {
        Message::Frame(frame) if frame.counts.is_some() => again.ask(),
        Message::Frame(_) => {}
        Message::ReadAgain => again.ask(),
    });
    // What could not be read while the server was away is read when it is back.
    let connection = live.connection();
    Effect::new(move |before: Option<Connection>| {
        let now = connection.get();
        if now == Connection::Live && before.is_some_and(|it| it != now) {
            again.ask();
        }
        now
    });
    view! {
        <PageTitle text="Inbox · Step47"/>
        <Page here=Here::Section(Section::Inbox)>
            <main id="main" class="main" tabindex="-1">
                <header class="page-head">
                    <h1>"Inbox"</h1>
                    <p class="dim">"questions waiting for an answer, oldest first"</p>
                </header>
                <Transition fallback=|| view! { <p class="loading" role="status">"Loading…"</p> }>
                    <Body read cursor/>
                </Transition>
            </main>
        </Page>
    }
    .into_any()
}

#[component]
fn Body(
    read: Resource<Result<AsOf<Questions>, AppError>>,
    cursor: Memo<Option<String>>,
) -> impl IntoView {
    let shown = Shown::new();
    let next = RwSignal::new(None::<String>);
    let damaged = RwSignal::new(Vec::<Key>::new());
    let refused = Memo::new(move |_| match read.get()? {
        Ok(AsOf { value, .. }) => {
            next.set(value.next.clone());
            damaged.set(value.damaged);
            shown.take(value.items);
            None
        }
        // A server that cannot be reached for a moment leaves what is shown as it is.
        Err(error) => Some(error).filter(|_| shown.items.with_untracked(Vec::is_empty)),
    });
    let event = move || read.get().and_then(Result::ok).map(|it| it.event);
    let empty = move || shown.items.with(Vec::is_empty) && damaged.with(Vec::is_empty);
    let more = move || {
        next.get().map(|next| {
            let mut params = ParamsMap::new();
            params.insert("cursor", next);
            view! { <a class="button" href=format!("/inbox{}", params.to_query_string()) rel="next">"Newer questions"</a> }
        })
    };
    move || {
        // `read` first: reading it fills the list of questions.
        if let Some(error) = refused.get() {
            return view! { <Refused error/> }.into_any();
        }
        view! {
            {move || event().map(|event| view! { <Follow event/> })}
            {move || empty().then(|| view! {
                <Notice title="Nothing is waiting for an answer">
                    <p>"A question appears here the moment an agent reaches a gate."</p>
                    <p><a class="button" href="/?view=needs">"Show what else needs you"</a></p>
                </Notice>
            })}
            {move || damaged.get().into_iter().map(damaged_question).collect_view()}
            <div class="inbox">
                <For each=move || shown.items.get() key=key let(item)>
                    <Question item shown/>
                </For>
            </div>
            <nav class="pager" aria-label="Pages of the inbox">
                {move || cursor.get().is_some().then(|| view! { <a class="button" href="/inbox">"Oldest"</a> })}
                {more}
            </nav>
        }
        .into_any()
    }
}

/// A question that cannot be shown, and where it stands.
fn damaged_question((run, seq): Key) -> AnyView {
    let href = format!("/runs/{run}?step={seq}");
    let step = format!("step {} of run {}", words::number(seq), run.short());
    view! {
        <p class="inbox-damaged" role="note">
            <span class="tone-failed"><Glyph shape=Shape::Damaged/></span>
            " A question is "{words::DAMAGED}": "<a href=href>{step}</a>
            ". It cannot be answered; a fork from before it can ask again."
        </p>
    }
    .into_any()
}

/// Ctrl or Cmd with Enter anywhere in a question goes to its answer; what is inside the answer sends it.
fn to_answer(event: ev::KeyboardEvent) {
    if !keyboard::sends(&event) {
        return;
    }
    let place = event.current_target();
    let place = place.and_then(|it| it.dyn_into::<Element>().ok());
    let found = place.and_then(|it| it.query_selector("form").or_say("look for a form"));
    if let Some(form) = found.flatten() {
        next_field::to_missing(&form);
    }
}

#[component]
fn Question(item: InboxItem, shown: Shown) -> impl IntoView {
    let shell = expect_context::<Shell>();
    let mine = key(&item);
    let version = {
        let mine = mine.clone();
        Signal::derive(move || {
            shown
                .items
                .with(|all| all.iter().find(|it| key(it) == mine).map(|it| it.version))
        })
    };
    let is_gone = {
        let mine = mine.clone();
        Memo::new(move |_| shown.gone.with(|gone| gone.contains(&mine)))
    };
    let answered = RwSignal::new(None::<String>);
    let deciding = Deciding::new(
        move |answer| answered.set(Some(words::you_decided(&answer.decision))),
        || {},
    );
    let run = StoredValue::new(item.run.clone());
    let on_decide = Callback::new(move |body| deciding.send(run.get_value(), body));
    let title = item.title.clone().unwrap_or_else(|| item.agent.clone());
    let href = format!("/runs/{}?step={}", item.run, item.seq);
    let context = item.gate.context.as_ref().and_then(Excerpt::of);
    let id = format!("{}-{}", item.run, item.seq);
    let heading = format!("q-{id}");
    let labelled = heading.clone();
    let (gate, seq) = (item.gate.clone(), item.seq);
    let first = who_settled(&item, is_gone);
    let settled = Memo::new(move |_| answered.with(Option::is_some) || is_gone.get());
    let settled_words = move || match (answered.get(), first.get()) {
        (Some(said), _) => view! { <p role="status"><b>{said}</b></p> }.into_any(),
        (None, Some(first)) => {
            view! { <p role="status"><b>"No longer waiting: "</b><WhoFirst first/>"."</p> }
                .into_any()
        }
        (None, None) => view! {
            <p role="status"><b>"No longer waiting: someone answered, or the run moved on."</b></p>
        }
        .into_any(),
    };
    let may = move || shell.may(Action::Decide);
    let answer = move || {
        if settled.get() {
            return None;
        }
        Some(match may() {
            true => view! {
                <Answer gate=gate.clone() step=seq version id=id.clone() busy=deciding.busy refused=deciding.refused on_decide/>
            }
            .into_any(),
            false => view! { <p class="dim">{words::VIEW_ONLY}</p> }.into_any(),
        })
    };
    view! {
        <article class="question" aria-labelledby=labelled tabindex="-1" data-home="" on:keydown=to_answer>
            <div class="question-head">
                <Glyph shape=Shape::Waiting/>
                <a href=href data-row=""><b><bdi>{title}</bdi></b></a>
                <span class="dim"><bdi>{item.agent.clone()}</bdi>" · step "{words::number(item.seq)}" "<bdi>{item.name.clone()}</bdi></span>
                <span class="dim age">"asked "<Ago at=item.since/></span>
            </div>
            <h2 id=heading><bdi>{item.gate.title.clone()}</bdi></h2>
            <ExcerptBlock title="context" excerpt=context/>
            {item.change.map(|(from, to)| view! { <LedHere run=item.run.clone() from to/> })}
            {answer}
            {move || deciding.refused.get().filter(|_| settled.get()).map(|error| view! { <Refusal error/> })}
            {move || settled.get().then(settled_words)}
        </article>
    }
    .into_any()
}

/// Who answered a question that no longer waits, read when it went. What cannot be read leaves the card with the general
/// words, which are true too.
fn who_settled(item: &InboxItem, is_gone: Memo<bool>) -> RwSignal<Option<First>> {
    let first = RwSignal::new(None::<First>);
    let (run, seq, since) = (item.run.clone(), item.seq, item.since);
    Effect::new(move |_| {
        if !is_gone.get() {
            return;
        }
        let run = run.clone();
        spawn_local(async move {
            let read = api::decisions::of_run(run, None).await;
            let known = read.ok().and_then(|page| {
                let it = settled_by(&page.decisions, seq, since)?;
                Some(First::of_decision(it))
            });
            first.try_set(known);
        });
    });
    first
}

/// The change of state that led to the question, read when it is opened.
#[component]
fn LedHere(run: RunId, from: i64, to: i64) -> impl IntoView {
    let changes = RwSignal::new(None::<Result<Vec<Change>, AppError>>);
    let href = format!("/runs/{run}/diff?from={from}&to={to}");
    let run = StoredValue::new(run);
    let open = move |_| {
        if changes.with_untracked(Option::is_some) {
            return;
        }
        spawn_local(async move {
            let read = api::snapshots::change(run.get_value(), from, to).await;
            changes.try_set(Some(read));
        });
    };
    view! {
        <details class="led-here" on:toggle=open>
            <summary>"What changed before it asked"</summary>
            {move || changes.get().map(|read| match read {
                Ok(changes) => view! { <Changes changes/> }.into_any(),
                Err(error) => view! { <p class="dim">{error.0.detail}</p> }.into_any(),
            })}
            <p><a class="link" href=href>"Compare the two states"</a></p>
        </details>
    }
    .into_any()
}
