//! What every page shares: who is signed in, how many runs need a person, and the bar that says so.

use leptos::{prelude::*, task::spawn_local};

use super::finder::finder;
use crate::{
    api::{self, AppError},
    components::{
        badge::Badge,
        browser::every,
        notify::{LOOK_EVERY, Notify},
        palette::Palette,
        time::Clock,
        top_bar::{Crumb, Here, Section, TopBar},
        trouble_banner::TroubleBanner,
    },
    domain::{Action, AsOf, Counts, Principal, Trouble},
    live::{Connection, Follow, Live, Message, Throttle},
};

#[derive(Clone, Copy)]
pub struct Shell {
    me: Resource<Result<Principal, AppError>>,
    counts: Resource<Result<AsOf<Counts>, AppError>>,
    /// The counts of the last frame.
    told: RwSignal<Option<AsOf<Counts>>>,
    /// What keeps the store from writing: as the page was made, and as was heard since.
    trouble: Resource<Result<Option<Trouble>, AppError>>,
    troubled: RwSignal<Option<Option<Trouble>>>,
}

impl Shell {
    pub fn provide(live: Live) {
        let me = Resource::new_blocking(|| (), |()| api::session::me());
        let counts = Resource::new_blocking(|| (), |()| api::runs::counts());
        let told = RwSignal::new(None);
        let trouble = Resource::new_blocking(|| (), |()| api::session::trouble());
        let troubled = RwSignal::new(None);
        let again = Throttle::patiently(live, move || counts.refetch());
        live.listen(move |message| match message {
            Message::Frame(frame) => {
                if let Some(value) = frame.counts.clone() {
                    let event = frame.event;
                    told.set(Some(AsOf { event, value }));
                }
                if let Some(writing) = frame.writing {
                    troubled.set(Some(writing.trouble()));
                }
            }
            Message::ReadAgain => again.ask(),
        });
        let connection = live.connection();
        Clock::stand_while(move || connection.get() == Connection::Lost);
        provide_context(Self {
            me,
            counts,
            told,
            trouble,
            troubled,
        });
        look_for_news();
    }

    /// Reads a resource: only below `Transition`.
    pub fn counts(self) -> Option<Counts> {
        let read = self.counts.get()?.ok();
        let newest = match (read, self.told.get()) {
            (Some(read), Some(told)) if read.event > told.event => Some(read),
            (read, told) => told.or(read),
        };
        newest.map(|counts| counts.value)
    }

    /// Whether the reader may do this. Reads a resource: only below `Transition`.
    pub fn may(self, action: Action) -> bool {
        let me = self.me.get().and_then(Result::ok);
        me.is_some_and(|me| me.role.may(action))
    }

    /// Why nothing can be saved now. Reads a resource: only below `Transition`.
    fn trouble(self) -> Option<Trouble> {
        let read = self.trouble.get().and_then(Result::ok);
        self.troubled.get().or(read).flatten()
    }

    pub fn needs(self) -> Option<i64> {
        self.counts().map(|counts| counts.needs_you())
    }
}

/// While notifications are on, looks now and then what needs a person: a hidden tab hears of no event.
fn look_for_news() {
    let notify = expect_context::<Notify>();
    Effect::new(move || {
        if !notify.is_on() {
            return;
        }
        let look = move || {
            spawn_local(async move {
                if let Ok(newest) = api::runs::newest_in_need().await {
                    notify.compare(&newest);
                }
            });
        };
        look();
        every(LOOK_EVERY, look);
    });
}

/// The bar and, below it, the page.
#[component]
pub fn Page(
    #[prop(default = Here::Section(Section::Runs))] here: Here,
    /// The way to a page below the runs; it may read a resource.
    #[prop(into, optional)]
    crumbs: Signal<Vec<Crumb>>,
    #[prop(into, optional)] search: Signal<String>,
    children: Children,
) -> impl IntoView {
    let shell = expect_context::<Shell>();
    let badge = expect_context::<Badge>();
    let connection = expect_context::<Live>().connection();
    let (look, found) = finder();
    view! {
        <Transition>
            <TopBar
                here
                crumbs
                search
                needs=Signal::derive(move || badge.shown(shell.needs()))
                connection
                principal=Signal::derive(move || shell.me.get()?.ok())
            />
            <TroubleBanner trouble=Signal::derive(move || shell.trouble()) heard=shell.troubled/>
            {move || shell.counts.get()?.ok().map(|counts| view! { <Follow event=counts.event/> })}
        </Transition>
        <Palette look found/>
        {children()}
    }
    .into_any()
}
