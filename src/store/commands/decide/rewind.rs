//! Rewind to before a step: later steps are superseded, the state is the one it began from. Nothing outside is undone.

use super::{Decision, Edited, refused, unknown};
use crate::{
    domain::{
        DecisionKind, Problem, RunStatus, StepStatus,
        rules::{decision::allowed, plan::LeftBehind},
    },
    store::{
        Error,
        engine::{Connection, params},
        lease_end,
        plan::{beyond, effects_from},
        rows::{Announcements, AttemptRow, RunRow, StepRow, tag::TagRow},
        tx::Tx,
    },
};

pub struct Rewind {
    pub to: i64,
    pub edited: Edited,
    /// Tags of what is left behind, by their numbers.
    tags: Vec<i64>,
    /// What is superseded.
    steps: Vec<StepRow>,
}

impl Rewind {
    pub async fn checked(tx: &mut Tx, run: &RunRow, decision: &Decision) -> Result<Self, Error> {
        let body = &decision.body;
        let to = body.step.unwrap_or_default();
        counts(tx.conn(), run, to).await?;
        // A damaged step is not rewound past: that would seal it anew, and its effect may not be named.
        let steps = StepRow::between(tx.conn(), &run.id, to, run.steps).await?;
        let steps = steps
            .into_iter()
            .map(StepRow::undamaged)
            .collect::<Result<Vec<_>, _>>()?;
        let now = tx.now;
        named(effects_from(tx.conn(), run, to, now).await?, &body.again)?;
        let base = base(tx.conn(), run, to).await?;
        let edited = match &decision.vetted.back {
            Some(Ok(back)) => Edited::back(tx, run, base, back)?,
            Some(Err(problem)) => return Err(problem.clone().into()),
            None => {
                // No state was made before the transaction: reading it here names the damage.
                let held = tx.state(run).await?;
                tx.hold(&run.id, held);
                return Err(Error::Outdated);
            }
        };
        Ok(Self {
            to,
            edited,
            tags: TagRow::left_behind(tx.conn(), &run.id, (base, to)).await?,
            steps,
        })
    }

    pub async fn carry_out(self, tx: &mut Tx, run: &mut RunRow) -> Result<(), Error> {
        let id = run.id.clone();
        TagRow::hide(tx.conn(), &id, &self.tags).await?;
        self.edited.save(tx, run);
        let (busy_us, _) = beyond(tx.conn(), run, self.to).await?;
        run.busy_us = (run.busy_us - busy_us).max(0);
        let count =
            "SELECT COUNT(*) FROM steps WHERE run = $1 AND seq >= $2 AND status = 'committed'";
        let row = tx
            .conn()
            .fetch_one(count, params![id.as_str(), self.to])
            .await?;
        run.committed -= row.map(|mut row| row.int()).transpose()?.unwrap_or(0);
        for mut step in self.steps {
            (step.status, step.given) = (StepStatus::Superseded, false);
            step.update(tx.conn()).await?;
            run.became(&step);
        }
        run.announced += Announcements::open_again(tx.conn(), &id, self.to).await?;
        match StepRow::last_before(tx.conn(), &id, self.to).await? {
            Some(last) => run.is_at(&last),
            None => (run.at, run.error_kind) = (None, None),
        }
        let open = StepRow::open(tx.conn(), &id).await?;
        run.effects_unknown = unknown(&open);
        let waits = open.iter().any(|step| step.status == StepStatus::Waiting);
        match run.status {
            RunStatus::Waiting if !waits => {
                lease_end::become_status(tx, run, RunStatus::Ready);
            }
            RunStatus::Done => {
                // It is not over any more, and an operator says when it goes on. Its result stays in its events.
                let sql = "UPDATE runs SET result = NULL, error = NULL WHERE id = $1";
                tx.conn().execute(sql, params![id.as_str()]).await?;
                run.finished_at = None;
                lease_end::become_status(tx, run, RunStatus::Paused);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Refuses a number without a step, and a superseded step. A damaged step passes whatever its status was: a fork from before it
/// must stay possible.
pub async fn counts(conn: &mut dyn Connection, run: &RunRow, seq: i64) -> Result<(), Error> {
    if !(1..=run.steps).contains(&seq) {
        return Err(Problem::not_found(&format!("step: {} has none {seq}", run.id)).into());
    }
    let found = StepRow::between(conn, &run.id, seq, seq).await?;
    let past = |step: &StepRow| !step.damaged && step.status == StepStatus::Superseded;
    match found.iter().any(past) {
        true => {
            // What the run is was asked before; only the step stands in the way.
            let past = Some(StepStatus::Superseded);
            allowed(DecisionKind::Fork, run.status, false, past).map_err(refused)
        }
        false => Ok(()),
    }
}

/// Refuses unless every effect that is left behind was named in `again`.
pub fn named(left: Vec<LeftBehind>, again: &[i64]) -> Result<(), Error> {
    let missing: Vec<_> = left.iter().filter(|it| !again.contains(&it.seq)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let words = |it: &&LeftBehind| format!("{} {}, {}", it.seq, it.name, it.effect.target);
    let first: Vec<_> = missing.iter().take(10).map(words).collect();
    let why = format!(
        "not undone: {}; name each in `again` to let it happen again",
        first.join("; ")
    );
    let problem = Problem::new(crate::domain::Code::DecisionRefused, &why).with("why", &why);
    Err(problem.with("effects", &left).into())
}

/// The snapshot that was current when the step first began.
pub async fn base(conn: &mut dyn Connection, run: &RunRow, seq: i64) -> Result<i64, Error> {
    let first = AttemptRow::load(conn, &run.id, seq, 1).await?;
    let first = first.ok_or_else(|| Error::damaged("a step without its first attempt"))?;
    Ok(first.base)
}
