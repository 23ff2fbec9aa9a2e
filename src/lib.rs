//! Step47: the durable checkpoint store for AI agents, and the operator's console that reads it.
//!
//! One crate, three faces: `ssr` is the server, `hydrate` the browser, `client` the agents' SDK.

// A view's type is as deep as the page.
#![recursion_limit = "256"]

pub mod domain;

#[cfg(feature = "web")]
pub mod api;
#[cfg(feature = "web")]
pub mod app;
#[cfg(feature = "ssr")]
mod aside;
#[cfg(feature = "ssr")]
pub mod cli;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "web")]
pub mod components;
#[cfg(feature = "web")]
pub mod live;
#[cfg(feature = "web")]
pub mod pages;
#[cfg(feature = "ssr")]
pub mod server;
#[cfg(feature = "ssr")]
pub mod store;

/// Takes over the server-rendered page in the browser.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(app::App);
}
