//! Heads that were noted down elsewhere, looked for in their chain. If entries and the counter were both cut back, only a
//! head that was kept elsewhere shows it.

use super::{Error, Store};
use crate::domain::{
    Problem,
    nouns::noted::{Chain, Compared, Noted},
};

impl Store {
    /// The number at which the chain has this head, if it has it.
    pub async fn noted_at(&self, chain: Chain, noted: Noted) -> Result<Option<i64>, Error> {
        let Noted { number, head } = noted;
        let Some(number) = number else {
            return match chain {
                Chain::Events => self.event_of(head).await,
                Chain::Audit => self.audit_entry_of(head).await,
            };
        };
        let there = match chain {
            Chain::Events => self.head_at(number).await?,
            Chain::Audit => self.audit_head_at(number).await?,
        };
        Ok(Some(number).filter(|_| there == Some(head)))
    }

    /// Whether the chain has this head. The audit trail is also held against its hashes up to there; events are many, and
    /// a verification of everything does that.
    pub async fn compare_head(&self, chain: Chain, noted: Noted) -> Result<Compared, Problem> {
        let found = self.noted_at(chain, noted).await;
        let Some(entry) = found.map_err(Error::problem)? else {
            return Ok(Compared::Lacks);
        };
        let broken = match chain {
            Chain::Audit => self.verify_audit().await?.damaged,
            Chain::Events => None,
        };
        Ok(match broken.filter(|it| *it <= entry) {
            Some(entry) => Compared::Broken { entry },
            None => Compared::Has { entry },
        })
    }
}
