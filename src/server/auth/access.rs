//! Whom the headers of a request stand for, remembered for a moment, so that a busy agent does not ask the database
//! each time.

use axum::http::{HeaderMap, header};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use super::{seen::Seen, standing::Open};
use crate::{
    domain::nouns::access::{Caller, Principal},
    store::{Error, Store, access::Credential},
};

/// How long an answer of the store about a secret counts; a revoked token works no longer than this.
const REMEMBERED: Duration = Duration::from_secs(1);
const REMEMBERED_MAX: usize = 10_000;

type Known = HashMap<Credential, (Principal, Instant)>;

#[derive(Clone)]
pub struct Access {
    known: Arc<Mutex<Known>>,
    pub seen: Seen,
    /// Streams and long polls that end with the right to them.
    pub open: Open,
    /// TLS is in front of this server.
    tls: bool,
}

impl Access {
    pub fn new(tls: bool) -> Self {
        Self {
            known: Arc::default(),
            seen: Seen::default(),
            open: Open::default(),
            tls,
        }
    }

    /// The name of the session's cookie. Behind TLS browsers take a `__Host-` cookie only from this host itself, over
    /// TLS: no other host of the domain can plant one. No other name counts there.
    pub fn cookie(&self) -> &'static str {
        match self.tls {
            true => "__Host-step47_session",
            false => "step47_session",
        }
    }

    /// What the caller shows. A token wins over a cookie.
    pub fn credential(&self, headers: &HeaderMap) -> Option<Credential> {
        match bearer(headers) {
            Some(token) => Some(Credential::new(Caller::Token, token)),
            None => session(headers, self.cookie()),
        }
    }

    /// Whom a credential stands for.
    pub async fn principal(
        &self,
        store: &Store,
        credential: Credential,
    ) -> Result<Option<Principal>, Error> {
        if let Some(known) = self.recall(credential) {
            self.seen.note(credential);
            return Ok(Some(known));
        }
        let found = store.caller(credential).await?;
        if let Some(principal) = &found {
            self.seen.note(credential);
            self.remember(credential, principal.clone());
        }
        Ok(found)
    }

    fn recall(&self, credential: Credential) -> Option<Principal> {
        let known = self.known.lock().ok()?;
        let (principal, at) = known.get(&credential)?;
        (at.elapsed() < REMEMBERED).then(|| principal.clone())
    }

    fn remember(&self, credential: Credential, principal: Principal) {
        let Ok(mut known) = self.known.lock() else {
            return;
        };
        if known.len() >= REMEMBERED_MAX {
            known.retain(|_, (_, at)| at.elapsed() < REMEMBERED);
        }
        if known.len() < REMEMBERED_MAX {
            known.insert(credential, (principal, Instant::now()));
        }
    }

    /// People or tokens have changed on this server: remembered answers are dropped, and open streams are checked at once.
    pub fn forget(&self) {
        if let Ok(mut known) = self.known.lock() {
            known.clear();
        }
        self.open.ask();
    }
}

/// The bearer token in the headers.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The session in the cookies.
fn session(headers: &HeaderMap, cookie: &str) -> Option<Credential> {
    headers
        .get_all(header::COOKIE)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == cookie)
        .map(|(_, secret)| Credential::new(Caller::Person, secret))
}
