//! Places that are handed out until there are no more: in all, and for each holder, so that one of them never takes
//! everything. What is counted may be streams, waiting requests, connections, or bytes.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::domain::{Code, Problem, nouns::access::Principal};

/// How many there are, and how many of them one holder may have.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub all: usize,
    pub each: usize,
}

/// What a refusal says: what is counted, and the settings that bound it.
#[derive(Debug, Clone, Copy)]
pub struct Naming {
    pub what: &'static str,
    pub all: &'static str,
    pub each: &'static str,
}

/// Which of the two bounds was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    All,
    Each,
}

#[derive(Debug)]
pub struct Seats<K> {
    bounds: Bounds,
    naming: Naming,
    taken: Arc<Mutex<Taken<K>>>,
}

#[derive(Debug)]
struct Taken<K> {
    all: usize,
    /// Holders of at least one place; a holder of none has no entry.
    each: HashMap<K, usize>,
}

impl<K> Clone for Seats<K> {
    fn clone(&self) -> Self {
        Self {
            bounds: self.bounds,
            naming: self.naming,
            taken: self.taken.clone(),
        }
    }
}

impl<K: Hash + Eq + Clone> Seats<K> {
    pub fn new(bounds: Bounds, naming: Naming) -> Self {
        let taken = Taken {
            all: 0,
            each: HashMap::new(),
        };
        Self {
            bounds,
            naming,
            taken: Arc::new(Mutex::new(taken)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken<K>> {
        self.taken.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.lock().all
    }

    /// One place, until it is dropped.
    pub fn take(&self, holder: K) -> Result<Seat<K>, Full> {
        let mut seat = self.none(holder);
        seat.more(1)?;
        Ok(seat)
    }

    /// No place yet: the holder asks for more as it needs them.
    pub fn none(&self, holder: K) -> Seat<K> {
        Seat {
            seats: self.clone(),
            holder,
            held: 0,
        }
    }

    fn problem(&self, full: Full) -> Problem {
        let Naming { what, all, each } = self.naming;
        let (limit, detail) = match full {
            Full::All => (
                self.bounds.all,
                format!("this server has no room for more {what} ({all}): try again"),
            ),
            Full::Each => (
                self.bounds.each,
                format!(
                    "you have reached your limit of {what} ({each}): wait until some have ended, then try again"
                ),
            ),
        };
        Problem::new(Code::Busy, format!("{detail}; the limit is {limit}")).with("limit", limit)
    }
}

impl Seats<String> {
    /// One place for a person or token.
    pub fn seat(&self, who: Option<&Principal>) -> Result<Seat<String>, Problem> {
        self.take(identity(who)).map_err(|full| self.problem(full))
    }
}

/// Whom places are counted for: a person or a token, by name.
pub fn identity(who: Option<&Principal>) -> String {
    who.map_or_else(String::new, |who| format!("{} {}", who.kind, who.name))
}

/// Places that are given back when this is dropped.
#[derive(Debug)]
pub struct Seat<K: Hash + Eq + Clone> {
    seats: Seats<K>,
    holder: K,
    held: usize,
}

impl<K: Hash + Eq + Clone> Seat<K> {
    /// Takes this many more, or none.
    pub fn more(&mut self, wanted: usize) -> Result<(), Full> {
        let Bounds { all, each } = self.seats.bounds;
        let mut taken = self.seats.lock();
        let own = taken.each.get(&self.holder).copied().unwrap_or(0);
        if own + wanted > each {
            return Err(Full::Each);
        }
        if taken.all + wanted > all {
            return Err(Full::All);
        }
        taken.all += wanted;
        match taken.each.get_mut(&self.holder) {
            Some(own) => *own += wanted,
            None => {
                taken.each.insert(self.holder.clone(), wanted);
            }
        }
        drop(taken);
        self.held += wanted;
        Ok(())
    }

    /// Why it got no more, as the holder reads it.
    pub fn problem(&self, full: Full) -> Problem {
        self.seats.problem(full)
    }

    /// Gives all of them back.
    pub fn give_back(&mut self) {
        if self.held == 0 {
            return;
        }
        let mut taken = self.seats.lock();
        taken.all = taken.all.saturating_sub(self.held);
        if let Some(own) = taken.each.get_mut(&self.holder) {
            *own = own.saturating_sub(self.held);
            if *own == 0 {
                taken.each.remove(&self.holder);
            }
        }
        drop(taken);
        self.held = 0;
    }
}

impl<K: Hash + Eq + Clone> Drop for Seat<K> {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(all: usize, each: usize) -> Seats<&'static str> {
        let naming = Naming {
            what: "pages",
            all: "pages_max",
            each: "pages_each",
        };
        Seats::new(Bounds { all, each }, naming)
    }

    #[test]
    fn one_holder_leaves_room_for_the_others() {
        let seats = seats(3, 2);
        let ana = [seats.take("ana").unwrap(), seats.take("ana").unwrap()];
        assert_eq!(seats.take("ana").unwrap_err(), Full::Each);
        let ben = seats.take("ben").unwrap();
        assert_eq!(seats.take("cem").unwrap_err(), Full::All);
        drop(ana);
        assert_eq!(seats.taken(), 1);
        drop(ben);
        assert!(seats.lock().each.is_empty(), "who left costs nothing");
    }

    #[test]
    fn a_refused_wish_takes_nothing() {
        let seats = seats(10, 8);
        let mut bytes = seats.none("ana");
        bytes.more(6).unwrap();
        assert_eq!(bytes.more(3), Err(Full::Each));
        assert_eq!(seats.taken(), 6);
        bytes.give_back();
        bytes.more(8).unwrap();
        drop(bytes);
        assert_eq!(seats.taken(), 0);
    }

    #[test]
    fn a_refusal_names_the_setting_and_its_value() {
        let problem = seats(3, 2).problem(Full::Each);
        assert_eq!(problem.code, Code::Busy);
        assert!(problem.detail.contains("pages_each"), "{problem}");
        assert_eq!(problem.fields["limit"], 2);
    }
}
