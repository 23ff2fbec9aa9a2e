//! What every page shares: who is signed in, how many runs need a person, and the bar that says so.

use leptos::prelude::*;

use crate::{
    api::{self, AppError},
    components::frame::{Crumb, TopBar},
    domain::{AsOf, Counts, Principal},
    live::{Follow, Live, Message, patience},
};

#[derive(Clone, Copy)]
pub struct Shell {
    me: Resource<Result<Principal, AppError>>,
    counts: Resource<Result<AsOf<Counts>, AppError>>,
    /// As the last frame told them.
    told: RwSignal<Option<AsOf<Counts>>>,
}

impl Shell {
    pub fn provide(live: Live) {
        let me = Resource::new_blocking(|| (), |()| api::session::me());
        let counts = Resource::new_blocking(|| (), |()| api::runs::counts());
        let told = RwSignal::new(None);
        let again = patience(move || counts.refetch());
        live.listen(move |message| match message {
            Message::Frame(frame) => {
                if let Some(value) = frame.counts.clone() {
                    let event = frame.event;
                    told.set(Some(AsOf { event, value }));
                }
            }
            Message::ReadAgain => again(),
        });
        provide_context(Self { me, counts, told });
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

    pub fn needs(self) -> Option<i64> {
        self.counts().map(|counts| counts.needs_you())
    }
}

/// The bar and, below it, the page.
#[component]
pub fn Page(
    #[prop(optional)] crumbs: Vec<Crumb>,
    #[prop(into, optional)] search: Signal<String>,
    children: Children,
) -> impl IntoView {
    let shell = expect_context::<Shell>();
    let connection = expect_context::<Live>().connection();
    view! {
        <Transition>
            <TopBar
                crumbs=crumbs.clone()
                search
                needs=Signal::derive(move || shell.needs())
                connection
                principal=Signal::derive(move || shell.me.get()?.ok())
            />
            {move || shell.counts.get()?.ok().map(|counts| view! { <Follow event=counts.event/> })}
        </Transition>
        {children()}
    }
    .into_any()
}
