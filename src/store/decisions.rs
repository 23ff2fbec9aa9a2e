//! Decisions about one run: made by the one write path, and read newest first.

use std::sync::LazyLock;

use super::{
    Error, Store,
    commands::{Decided, Decision as Command, Key, Once},
    engine::{Connection, Param, params},
    listed_words::listed,
    rows::{StepRow, decision::DecisionRow},
    seal,
    snapshots::{StateAt, stored},
    table::Declared as _,
};
use crate::domain::{
    DecisionKind, Principal, Problem, RunId,
    rules::decision::{Decision, DecisionPage, NamedStep},
    wire::protocol::{Decide, DecideAnswer},
};

impl Store {
    pub async fn decide(
        &self,
        run: RunId,
        author: Principal,
        body: Decide,
    ) -> Result<DecideAnswer, Problem> {
        self.decide_once(run, author, body, None).await
    }

    /// The same, recognised when it is sent again: an answer that got lost can be asked for. A refusal goes to the audit
    /// trail.
    pub async fn decide_once(
        &self,
        run: RunId,
        author: Principal,
        body: Decide,
        key: Option<Key>,
    ) -> Result<DecideAnswer, Problem> {
        let (kind, step) = (body.kind, body.step);
        let command = Command::new(run.clone(), author.clone(), body);
        let command = Once::new(command, key);
        let decided = self.write(command).await.map_err(Error::problem);
        if let Err(problem) = &decided {
            self.refused_decision(&author, &run, kind, step, problem)
                .await;
        }
        let Decided { run, decision } = decided?;
        let run = run.into();
        Ok(DecideAnswer { run, decision })
    }

    pub async fn decisions(
        &self,
        run: &RunId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<DecisionPage, Problem> {
        let read = async {
            let (mut conn, _) = self.find(run).await?;
            let params = params![run.as_str(), before.unwrap_or(i64::MAX), limit + 1];
            let newest = "WHERE run = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
            let mut decisions = some(&mut *conn, newest, params).await?;
            let more = decisions.len() as i64 > limit;
            decisions.truncate(limit as usize);
            let next = decisions.last().filter(|_| more).map(|it| it.id);
            Ok(DecisionPage { decisions, next })
        };
        read.await.map_err(Error::problem)
    }
}

/// Those that may be about one step; whether they are is asked of each.
static ABOUT: LazyLock<String> = LazyLock::new(|| {
    let others = listed(DecisionKind::ALL, DecisionKind::reaches_other_steps);
    format!("WHERE run = $1 AND (step = $2 OR kind IN ({others})) ORDER BY id DESC LIMIT $3")
});
/// Decisions of a run that are looked through for one step.
const ABOUT_MAX: i64 = 500;
/// Effects that a rewind left behind and that are named.
const NAMED_MAX: usize = 20;

/// What was decided about one step, newest first: about itself, by a resume, or by a rewind past it.
pub(super) async fn about(
    conn: &mut dyn Connection,
    run: &RunId,
    step: &StepRow,
) -> Result<Vec<Decision>, Error> {
    let found = some(
        conn,
        ABOUT.as_str(),
        params![run.as_str(), step.seq, ABOUT_MAX],
    )
    .await?;
    let about = |it: &Decision| it.is_about(step.seq, step.begun_at);
    let mut about: Vec<_> = found.into_iter().filter(about).collect();
    for decision in &mut about {
        for seq in decision.again.iter().take(NAMED_MAX) {
            let named = StepRow::between(conn, run, *seq, *seq).await?;
            let named = named.into_iter().filter(|it| !it.damaged);
            decision.effects.extend(named.map(|it| NamedStep {
                step: it.seq,
                name: it.name,
            }));
        }
    }
    Ok(about)
}

/// The decisions that the rest of the statement chooses.
pub(super) async fn some(
    conn: &mut dyn Connection,
    rest: &'static str,
    params: Vec<Param>,
) -> Result<Vec<Decision>, Error> {
    let rows = DecisionRow::select(conn, rest, params).await?;
    rows.into_iter().map(decision).collect()
}

/// Decisions that made a state. They are looked for by the index of edits and by that of all decisions, for if a damaged one
/// forgets a row, an older state must not pass for the one that counts.
#[derive(Clone, Copy)]
pub(super) enum Edits {
    Oldest,
    Newest,
}

macro_rules! edits {
    ($order:literal) => {
        concat!(
            "WHERE id IN (SELECT id FROM decisions WHERE run = $1 AND snapshot >= $2 \
             UNION SELECT id FROM decisions WHERE run = $1 AND COALESCE(snapshot, -1) >= $2) ORDER BY ",
            $order,
            " LIMIT $3"
        )
    };
}

impl Edits {
    /// Those that made the state `from` or one after it.
    pub async fn of(
        self,
        conn: &mut dyn Connection,
        run: &RunId,
        from: i64,
        limit: i64,
    ) -> Result<Vec<Decision>, Error> {
        let chosen = match self {
            Self::Oldest => edits!("id"),
            Self::Newest => edits!("id DESC"),
        };
        some(conn, chosen, params![run.as_str(), from, limit]).await
    }
}

/// Whether a decision made this state: both are written in one transaction, at one time.
pub(super) async fn made(
    conn: &mut dyn Connection,
    run: &RunId,
    state: &StateAt,
) -> Result<bool, Error> {
    let owner = stored::owner(conn, run, state.snapshot).await?;
    let first = Edits::Oldest.of(conn, &owner, state.snapshot, 1).await?;
    Ok(first.iter().any(|it| it.at == state.created_at))
}

/// The same for a picture of them, without damaged ones.
pub(super) async fn shown(
    conn: &mut dyn Connection,
    rest: &'static str,
    params: Vec<Param>,
) -> Result<Vec<Decision>, Error> {
    let rows = DecisionRow::sound_ones(conn, rest, params).await?;
    rows.into_iter().map(decision).collect()
}

fn decision(row: DecisionRow) -> Result<Decision, Error> {
    let body: Decide = seal::open(&row.body)?;
    let bare = Decision {
        reason: row.reason,
        step: row.step,
        at: row.at,
        snapshot: row.snapshot,
        new_run: row.new_run,
        ..Decision::bare(row.id, row.kind, row.author, row.version)
    };
    Ok(bare.saying(&body))
}
