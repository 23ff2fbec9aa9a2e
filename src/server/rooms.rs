//! Who may hold a connection for long: pages that follow live, readers of events, workers that wait for work, and
//! requests that wait for a step. Each kind has its own places, so that one kind never takes another's.

use super::{
    config::Limits,
    seats::{Bounds, Naming, Seats},
};

#[derive(Clone)]
pub struct Rooms {
    pub viewers: Seats<String>,
    pub events: Seats<String>,
    pub claims: Seats<String>,
    pub waits: Seats<String>,
}

impl Rooms {
    pub fn new(limits: &Limits) -> Self {
        let seats = limits.seats;
        let room = |what, (all, max), (each, one)| {
            let bounds = Bounds {
                all: max,
                each: one,
            };
            Seats::new(bounds, Naming { what, all, each })
        };
        Self {
            viewers: room(
                "open pages",
                ("viewers_max", limits.viewers_max),
                ("seats.viewers_each", seats.viewers_each),
            ),
            events: room(
                "streams of events",
                ("seats.events_max", seats.events_max),
                ("seats.events_each", seats.events_each),
            ),
            claims: room(
                "workers that wait for work",
                ("seats.claims_max", seats.claims_max),
                ("seats.claims_each", seats.claims_each),
            ),
            waits: room(
                "requests that wait for a step",
                ("seats.waits_max", seats.waits_max),
                ("seats.waits_each", seats.waits_each),
            ),
        }
    }
}
