//! The table `audit`.

use serde_json::Value;

use crate::{
    domain::{
        Hash, RunId, Time,
        nouns::audit::{AuditEntry, AuditKind},
    },
    store::{Error, bulk::Bulk, engine::Row, table::table},
};

table! {
    /// An entry of the audit trail as it is stored; its hash, the newest link of the chain, stands where other tables have
    /// their seal.
    pub struct AuditRow in audit by (id), listed by audit_columns, chained;

    since 6 {
        id: i64,                    once;
        at: Time,                   once;
        kind: AuditKind,            once;
        actor: String,              once;
        action: String,             once;
        run: Option<RunId>,         once;
        step: Option<i64>,          once;
        reason: Option<String>,     once;
        detail: Value,              once;
    }
}
pub(in crate::store) use audit_columns;

pub static INSERT: Bulk = Bulk::insert(&TABLE, &[]);

impl AuditRow {
    /// An entry and its hash.
    pub fn read(row: &mut Row) -> Result<(AuditEntry, Hash), Error> {
        Ok((Self::fields(row)?.into(), row.hash()?))
    }
}

impl From<AuditEntry> for AuditRow {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry {
            id,
            at,
            kind,
            actor,
            action,
            run,
            step,
            reason,
            detail,
        } = entry;
        Self {
            id,
            at,
            kind,
            actor,
            action,
            run,
            step,
            reason,
            detail,
        }
    }
}

impl From<AuditRow> for AuditEntry {
    fn from(row: AuditRow) -> Self {
        let AuditRow {
            id,
            at,
            kind,
            actor,
            action,
            run,
            step,
            reason,
            detail,
        } = row;
        Self {
            id,
            at,
            kind,
            actor,
            action,
            run,
            step,
            reason,
            detail,
        }
    }
}
