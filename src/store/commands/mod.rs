//! What agents and operators do to the store, one file per action. Each decides first and writes then.

mod begin;
mod claim;
mod commit;
mod create;
mod decide;
mod fail;
mod finish;
mod granted;
mod heartbeat;
mod lease;
mod new_state;
mod once;
mod packed;
mod progress;
mod reap;
mod reference;
mod release;
mod reopen;
mod save_state;
mod sightings;
mod tagged;
mod tick;

pub use begin::Begin;
pub use claim::{Claim, oldest};
pub use commit::Commit;
pub use create::{Create, Created};
pub use decide::{Decided, Decision};
pub use fail::Fail;
pub use finish::Finish;
pub use granted::Granted;
pub use heartbeat::Beat;
pub use lease::Lease;
pub use once::{Key, Once, Repeatable};
pub use progress::RecordProgress;
pub use reap::Reap;
pub use release::Release;
pub use save_state::Save;
pub use sightings::{RecordSightings, Seen, Sighting, Who};
pub use tick::{Grace, Tick};

use super::{error::Error, rows::RunRow, tx::Tx};
use crate::domain::{Epoch, Problem, RunId};

/// Bytes from which on a command has a transaction of its own.
const HEAVY: usize = 256 << 10;

/// The run, if this epoch holds its lease; the write that follows renews it.
async fn holding(tx: &mut Tx, run: &RunId, epoch: Epoch) -> Result<RunRow, Error> {
    let run = tx.run(run).await?;
    match holds(&run, epoch) {
        true => Ok(run),
        false => Err(Problem::lease_lost().into()),
    }
}

fn holds(run: &RunRow, epoch: Epoch) -> bool {
    run.expires_at.is_some() && run.epoch == epoch
}

/// Every accepted write renews the lease.
fn renew(tx: &Tx, run: &mut RunRow) {
    run.expires_at = Some(tx.now.plus_ms(run.ttl_ms));
    run.heartbeat_at = Some(tx.now);
    run.updated_at = tx.now;
}
