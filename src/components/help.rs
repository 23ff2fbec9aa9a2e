//! The sheet that `?` opens: every key there is, page by page, and a switch to turn them off.

use leptos::{html, prelude::*};

use super::{
    keyboard::{Keys, KeysSwitch},
    modal,
};

/// Keys of one place: what is pressed, one key after the other or one of several, and what it does.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

const KEYS: [Group; 5] = [
    (
        "Everywhere",
        &[
            ("/", "search"),
            ("Ctrl/⌘+K", "any page, action or run"),
            ("g r", "all runs"),
            ("g i", "inbox"),
            ("g w", "workers"),
            ("g a", "audit log"),
            ("g s", "settings"),
            ("?", "this sheet"),
            ("Esc", "close, or leave the search box"),
        ],
    ),
    (
        "Runs",
        &[
            ("j k", "next, previous run"),
            ("Enter", "open the run"),
            ("r", "review its plan, or its question"),
            ("x", "select the run"),
        ],
    ),
    (
        "One run",
        &[
            ("j k", "next, previous step"),
            ("n p", "next, previous problem"),
            ("[ ]", "previous, next change of state"),
            ("d", "what the step changed in the state"),
            ("f", "follow the newest step"),
            ("+ − 0", "on the timeline: zoom in, out, fit"),
            ("r", "review the plan and resume"),
            ("t", "open the plan with Retry selected"),
            ("s", "open the plan with Skip selected"),
            ("e", "edit the state"),
            ("b", "rewind to before the step"),
            ("y", "fork from before the step"),
            ("m", "more actions"),
        ],
    ),
    (
        "Inbox and plans",
        &[
            ("1–9", "choose an answer (does not send it)"),
            ("e", "in a plan: change one value of the state"),
            (
                "Ctrl/⌘+Enter",
                "send, resume, save; or go to what is missing",
            ),
        ],
    ),
    (
        "Two states",
        &[
            ("[ ]", "previous, next change"),
            ("Enter", "on a change: who wrote it, copy"),
        ],
    ),
];

#[component]
pub fn Help() -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let keys = expect_context::<Keys>();
    Effect::new(move || {
        if let (true, Some(sheet)) = (keys.help.get(), dialog.get()) {
            if !sheet.open() {
                modal::open(&sheet);
            }
            keys.help.set(false);
        }
    });
    let row = |(pressed, does): &(&'static str, &'static str)| {
        let keys = pressed.split(' ').map(|key| view! { <kbd>{key}</kbd> });
        view! { <div class="help-row"><dt>{keys.collect_view()}</dt><dd>{*does}</dd></div> }
    };
    let group = |(place, keys): Group| {
        view! {
            <section>
                <h3 class="label">{place}</h3>
                <dl class="help-keys">{keys.iter().map(row).collect_view()}</dl>
            </section>
        }
    };
    view! {
        <dialog node_ref=dialog id="help" class="sheet help" aria-labelledby="help-title">
            <h2 id="help-title">"Keyboard"</h2>
            <div class="help-groups">{KEYS.map(group).collect_view()}</div>
            <KeysSwitch/>
            <form method="dialog" class="sheet-foot">
                <button class="button">"Close"</button>
            </form>
        </dialog>
    }
    .into_any()
}
