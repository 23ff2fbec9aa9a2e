//! Where the reader was in a list of runs: "back" leads there again, with as many older runs as were shown.

use std::collections::HashMap;

use leptos::{ev, prelude::*};

use crate::components::browser::OrSay as _;

/// Frames that the page may take until it is as high as it was.
const FRAMES: u32 = 90;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spot {
    top: f64,
    /// Pages of older runs that were shown.
    pub pages: usize,
}

/// The spots of this tab by address, provided once by the app: they outlive the page.
#[derive(Clone, Copy)]
pub struct Spots {
    all: StoredValue<HashMap<String, Spot>>,
    /// The address that "back" or "forward" led to, until the list there is shown.
    returned: StoredValue<Option<String>>,
}

impl Spots {
    pub fn provide() {
        let spots = Self {
            all: StoredValue::new(HashMap::new()),
            returned: StoredValue::new(None),
        };
        provide_context(spots);
        Effect::new(move || {
            let went_back = window_event_listener(ev::popstate, move |_| {
                spots.returned.set_value(address());
            });
            on_cleanup(move || went_back.remove());
        });
    }

    /// Notes where the reader is before anything is pressed: once a link is followed, the page may have moved already.
    pub fn note(self, pages: Signal<usize>) {
        Effect::new(move || {
            let note = move || {
                if let (Some(address), Some(top)) = (address(), top()) {
                    let pages = pages.try_get_untracked().unwrap_or(0);
                    self.all.update_value(|all| {
                        all.insert(address, Spot { top, pages });
                    });
                }
            };
            let pointed = window_event_listener(ev::pointerdown, move |_| note());
            let pressed = window_event_listener(ev::keydown, move |_| note());
            on_cleanup(move || {
                pointed.remove();
                pressed.remove();
            });
        });
    }

    /// The spot to go back to; none if the reader came by a link.
    pub fn returned(self) -> Option<Spot> {
        let returned = self.returned.try_update_value(Option::take).flatten()?;
        let here = address().is_some_and(|it| it == returned);
        self.all
            .with_value(|all| all.get(&returned).copied())
            .filter(|_| here)
    }
}

/// Scrolls there as soon as the page is high enough.
pub fn go(spot: Spot) {
    wait(spot.top, FRAMES);
}

fn wait(wanted: f64, frames: u32) {
    request_animation_frame(move || {
        window().scroll_to_with_x_and_y(0.0, wanted);
        let there = top().is_some_and(|top| (top - wanted).abs() < 2.0);
        if !there && frames > 0 {
            wait(wanted, frames - 1);
        }
    });
}

fn top() -> Option<f64> {
    window()
        .scroll_y()
        .or_say("ask how far the page is scrolled")
}

fn address() -> Option<String> {
    window().location().href().or_say("ask for the address")
}
