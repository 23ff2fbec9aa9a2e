//! A worker takes a run that has ended or waits, for the next turn of what it does.

use serde_json::json;

use crate::{
    domain::{EventKind, RunStatus},
    store::{Error, engine::params, rows::RunRow, tx::Tx},
};

/// Cancelled stays cancelled, and where an effect is unknown an operator decides first.
pub fn may(run: &RunRow) -> bool {
    let rests = matches!(
        run.status,
        RunStatus::Done | RunStatus::Failed | RunStatus::Waiting
    );
    rests && !run.effects_unknown
}

/// The run is not over any more; the caller hands it out and saves it.
pub async fn reopen(tx: &mut Tx, run: &mut RunRow) -> Result<(), Error> {
    let data = json!({"was": run.status});
    tx.emit(&run.id, None, EventKind::RunReopened, data);
    if run.status != RunStatus::Waiting {
        // The result and error of the turn before stay in its events.
        let sql = "UPDATE runs SET result = NULL, error = NULL WHERE id = $1";
        tx.conn().execute(sql, params![run.id.as_str()]).await?;
        (run.finished_at, run.recoveries) = (None, 0);
    }
    Ok(())
}
