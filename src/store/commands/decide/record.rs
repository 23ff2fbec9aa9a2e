//! A decision as it is kept: its row, its event, its entry in the audit trail; and who was first where two collide.

use serde_json::json;
use std::sync::LazyLock;

use super::Decision;
use crate::{
    domain::{
        Code, DecisionKind, EventKind, Problem, RunId,
        nouns::audit::{AuditEntry, AuditKind},
        rules::{decision, plan::LeftBehind},
        views::run_words::decided_what,
    },
    store::{
        Error, audit, decisions,
        engine::params,
        listed_words::listed,
        rows::{RunRow, decision::DecisionRow},
        table::Declared as _,
        tx::Tx,
        undone,
    },
};

/// The first decision since a version that made a newer one.
static FIRST_SINCE: LazyLock<String> = LazyLock::new(|| {
    let others = listed(DecisionKind::ALL, |it| !it.moves_version());
    format!("WHERE run = $1 AND version >= $2 AND kind NOT IN ({others}) ORDER BY id LIMIT 1")
});
static NEWEST_ABOUT_STEP: LazyLock<String> = LazyLock::new(|| {
    let kinds = listed(DecisionKind::ALL, DecisionKind::settles_step);
    format!("WHERE run = $1 AND step = $2 AND kind IN ({kinds}) ORDER BY id DESC LIMIT 1")
});

/// What a decision made.
#[derive(Default)]
pub struct Made {
    pub snapshot: Option<i64>,
    pub new_run: Option<RunId>,
    /// The steps that were rewound past: from, to.
    pub rewound: Option<(i64, i64)>,
}

impl Decision {
    /// Refused if the run is no longer as it was when this was decided.
    pub(super) async fn current(&self, tx: &mut Tx, run: &RunRow) -> Result<(), Error> {
        let kind = self.body.kind;
        match self.body.if_version {
            None if kind.needs_version() => {
                Err(Problem::invalid("if_version", "name the run version this is based on").into())
            }
            Some(version) if version != run.version => {
                Err(self.outdated(tx, run, version).await?.into())
            }
            _ => Ok(()),
        }
    }

    pub(super) async fn record(
        &self,
        tx: &mut Tx,
        run: &RunRow,
        version: i64,
        at: Option<i64>,
        made: Made,
    ) -> Result<decision::Decision, Error> {
        let body = &self.body;
        let unknown = self.leaves_unknown(tx, run).await?;
        let id = tx.next_event();
        // An edit names no step: it is recorded at the step where the run was.
        let step = match body.kind {
            DecisionKind::Edit => body.step.or(at),
            _ => body.step,
        };
        let edit = self.vetted.edit.as_ref();
        let bare = decision::Decision {
            reason: body.reason.clone(),
            step,
            at: tx.now,
            snapshot: made.snapshot,
            new_run: made.new_run,
            change: edit.and_then(|edit| edit.change.clone()),
            ..decision::Decision::bare(id, body.kind, self.author.name.clone(), version)
        };
        let decision = bare.saying(body);
        let mut data = json!(decision);
        if let Some((from, to)) = made.rewound {
            data["rewound"] = json!([from, to]);
        }
        let begun = step.filter(|step| *step <= run.steps);
        tx.emit(&run.id, begun, EventKind::Decision, data);
        let row = DecisionRow {
            id,
            run: run.id.clone(),
            kind: decision.kind,
            author: decision.author.clone(),
            reason: decision.reason.clone(),
            step: decision.step,
            version,
            body: self.vetted.kept.clone(),
            at: decision.at,
            snapshot: decision.snapshot,
            new_run: decision.new_run.clone(),
        };
        row.insert(tx.conn()).await?;
        let mine = "INSERT INTO decided (author, ord) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.conn()
            .execute(mine, params![self.author.name.as_str(), run.ord])
            .await?;
        self.audit(tx, run, &decision, &unknown);
        tracing::info!(run = %run.id, kind = body.kind.as_str(), author = self.author.name, "decided");
        Ok(decision)
    }

    /// Effects of which nobody knows whether they happened, where the decision leaves it so.
    async fn leaves_unknown(&self, tx: &mut Tx, run: &RunRow) -> Result<Vec<LeftBehind>, Error> {
        let now = tx.now;
        match self.body.kind.leaves_unknown() {
            true => undone::unknown(tx.conn(), run, now).await,
            false => Ok(Vec::new()),
        }
    }

    fn audit(
        &self,
        tx: &mut Tx,
        run: &RunRow,
        decision: &decision::Decision,
        unknown: &[LeftBehind],
    ) {
        let mut detail = json!({
            "decision": decision.id, "version": decision.version, "snapshot": decision.snapshot,
            "new_run": decision.new_run, "body": self.vetted.body,
        });
        if !unknown.is_empty() {
            detail["unknown"] = json!(unknown);
        }
        // What was decided, so that the trail can be read without the store that it is about.
        let said = json!(decision);
        for name in ["chosen", "change", "again", "plan", "text"] {
            if let Some(value) = said.get(name) {
                detail[name] = value.clone();
            }
        }
        tx.audit(AuditEntry {
            run: Some(run.id.clone()),
            step: decision.step,
            reason: self.body.reason.clone(),
            ..audit::by(
                &self.author,
                AuditKind::Decision,
                self.body.kind.as_str(),
                detail,
            )
        });
    }

    /// Refuses with who decided before, and when.
    async fn outdated(&self, tx: &mut Tx, run: &RunRow, version: i64) -> Result<Problem, Error> {
        let params = params![run.id.as_str(), version];
        let made = decisions::some(tx.conn(), FIRST_SINCE.as_str(), params).await?;
        let first = made.first();
        let detail = match first {
            Some(it) => format!(
                "already decided by {} at {}: {}",
                it.author,
                it.at,
                decided_what(it)
            ),
            None => format!("the run changed: version {} is current", run.version),
        };
        let problem =
            Problem::new(Code::VersionConflict, detail).with("current_version", run.version);
        Ok(who_was_first(problem, first))
    }

    /// What was refused because of what the step is by now, with who settled it before, where somebody did.
    pub(super) async fn beaten(
        &self,
        tx: &mut Tx,
        run: &RunRow,
        mut problem: Problem,
    ) -> Result<Problem, Error> {
        let settles = self.body.kind.settles_step();
        let Some(step) = self.body.step.filter(|_| settles) else {
            return Ok(problem);
        };
        let params = params![run.id.as_str(), step];
        let made = decisions::some(tx.conn(), NEWEST_ABOUT_STEP.as_str(), params).await?;
        let Some(first) = made.first() else {
            return Ok(problem);
        };
        let what = decided_what(first);
        problem.detail = format!(
            "{}; {} {what} at {}",
            problem.detail, first.author, first.at
        );
        Ok(who_was_first(problem, Some(first)))
    }
}

/// The refusal with who decided before, when, and what. The first three fields are there also where nobody did.
fn who_was_first(problem: Problem, first: Option<&decision::Decision>) -> Problem {
    let problem = problem
        .with("decided_by", first.map(|it| &it.author))
        .with("decided_at", first.map(|it| it.at))
        .with("decided_kind", first.map(|it| it.kind));
    match first {
        Some(first) => problem.with("decided_what", decided_what(first)),
        None => problem,
    }
}
