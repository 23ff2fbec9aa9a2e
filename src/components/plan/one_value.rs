//! One value of the state, changed by the same order that settles a step: the wrong amount is set right where the decision is
//! made. Anything larger has the editor.

use leptos::{html, prelude::*, web_sys};
use serde_json::Value;

use crate::{
    api::AppError,
    components::focus,
    domain::{
        Code,
        views::{
            pick::{Picked, Picks, Way},
            typed_json,
        },
    },
};

/// Longer values are changed in the editor.
const LINE_MAX: usize = 2_000;

/// What stands in the run's current state, by the path that was asked for last. The page reads it.
#[derive(Clone, Copy)]
pub struct StandsThere {
    pub ask: Callback<String>,
    pub said: RwSignal<Option<Said>>,
}

#[derive(Debug, Clone)]
pub struct Said {
    pub path: String,
    /// JSON, as an editor would show it.
    pub value: Result<String, AppError>,
}

impl Said {
    fn stands(&self) -> Option<Value> {
        typed_json::read(self.value.as_ref().ok()?).ok()
    }

    /// The value in one line, if it is short enough for a line.
    fn line(&self) -> Option<String> {
        let line = self.stands()?.to_string();
        (line.len() <= LINE_MAX).then_some(line)
    }
}

#[component]
pub fn OneValue(
    seq: i64,
    picks: RwSignal<Picks>,
    stands: StandsThere,
    /// The editor of the state.
    editor: String,
) -> impl IntoView {
    let path_field = NodeRef::<html::Input>::new();
    let value_field = NodeRef::<html::Input>::new();
    let summary = NodeRef::<html::Summary>::new();
    let picked = Memo::new(move |_| picks.with(|all| all.get(&seq).cloned().unwrap_or_default()));
    let path = Memo::new(move |_| picked.with(|it| it.path.trim().to_owned()));
    let value = move || picked.with(|it| it.value.clone());
    // Without WASM no choice shows it again: it is hidden by the browser only.
    let ready = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    let skips = move || ready.get() && picked.with(|it| it.way == Some(Way::Skip));
    let here = move || {
        let said = stands.said.get();
        said.filter(|said| path.with(|path| said.path == *path))
    };
    // The field begins with the current value, and follows it until somebody types: a value that nobody typed must not undo what
    // somebody else changed. The current value is kept too: if the field still says it, it is no change and is not sent.
    Effect::new(move || {
        let Some(said) = here() else {
            return;
        };
        let line = said.line().unwrap_or_default();
        let (begins, untouched) =
            picked.with_untracked(|it| (it.value.is_empty(), it.is_untouched()));
        picks.update(|all| {
            let picked = all.entry(seq).or_default();
            picked.stands = said.stands();
            if untouched {
                picked.value = line;
            }
        });
        if begins {
            request_animation_frame(move || {
                if let Some(field) = value_field.get_untracked().filter(has_focus) {
                    field.select();
                }
            });
        }
    });
    // What changes the state stays in sight where the plan is renewed.
    let typed = picked.with_untracked(|it| !it.path.is_empty());
    let opened = move |event: web_sys::Event| {
        let details: web_sys::Element = event_target(&event);
        // It opens by itself where something is typed in it: then the caret is elsewhere.
        let empty = picked.with_untracked(|it| it.path.is_empty());
        if let Some(field) = path_field.get_untracked()
            && details.has_attribute("open")
            && empty
        {
            focus::focus_in_place(&field);
        }
    };
    let to_path = move |event: web_sys::Event| {
        let typed = event_target_value(&event);
        picks.update(|all| {
            let picked = all.entry(seq).or_default();
            picked.clear_change();
            picked.path = typed;
        });
    };
    let asks = move |_: web_sys::Event| {
        let path = path.get_untracked();
        if path.starts_with('/') {
            stands.ask.run(path);
        }
    };
    let sends = Memo::new(move |_| picked.with(Picked::said_of_change));
    let begun = Memo::new(move |_| picked.with(|it| !it.path.is_empty() || !it.value.is_empty()));
    let clear = move |_| {
        picks.update(|all| all.entry(seq).or_default().clear_change());
        // The button goes with what it cleared.
        if let Some(summary) = summary.get_untracked() {
            focus::focus_in_place(&summary);
        }
    };
    let select = move |_: web_sys::FocusEvent| {
        if let Some(field) = value_field.get_untracked() {
            field.select();
        }
    };
    let said = move || {
        let said = here()?;
        Some(match (&said.value, said.line()) {
            (Err(error), _) if !error.is(Code::NotFound) => {
                view! { <p class="tone-failed"><bdi>{error.to_string()}</bdi></p> }.into_any()
            }
            (Err(_), _) => view! {
                <p class="tone-failed">"The current state has no value at "<bdi class="mono">{said.path.clone()}</bdi>"."</p>
            }
            .into_any(),
            (Ok(_), Some(line)) => {
                view! { <p class="dim">"Now: "<bdi class="mono">{line}</bdi></p> }.into_any()
            }
            (Ok(_), None) => view! {
                <p class="dim">"This value is too long for one line. "<a class="link" href=editor.clone()>"Edit the state first…"</a></p>
            }
            .into_any(),
        })
    };
    view! {
        <div class="plan-edit" class:is-hidden=skips>
            <details open=typed on:toggle=opened>
                <summary node_ref=summary data-key="e">
                    "Change one value of the state"
                    {move || sends.get().map(|it| view! { <span class="plan-edit-sends">": "<bdi class="mono">{it}</bdi></span> })}
                </summary>
                <div class="plan-edit-fields">
                    <label>
                        "Path"
                        <input type="text" class="input mono" name=format!("path.{seq}") placeholder="/customer/email" autocomplete="off" spellcheck="false"
                            node_ref=path_field prop:value=move || picked.with(|it| it.path.clone()) on:input=to_path on:change=asks/>
                    </label>
                    <label>
                        "New value (JSON)"
                        <input type="text" class="input mono" name=format!("value.{seq}") autocomplete="off" spellcheck="false"
                            node_ref=value_field prop:value=value
                            on:focus=select
                            on:input=move |event| {
                                let typed = event_target_value(&event);
                                picks.update(|all| all.entry(seq).or_default().value = typed);
                            }/>
                    </label>
                    <div role="status">{said}</div>
                </div>
            </details>
            {move || begun.get().then(|| view! {
                <button type="button" class="button quiet" aria-label="Clear the change of the state" on:click=clear>"Clear"</button>
            })}
        </div>
    }
    .into_any()
}

fn has_focus(field: &web_sys::HtmlInputElement) -> bool {
    let field: &web_sys::Node = field;
    document()
        .active_element()
        .is_some_and(|it| it.is_same_node(Some(field)))
}
