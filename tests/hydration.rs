//! The page asks for the browser's files by the names that xtask gives them.
#![cfg(feature = "ssr")]

use leptos::{config::get_config_from_str, hydration::HydrationScripts, prelude::*};

#[test]
fn a_page_asks_for_the_files_that_xtask_writes() {
    let options =
        get_config_from_str(include_str!("../Leptos.toml")).expect("Leptos accepts the file");
    let html = Owner::new().with(|| view! { <HydrationScripts options/> }.to_html());
    assert!(html.contains("/pkg/step47.js"), "{html}");
    // Without LEPTOS_OUTPUT_NAME (.cargo/config.toml) this would be step47_bg.wasm: a page that never comes alive.
    assert!(html.contains("/pkg/step47.wasm"), "{html}");
}
