//! Settings for connections, and for those who hold one open: the sections `[step47.connections]` and `[step47.seats]`.

use serde::Deserialize;
use std::time::Duration;

use crate::server::seats::Bounds;

/// What a connection may cost, and for how long.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Connections {
    /// Open at once.
    pub max: usize,
    /// Open at once from one address (of IPv6: one /64). Behind a proxy all come from the proxy's.
    pub per_peer: usize,
    /// From a request's first byte, or from connecting, until its head is complete.
    pub header_ms: u64,
    /// Between two requests on one connection.
    pub idle_ms: u64,
    /// For a request's body; each 256 KiB that arrive give one second more.
    pub body_ms: u64,
    /// For a client to take something of an answer.
    pub write_ms: u64,
    /// Bytes of bodies that are being read or worked on, in all. One person or token may have half of it.
    pub body_budget: usize,
    /// Wrong tokens from one address within a minute that are answered at once.
    pub wrong_tokens: u32,
    /// From SIGTERM until requests that are still under way are given up.
    pub shutdown_ms: u64,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            max: 8_192,
            per_peer: 4_096,
            header_ms: 10_000,
            idle_ms: 95_000,
            body_ms: 30_000,
            write_ms: 60_000,
            body_budget: 256 << 20,
            wrong_tokens: 10,
            shutdown_ms: 10_000,
        }
    }
}

impl Connections {
    pub fn header(&self) -> Duration {
        Duration::from_millis(self.header_ms)
    }

    pub fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms)
    }

    pub fn body(&self) -> Duration {
        Duration::from_millis(self.body_ms)
    }

    pub fn write(&self) -> Duration {
        Duration::from_millis(self.write_ms)
    }

    pub fn shutdown(&self) -> Duration {
        Duration::from_millis(self.shutdown_ms)
    }

    /// One may always send the largest body that is allowed.
    pub fn bodies(&self, body_max: usize) -> Bounds {
        Bounds {
            all: self.body_budget,
            each: (self.body_budget / 2).max(body_max),
        }
    }

    pub fn check(&self, body_max: usize) -> Result<(), String> {
        let nothing = [
            ("max", self.max as u64),
            ("per_peer", self.per_peer as u64),
            ("header_ms", self.header_ms),
            ("idle_ms", self.idle_ms),
            ("body_ms", self.body_ms),
            ("write_ms", self.write_ms),
        ];
        if let Some((name, _)) = nothing.iter().find(|(_, value)| *value == 0) {
            return Err(format!("connections.{name} must be more than 0"));
        }
        match self.body_budget < body_max {
            true => Err(format!(
                "connections.body_budget is {} bytes, less than one body may have (body_max, {body_max}): raise it",
                self.body_budget
            )),
            false => Ok(()),
        }
    }
}

/// How many may hold a connection for long: in all, and for each person or token. Pages in all are `viewers_max`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Places {
    /// Pages that follow live.
    pub viewers_each: usize,
    /// Readers of `/v1/events`.
    pub events_max: usize,
    pub events_each: usize,
    /// Workers that wait for work (`/v1/claims` with `wait_ms`).
    pub claims_max: usize,
    pub claims_each: usize,
    /// Requests that wait for a step to settle (`wait_ms`).
    pub waits_max: usize,
    pub waits_each: usize,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            viewers_each: 500,
            events_max: 1_000,
            events_each: 250,
            claims_max: 4_000,
            claims_each: 1_000,
            waits_max: 4_000,
            waits_each: 1_000,
        }
    }
}
