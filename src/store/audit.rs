//! The audit trail: what is added to it beside decisions, and how it is read: by keyset, each entry vouched for by
//! the chain.

mod bounds;
mod repeats;

use async_trait::async_trait;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use self::bounds::bounded;
pub use self::repeats::Repeats;

use super::{
    Command, Error, Store,
    engine::{Connection, Param, Row, params},
    rows::audited::{AuditRow, audit_columns},
    tx::Tx,
};
use crate::domain::{
    Code, Hash, Principal, Problem, RunId, Time,
    nouns::audit::{AuditEntry, AuditKind, AuditPage, AuditQuery, AuditVerified},
    rules::decision::DecisionKind,
};

/// Rows read for one page at most: a filter that fits little says where to go on.
const BUDGET: i64 = 2_000;
const STRIDE: i64 = 200;
/// How often is looked for counts whose minute is over.
const COUNT_EVERY: Duration = Duration::from_secs(5);

/// Entries, each with the hash of the one before it: the link between them can be checked.
macro_rules! entries {
    ($filter:literal) => {
        concat!(
            "SELECT ",
            audit_columns!(),
            ", (SELECT p.hash FROM audit p WHERE p.id = audit.id - 1) FROM audit WHERE ",
            $filter
        )
    };
}

pub(super) const ALL: &str = entries!("id < $1 ORDER BY id DESC LIMIT $2");
pub(super) const BY_KIND: &str = entries!("kind = $3 AND id < $1 ORDER BY id DESC LIMIT $2");
pub(super) const BY_ACTOR: &str = entries!("actor = $3 AND id < $1 ORDER BY id DESC LIMIT $2");
pub(super) const BY_ACTION: &str = entries!("action = $3 AND id < $1 ORDER BY id DESC LIMIT $2");
pub(super) const BY_RUN: &str = entries!("run = $3 AND id < $1 ORDER BY id DESC LIMIT $2");
const ONWARD: &str = entries!("id > $1 ORDER BY id LIMIT $2");

/// An entry without number and time: the transaction gives them.
pub fn entry(kind: AuditKind, actor: &str, action: &str) -> AuditEntry {
    AuditEntry {
        id: 0,
        at: Time(0),
        kind,
        actor: actor.to_owned(),
        action: action.to_owned(),
        run: None,
        step: None,
        reason: None,
        detail: Value::Null,
    }
}

/// An entry about somebody who came in: whether person or token, with which role, and from where.
pub fn by(who: &Principal, kind: AuditKind, action: &str, detail: Value) -> AuditEntry {
    AuditEntry {
        detail: signed(who, detail),
        ..entry(kind, &who.name, action)
    }
}

/// The detail with who did it. A token is named by its id too: several may have one name.
pub fn signed(who: &Principal, mut detail: Value) -> Value {
    if !detail.is_object() {
        detail = json!({});
    }
    detail["who"] = json!({"kind": who.kind, "name": who.name, "role": who.role});
    if let Some(token) = &who.token {
        detail["who"]["token"] = json!(token);
    }
    if let Some(peer) = who.peer {
        detail["peer"] = json!(peer);
    }
    detail
}

/// An entry about what no caller did: the command line, the server itself. The names of people may be the same.
pub fn of(kind: AuditKind, actor: &str, action: &str, mut detail: Value) -> AuditEntry {
    detail["who"] = json!({"kind": actor});
    AuditEntry {
        detail,
        ..entry(kind, actor, action)
    }
}

/// Adds one entry by itself.
struct Append(AuditEntry);

#[async_trait]
impl Command for Append {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        tx.audit(self.0.clone());
        Ok(())
    }
}

impl Store {
    pub async fn append_audit(&self, entry: AuditEntry) -> Result<(), Error> {
        self.write(Append(entry)).await
    }

    /// Keeps what was done beside runs: who came in, who was let in. Trouble is logged, and stops nobody.
    pub async fn noted(&self, entry: AuditEntry) {
        let entry = bounded(entry);
        let (actor, action) = (entry.actor.clone(), entry.action.clone());
        if let Err(error) = self.append_audit(entry).await {
            tracing::warn!(%error, actor, action, "not in the audit trail");
        }
    }

    /// The same for what anybody can repeat at no cost, like a refusal: alike ones about the same are counted.
    pub async fn noted_or_counted(&self, about: &str, entry: AuditEntry) {
        let entry = bounded(entry);
        if let Some(first) = self.repeats.first(about, entry, Instant::now()) {
            self.noted(first).await;
        }
    }

    /// Writes down what was counted, minute by minute and once more at the end.
    pub async fn keep_counts(self, stop: CancellationToken) {
        loop {
            let wait = stop.run_until_cancelled(tokio::time::sleep(COUNT_EVERY));
            let end = wait.await.is_none();
            for entry in self.repeats.counted(Instant::now(), end) {
                self.noted(entry).await;
            }
            if end {
                return;
            }
        }
    }

    /// Entries after this one, oldest first, each with its hash: for an export.
    pub async fn audit_onward(
        &self,
        after: i64,
        limit: i64,
    ) -> Result<Vec<(AuditEntry, Hash)>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let rows = conn.fetch(ONWARD, params![after, limit]).await?;
            rows.into_iter()
                .map(|row| read(row).map(|(entry, hash, _)| (entry, hash)))
                .collect::<Result<Vec<_>, Error>>()
        };
        read.await.map_err(Error::problem)
    }

    /// A decision that was refused: who tried what, and why not.
    pub async fn refused_decision(
        &self,
        who: &Principal,
        run: &RunId,
        kind: DecisionKind,
        step: Option<i64>,
        problem: &Problem,
    ) {
        // Only a refused right or rule is an attempt: not a store in trouble, nor a run or step that does not exist.
        if matches!(problem.code, Code::NotFound | Code::Busy | Code::Internal) {
            return;
        }
        let detail = json!({"code": problem.code, "detail": problem.detail});
        let entry = AuditEntry {
            run: Some(run.clone()),
            step,
            ..by(who, AuditKind::Refused, kind.as_str(), detail)
        };
        let about = format!("{run} {}", problem.code.as_str());
        self.noted_or_counted(&about, entry).await;
    }

    /// Entries that fit, newest first.
    pub async fn audit(&self, query: &AuditQuery, limit: i64) -> Result<AuditPage, Problem> {
        self.read_audit(query, limit).await.map_err(Error::problem)
    }

    async fn read_audit(&self, query: &AuditQuery, limit: i64) -> Result<AuditPage, Error> {
        let mut conn = self.engine.read().await?;
        let (sql, value): (_, Option<Param>) = match query {
            AuditQuery { run: Some(run), .. } => (BY_RUN, Some(run.as_str().into())),
            AuditQuery {
                actor: Some(actor), ..
            } => (BY_ACTOR, Some(actor.as_str().into())),
            AuditQuery {
                action: Some(action),
                ..
            } => (BY_ACTION, Some(action.as_str().into())),
            AuditQuery {
                kind: Some(kind), ..
            } => (BY_KIND, Some(kind.as_str().into())),
            _ => (ALL, None),
        };
        let (mut entries, mut read) = (Vec::new(), 0);
        let mut before = query.before.unwrap_or(i64::MAX);
        loop {
            let mut params = params![before, STRIDE];
            params.extend(value.clone());
            let rows = conn.fetch(sql, params).await?;
            let end = (rows.len() as i64) < STRIDE;
            read += rows.len() as i64;
            for row in rows {
                let entry = vouched(row)?;
                if entries.len() as i64 == limit {
                    return Ok(AuditPage {
                        entries,
                        next: Some(before),
                    });
                }
                before = entry.id;
                if query.admits(&entry) {
                    entries.push(entry);
                }
            }
            if end || read >= BUDGET {
                return Ok(AuditPage {
                    entries,
                    next: (!end).then_some(before),
                });
            }
        }
    }

    /// The head of the chain at this entry.
    pub async fn audit_head_at(&self, entry: i64) -> Result<Option<Hash>, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT hash FROM audit WHERE id = $1";
        let row = conn.fetch_one(sql, params![entry]).await?;
        row.map(|mut row| row.hash()).transpose()
    }

    /// The entry that has this head, if any; nothing indexes heads.
    pub async fn audit_entry_of(&self, head: Hash) -> Result<Option<i64>, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT id FROM audit WHERE hash = $1 LIMIT 1";
        let row = conn.fetch_one(sql, params![head]).await?;
        row.map(|mut row| row.int()).transpose()
    }

    /// Looks at the whole chain, entry by entry.
    pub async fn verify_audit(&self) -> Result<AuditVerified, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let sql = "SELECT audit, audit_head FROM counter WHERE id = 1";
            let row = conn.fetch_one(sql, params![]).await?;
            let mut row = row.ok_or_else(|| Error::damaged("the counter row is missing"))?;
            let (last, head) = (row.int()?, row.hash()?);
            verify(&mut *conn, last, head).await
        };
        read.await.map_err(Error::problem)
    }
}

async fn verify(conn: &mut dyn Connection, last: i64, head: Hash) -> Result<AuditVerified, Error> {
    let mut good = AuditVerified {
        entry: 0,
        head: Hash::default(),
        damaged: None,
    };
    while good.entry < last {
        let rows = conn.fetch(ONWARD, params![good.entry, STRIDE]).await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            let next = good.entry + 1;
            match read(row) {
                Ok((entry, hash, _)) if entry.id == next && entry.link(good.head) == hash => {
                    (good.entry, good.head) = (next, hash);
                }
                _ => {
                    good.damaged = Some(next);
                    return Ok(good);
                }
            }
            if good.entry == last {
                break;
            }
        }
    }
    // The counter's head finds entries that were cut off at the end, and entries that were put behind it.
    if (good.entry, good.head) != (last, head) {
        good.damaged = Some(good.entry + i64::from(good.entry < last));
    } else {
        let beyond =
            "SELECT MIN(id) FROM audit WHERE id > (SELECT audit FROM counter WHERE id = 1)";
        let row = conn.fetch_one(beyond, params![]).await?;
        good.damaged = row.map(|mut row| row.opt_int()).transpose()?.flatten();
    }
    Ok(good)
}

fn read(mut row: Row) -> Result<(AuditEntry, Hash, Option<Hash>), Error> {
    let (entry, hash) = AuditRow::read(&mut row)?;
    Ok((entry, hash, row.opt_hash()?))
}

/// An entry that its hash vouches for.
fn vouched(row: Row) -> Result<AuditEntry, Error> {
    let (entry, hash, before) = read(row)?;
    match entry.link(before.unwrap_or_default()) == hash {
        true => Ok(entry),
        false => Err(Error::damaged(format!(
            "entry {} of the audit trail, or the one before it",
            entry.id
        ))),
    }
}
