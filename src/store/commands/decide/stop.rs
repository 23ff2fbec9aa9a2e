//! Pause and cancel: requests while a worker holds the run; without one they take effect at once.

use super::Decision;
use crate::{
    domain::{DecisionKind, RunStatus, Signal},
    store::{lease_end, rows::RunRow, tx::Tx},
};

impl Decision {
    pub(super) fn stop(&self, tx: &mut Tx, run: &mut RunRow) {
        let (signal, status) = match self.body.kind {
            DecisionKind::Cancel => (Signal::Cancel, RunStatus::Cancelled),
            _ => (Signal::Pause, RunStatus::Paused),
        };
        if run.expires_at.is_some() {
            // A cancel stands: a later pause does not weaken it.
            if run.signal != Some(Signal::Cancel) {
                run.signal = Some(signal);
            }
            return;
        }
        run.signal = None;
        if status == RunStatus::Cancelled {
            run.finished_at = Some(tx.now);
        }
        lease_end::become_status(tx, run, status);
    }
}
