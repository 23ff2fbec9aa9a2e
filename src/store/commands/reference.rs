//! What steps rely on outside: registered at every begin, also of a step that is replayed.

use crate::{
    domain::Reference,
    store::{
        Error,
        engine::params,
        rows::{
            RunRow,
            reference::{RefRow, TABLE},
        },
        table::Declared as _,
        tx::Tx,
    },
};

/// The first registration says how it looked; each later one says whether it still does.
pub async fn register(tx: &mut Tx, run: &RunRow, refs: &[Reference]) -> Result<(), Error> {
    let (now, id, epoch) = (tx.now, run.id.as_str(), run.epoch.0);
    let worker = run.worker.as_deref().unwrap_or_default();
    for Reference { uri, hash } in refs {
        let (uri, hash) = (uri.as_str(), hash.as_str());
        let again = vec![
            ("hash", hash.into()),
            ("epoch", epoch.into()),
            ("checked_at", now.into()),
            ("checked_by", worker.into()),
        ];
        if !TABLE.amend(tx.conn(), params![id, uri], again).await? {
            let first = RefRow {
                run: run.id.clone(),
                uri: uri.to_owned(),
                was: hash.to_owned(),
                hash: hash.to_owned(),
                first: run.epoch,
                epoch: run.epoch,
                checked_at: now,
                checked_by: worker.to_owned(),
            };
            first.insert(tx.conn()).await?;
        }
    }
    Ok(())
}
