//! Short news of what was done: said politely to screen readers, gone by itself.

use std::time::Duration;

use leptos::prelude::*;

const STAYS: Duration = Duration::from_secs(6);

/// Where news is handed in, provided once by the app.
#[derive(Clone, Copy)]
pub struct Toasts(RwSignal<Vec<(u64, String)>>);

impl Toasts {
    pub fn provide() {
        provide_context(Self(RwSignal::new(Vec::new())));
    }

    pub fn say(self, news: impl Into<String>) {
        let id = self
            .0
            .with_untracked(|all| all.last().map_or(0, |(id, _)| id + 1));
        self.0.update(|all| all.push((id, news.into())));
        set_timeout(move || self.dismiss(id), STAYS);
    }

    fn dismiss(self, id: u64) {
        self.0.update(|all| all.retain(|(it, _)| *it != id));
    }
}

/// The corner where news shows up.
#[component]
pub fn Toaster() -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    view! {
        <div class="toasts" aria-live="polite">
            <For each=move || toasts.0.get() key=|(id, _)| *id let((id, news))>
                <div class="toast">
                    <p>{news}</p>
                    <button type="button" class="toast-close" aria-label="Dismiss" on:click=move |_| toasts.dismiss(id)>
                        "×"
                    </button>
                </div>
            </For>
        </div>
    }
    .into_any()
}
