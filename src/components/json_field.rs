//! A field for JSON. A script of its own (`editor/`) makes it an editor where it could be bundled; without it, and
//! without WASM, it is a plain field. What is wrong is said below it in both, with its line.

use leptos::{html, prelude::*, web_sys};

use super::browser::OrSay as _;
use crate::domain::views::typed_json::Wrong;

const SCRIPT: &str = "/pkg/editor.js";

#[component]
pub fn JsonField(
    name: &'static str,
    #[prop(into)] label: String,
    text: RwSignal<String>,
    #[prop(into)] wrong: Signal<Vec<Wrong>>,
    /// Tells it from others on the page.
    #[prop(optional, into)]
    id: Option<String>,
    /// What describes it, beside what is said below it.
    #[prop(optional, into)]
    described: String,
    /// One part of a form, not a page of its own.
    #[prop(optional)]
    small: bool,
    /// For those who may only look.
    #[prop(optional, into)]
    read_only: Signal<bool>,
) -> impl IntoView {
    let field = NodeRef::<html::Textarea>::new();
    Effect::new(load_editor);
    // The editor reads the field once; what the page puts there later, such as a draft, it must be told of.
    Effect::new(move || {
        let text = text.get();
        if let Some(field) = field.get()
            && field.value() != text
        {
            field.set_value(&text);
            let event = web_sys::Event::new("json-editor:take").or_say("tell the editor");
            if let Some(event) = event {
                field.dispatch_event(&event).or_say("tell the editor");
            }
        }
    });
    let problems = move || {
        let lines = wrong.with(|all| {
            let line = |it: &Wrong| format!("{}:{}", it.line, it.what.replace('\n', " "));
            all.iter().map(line).collect::<Vec<_>>()
        });
        lines.join("\n")
    };
    let said = |it: Wrong| {
        view! { <li>"Line " <b>{it.line}</b> ": " <bdi>{it.what}</bdi></li> }
    };
    let first = text.get_untracked();
    let said_id = match &id {
        Some(id) => format!("{id}-lines"),
        None => "json-wrong".to_owned(),
    };
    let described = format!("{described} {said_id}");
    view! {
        <json-editor class="json-editor" class:is-small=small attr:id=id attr:problems=problems>
            <textarea node_ref=field class="json-field mono" name=name aria-label=label spellcheck="false" autocomplete="off"
                rows=if small { "4" } else { "24" } readonly=move || read_only.get() aria-describedby=described
                on:input=move |event| text.set(event_target_value(&event))>{first}</textarea>
        </json-editor>
        <ul id=said_id class="json-wrong tone-crashed" aria-live="polite">
            {move || wrong.get().into_iter().map(said).collect_view()}
        </ul>
    }
    .into_any()
}

/// Asks for the editor's script, once; the page that needs it is the only one that does.
fn load_editor() {
    use leptos::wasm_bindgen::JsCast as _;
    let document = document();
    let there = document
        .query_selector("script[data-editor]")
        .or_say("look for the editor")
        .flatten();
    if there.is_some() {
        return;
    }
    let script = document.create_element("script").or_say("load the editor");
    let script = script.and_then(|it| it.dyn_into::<web_sys::HtmlScriptElement>().ok());
    if let (Some(script), Some(head)) = (script, document.head()) {
        script.set_type("module");
        script.set_src(SCRIPT);
        script
            .set_attribute("data-editor", "")
            .or_say("mark the editor");
        head.append_child(&script).or_say("load the editor");
    }
}
