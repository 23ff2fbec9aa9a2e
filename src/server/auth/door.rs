//! What each route asks of its caller, declared where the route is made.

use axum::{
    Router,
    handler::Handler,
    http::Method,
    routing::{get, post},
};
use std::collections::{BTreeMap, BTreeSet};

use super::super::App;
use crate::domain::{Action, nouns::access::Door};

/// One route with its door.
#[derive(Debug, Clone)]
pub struct Declared {
    pub method: Method,
    /// As axum writes it: `/runs/{id}`.
    pub path: String,
    pub door: Door,
}

/// Routes, none of which can be added without its door.
#[derive(Default)]
pub struct Routes {
    router: Router<App>,
    declared: Vec<Declared>,
}

impl Routes {
    /// Routes that were made elsewhere, with the doors that were declared there.
    pub fn new(router: Router<App>, declared: Vec<Declared>) -> Self {
        Self { router, declared }
    }

    pub fn get<T: 'static>(self, path: &str, door: Door, handler: impl Handler<T, App>) -> Self {
        let router = self.router.route(path, get(handler));
        Self::new(router, self.declared).declare(Method::GET, path, door)
    }

    pub fn post<T: 'static>(self, path: &str, door: Door, handler: impl Handler<T, App>) -> Self {
        let router = self.router.route(path, post(handler));
        Self::new(router, self.declared).declare(Method::POST, path, door)
    }

    fn declare(mut self, method: Method, path: &str, door: Door) -> Self {
        let path = path.to_owned();
        self.declared.push(Declared { method, path, door });
        self
    }

    pub fn merge(mut self, others: Self) -> Self {
        self.declared.extend(others.declared);
        Self::new(self.router.merge(others.router), self.declared)
    }

    pub fn into_parts(self) -> (Router<App>, Vec<Declared>) {
        (self.router, self.declared)
    }
}

/// The doors of a whole router.
pub struct Doors {
    doors: BTreeMap<(String, String), Door>,
    paths: BTreeSet<String>,
}

impl Doors {
    pub fn new(declared: Vec<Declared>) -> Result<Self, String> {
        let mut doors = BTreeMap::new();
        let mut paths = BTreeSet::new();
        for Declared { method, path, door } in declared {
            paths.insert(path.clone());
            let key = (path, method.to_string());
            if doors.contains_key(&key) {
                return Err(format!("{} {} declares its access twice", key.1, key.0));
            }
            doors.insert(key, door);
        }
        Ok(Self { doors, paths })
    }

    /// The door of a request. `route` is the path of the route that takes it. A route that declares nothing has none: nobody
    /// may use it.
    pub fn of(&self, method: &Method, route: Option<&str>, path: &str) -> Option<Door> {
        let Some(route) = route else {
            return Some(nowhere(method, path));
        };
        if !self.paths.contains(route) {
            return None;
        }
        let declared = |method: &Method| {
            let key = (route.to_owned(), method.to_string());
            self.doors.get(&key).copied()
        };
        let asked = match *method {
            // Answered by the route for GET.
            Method::HEAD => declared(&Method::GET),
            _ => declared(method),
        };
        // The route does not take this method. Only a caller who may use the route learns that.
        let refused = || match (declared(&Method::POST), declared(&Method::GET)) {
            (Some(door), _) if !reads(method) => door,
            (_, Some(Door::Open)) => Door::Open,
            _ => nowhere(method, path),
        };
        Some(asked.unwrap_or_else(refused))
    }
}

fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// What no route takes is a file of the site, or is answered with 404 or 405, which only say that nothing is there.
fn nowhere(method: &Method, path: &str) -> Door {
    match path {
        _ if is_public(path) => Door::Open,
        _ if path.starts_with("/v1/") && !reads(method) => Door::Needs(Action::Advance),
        _ if path.starts_with("/v1/") || path.starts_with("/api/") => Door::Needs(Action::Read),
        _ => Door::Page(Action::Read),
    }
}

/// A file that is the same for everybody; browsers may keep it.
pub fn is_public(path: &str) -> bool {
    let below = ["/pkg/", "/fonts/"].iter().any(|it| path.starts_with(it));
    below || matches!(path, "/favicon.svg" | "/favicon.ico" | "/robots.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_that_declares_nothing_lets_nobody_in() {
        let declared = |method, path: &str, door| Declared {
            method,
            path: path.to_owned(),
            door,
        };
        let decide = Door::Needs(Action::Decide);
        let doors = Doors::new(vec![
            declared(Method::GET, "/v1/a", Door::Needs(Action::Read)),
            declared(Method::POST, "/v1/b", decide),
        ]);
        let doors = doors.unwrap();
        let of = |method, route| doors.of(&method, Some(route), route);
        assert_eq!(of(Method::GET, "/v1/undeclared"), None);
        assert_eq!(of(Method::HEAD, "/v1/a"), Some(Door::Needs(Action::Read)));
        let advance = Some(Door::Needs(Action::Advance));
        assert_eq!(of(Method::POST, "/v1/a"), advance, "it does not take it");
        assert_eq!(of(Method::PUT, "/v1/b"), Some(decide));
        assert_eq!(doors.of(&Method::POST, None, "/v1/none"), advance);
        let twice = declared(Method::GET, "/v1/a", Door::Open);
        assert!(Doors::new(vec![twice.clone(), twice]).is_err());
    }
}
