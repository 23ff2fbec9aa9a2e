//! An answer of 500 that no damage explains is a failure of the server itself: its log tells of it once, with the route and
//! the cause, whoever made the answer. No test passes over that line.

use axum::{
    extract::{MatchedPath, Request},
    http::StatusCode,
    response::Response,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::domain::{Code, Problem};

/// What the log is told of one request.
#[derive(Clone)]
pub struct Telling(Arc<Told>);

struct Told {
    /// `GET /runs/{id}`.
    route: String,
    /// A page showed itself what it could not read.
    explained: AtomicBool,
    told: AtomicBool,
}

impl Telling {
    pub fn of(request: &Request) -> Self {
        let matched = request.extensions().get::<MatchedPath>();
        let path = matched.map_or(request.uri().path(), MatchedPath::as_str);
        Self(Arc::new(Told {
            route: format!("{} {path}", request.method()),
            explained: AtomicBool::new(false),
            told: AtomicBool::new(false),
        }))
    }

    /// A page shows this where what was asked for would be.
    pub fn page_shows(&self, problem: &Problem) {
        if problem.code.status() == 500 {
            self.0.explained.store(true, Ordering::Relaxed);
        }
        if problem.code == Code::Internal {
            self.tell(&problem.detail);
        }
    }

    /// The answer is ready to be sent.
    pub fn answered(&self, response: &Response) {
        if response.status() != StatusCode::INTERNAL_SERVER_ERROR {
            return;
        }
        match response.extensions().get::<Problem>() {
            Some(problem) if problem.code == Code::Internal => self.tell(&problem.detail),
            // Damage: that was logged where it was found.
            Some(_) => {}
            None if self.0.explained.load(Ordering::Relaxed) => {}
            None => self.tell("the answer does not say"),
        }
    }

    fn tell(&self, cause: &str) {
        if !self.0.told.swap(true, Ordering::Relaxed) {
            tracing::error!(route = %self.0.route, cause, "answered 500");
        }
    }
}
