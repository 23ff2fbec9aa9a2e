//! A route of the console: its path, who may see it, and its page, declared in one line of the route table.

use leptos::prelude::*;
use leptos_router::{ChooseView, NestedRoute, PossibleRouteMatch, SsrMode};

use crate::domain::nouns::access::Door;

/// Every page is complete before it is sent: readable before, and without, WASM.
#[component(transparent)]
pub fn PageRoute<Segments, View>(
    path: Segments,
    /// What the page asks of its reader. The server holds it against every request; the browser has no use for it.
    door: Door,
    view: View,
) -> <NestedRoute<Segments, (), (), View> as IntoMaybeErased>::Output
where
    View: ChooseView + Clone + 'static,
    Segments: PossibleRouteMatch + Clone + Send + 'static,
{
    #[cfg(feature = "ssr")]
    if let Some(doors) = use_context::<doors::PageDoors>() {
        doors.declare(&path, door);
    }
    // A declaration for the server alone.
    #[cfg(not(feature = "ssr"))]
    let _ = door;
    NestedRoute::new(path, view)
        .ssr_mode(SsrMode::Async)
        .into_maybe_erased()
}

#[cfg(feature = "ssr")]
pub mod doors {
    //! The doors of all pages, gathered while the server lists the routes.

    use leptos_router::{PathSegment, PossibleRouteMatch};
    use std::{
        collections::BTreeMap,
        sync::{Arc, Mutex},
    };

    use crate::domain::nouns::access::Door;

    /// In the context while routes are listed: each route adds itself, by its path as axum writes it.
    #[derive(Clone, Default)]
    pub struct PageDoors(Arc<Mutex<BTreeMap<String, Door>>>);

    impl PageDoors {
        pub(super) fn declare(&self, path: &impl PossibleRouteMatch, door: Door) {
            let mut segments = Vec::new();
            path.generate_path(&mut segments);
            let mut written = String::new();
            for segment in segments {
                let part = match segment {
                    PathSegment::Unit => continue,
                    PathSegment::Static(name) => name.trim_matches('/').to_owned(),
                    PathSegment::Param(name) | PathSegment::OptionalParam(name) => {
                        format!("{{{name}}}")
                    }
                    PathSegment::Splat(name) => format!("{{*{name}}}"),
                };
                if !part.is_empty() {
                    written = format!("{written}/{part}");
                }
            }
            if written.is_empty() {
                written.push('/');
            }
            let mut doors = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
            doors.insert(written, door);
        }

        /// The door of the page at this path.
        pub fn of(&self, path: &str) -> Option<Door> {
            let doors = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
            doors.get(path).copied()
        }
    }
}
