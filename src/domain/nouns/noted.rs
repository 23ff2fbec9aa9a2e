//! The head of a chain that somebody noted down elsewhere, and whether the chain still has it.

use serde::{Deserialize, Serialize};

use crate::domain::tree::hash::Hash;

/// The two chains of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chain {
    Events,
    Audit,
}

/// A head as `step47 verify` prints it: NUMBER:HASH, or HASH alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    pub number: Option<i64>,
    pub head: Hash,
}

impl std::str::FromStr for Noted {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "a head is NUMBER:HASH, as `step47 verify` prints it, or HASH alone";
        let text = text.trim();
        let (number, hash) = match text.split_once(':') {
            Some((number, hash)) => (Some(number.trim().parse().map_err(|_| wrong)?), hash.trim()),
            None => (None, text),
        };
        let head = hash.parse().map_err(|_| wrong)?;
        Ok(Self { number, head })
    }
}

/// What came of comparing a noted head with its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Compared {
    /// The chain has it at this entry, or event.
    Has {
        entry: i64,
    },
    Lacks,
    /// The chain itself does not hold at this entry, which comes before the head or is it.
    Broken {
        entry: i64,
    },
}

impl Compared {
    pub fn good(self) -> bool {
        matches!(self, Self::Has { .. })
    }

    pub fn in_words(self, chain: Chain) -> String {
        match (self, chain) {
            (Self::Has { entry }, Chain::Audit) => format!(
                "The chain contains it at entry {entry}: nothing up to there was cut or rewritten."
            ),
            // Events are many: what holds each of them against its hash is a verification of everything.
            (Self::Has { entry: event }, Chain::Events) => format!(
                "The chain contains it at event {event}: it was not cut before there. “Verify everything” checks each event."
            ),
            (Self::Lacks, Chain::Audit) => {
                "The chain does not contain it: entries were cut or rewritten, or it is another store's head."
                    .into()
            }
            (Self::Lacks, Chain::Events) => {
                "The chain does not contain it: events were cut or rewritten, or it is another store's head."
                    .into()
            }
            (Self::Broken { entry }, _) => format!(
                "The chain contains it, but entry {entry} does not match the entry before it: entries were rewritten."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_is_printed() {
        let hash = Hash::of(&serde_json::json!(1)).to_string();
        let alone: Noted = format!(" {hash}\n").parse().unwrap();
        assert_eq!(alone.number, None);
        let both: Noted = format!("12:{hash}").parse().unwrap();
        assert_eq!((both.number, both.head), (Some(12), alone.head));
        for wrong in ["", "12", "x:1", &hash[1..], &format!("x:{hash}")] {
            assert!(wrong.parse::<Noted>().is_err(), "{wrong}");
        }
    }
}
