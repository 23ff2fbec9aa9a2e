//! What outside readers and long polls hear.

use axum::body::Bytes;
use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use crate::{domain::Event, server::sse};

#[derive(Debug, Clone)]
pub enum News {
    Event(Arc<Told>),
    /// A durable sleep ended somewhere.
    Woken,
}

/// An event, and its words on the wire: put together once for all who hear it, and only if one does.
#[derive(Debug)]
pub struct Told {
    event: Event,
    message: OnceLock<Bytes>,
}

impl Told {
    pub fn new(event: Event) -> Self {
        Self {
            event,
            message: OnceLock::new(),
        }
    }

    pub fn message(&self) -> Bytes {
        let message = || sse::message(self.event.id, &self.event);
        self.message.get_or_init(message).clone()
    }
}

impl Deref for Told {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}
