//! What operators decide: checked against the run's version and the table of decisions first, then carried out and
//! recorded in one transaction. Nothing is overwritten: steps, attempts, snapshots and decisions only grow.

mod change;
mod fork;
mod gate;
mod record;
mod resume;
mod rewind;
mod settle;
mod stop;
mod vetted;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    HEAVY,
    once::Repeatable,
    packed::{Frames, PackedContent},
};
use crate::{
    domain::{
        Code, DecisionKind, Problem, RunId, RunStatus, StepStatus,
        nouns::access::Principal,
        rules::decision::{self, LOOKING_MS, Looking},
        wire::protocol::Decide,
    },
    store::{
        Error, Store, lease_end,
        rows::{Detail, RunContent, RunRow, StepRow},
        tx::Tx,
        undone::not_undone,
        writer::Command,
    },
};
use change::Edited;
use record::Made;
use settle::Settling;
pub(super) use settle::given_attempt;
use vetted::Vetted;

pub struct Decision {
    run: RunId,
    author: Principal,
    body: Decide,
    vetted: Vetted,
    packed: Option<PackedContent>,
}

/// What was decided, and the run after it: its fork, if it was forked.
#[derive(Serialize, Deserialize)]
pub struct Decided {
    pub run: Detail,
    pub decision: decision::Decision,
}

/// All of it but the run.
#[derive(Serialize)]
struct Beside<'a> {
    decision: &'a decision::Decision,
}

/// A decision that was checked in full; carrying it out refuses nothing more.
enum Order {
    Stop,
    Mark,
    Edit(Edited),
    Settle(Vec<Settling>, Option<Edited>),
    Resume(Vec<Settling>, Option<Edited>),
    SkipAnnounced(i64),
    Rewind(rewind::Rewind),
    Fork(fork::Fork),
}

#[async_trait]
impl Repeatable for Decision {
    async fn pack_ahead(&mut self, store: &Store) -> Result<(), Error> {
        let forks = self.body.kind == DecisionKind::Fork;
        let answered = |content: RunContent| match forks {
            true => in_fork(content),
            false => content,
        };
        self.packed = PackedContent::of_run(store, &self.run, answered).await?;
        Ok(())
    }

    fn pack(&self, answer: &Decided) -> Result<Option<Vec<u8>>, Error> {
        let mut frames = Frames::begin(&Beside {
            decision: &answer.decision,
        })?;
        frames.add_run(&answer.run, self.packed.as_ref())?;
        frames.add(b"}");
        frames.finish().map(Some)
    }
}

#[async_trait]
impl Command for Decision {
    type Answer = Decided;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        store.open_content(&self.run).await?;
        self.vet(store).await
    }

    fn heavy(&self) -> bool {
        // These write as many rows as the run has steps.
        let long = matches!(self.body.kind, DecisionKind::Fork | DecisionKind::Rewind);
        let packed = self.packed.as_ref();
        long || self.brings(HEAVY) || packed.is_some_and(PackedContent::is_heavy)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Decided, Error> {
        let run = tx.run(&self.run).await?;
        self.current(tx, &run).await?;
        let order = match self.checked(tx, &run).await {
            Err(Error::Refused(problem)) if problem.code == Code::DecisionRefused => {
                return Err(self.beaten(tx, &run, problem).await?.into());
            }
            checked => checked?,
        };
        self.carry_out(tx, run, order).await
    }
}

impl Decision {
    pub fn new(run: RunId, author: Principal, body: Decide) -> Self {
        Self {
            run,
            author,
            body,
            vetted: Vetted::default(),
            packed: None,
        }
    }

    async fn carry_out(
        &self,
        tx: &mut Tx,
        mut run: RunRow,
        order: Order,
    ) -> Result<Decided, Error> {
        let based_on = run.version;
        let at = run.at.as_ref().map(|at| at.seq);
        if self.body.kind.moves_version() {
            run.version += 1;
        }
        // The decision comes first in the run's history, what follows from it after.
        let decision = self
            .record(tx, &run, based_on, at, order.makes(&run))
            .await?;
        let mut fork = None;
        match order {
            Order::Stop => self.stop(tx, &mut run),
            Order::Mark => self.mark(tx, &mut run),
            Order::Edit(edited) => edited.save(tx, &mut run),
            Order::Settle(settling, edited) => {
                edited.into_iter().for_each(|it| it.save(tx, &mut run));
                self.settle(tx, &mut run, settling).await?;
                self.released_by_answer(tx, &mut run).await?;
            }
            Order::Resume(settling, edited) => {
                edited.into_iter().for_each(|it| it.save(tx, &mut run));
                self.settle(tx, &mut run, settling).await?;
                self.release(tx, &mut run).await?;
            }
            Order::SkipAnnounced(idx) => self.skip_announced(tx, &run, idx).await?,
            Order::Rewind(rewind) => rewind.carry_out(tx, &mut run).await?,
            Order::Fork(from) => {
                fork = Some(from.carry_out(tx, &run, self.forked_from()?).await?);
            }
        }
        run.updated_at = tx.now;
        tx.save(&run);
        let run = match fork {
            Some(fork) => {
                let content = in_fork(tx.content(&run).await?);
                fork.detail_of(tx.conn(), content).await?
            }
            None => tx.detail(&run).await?,
        };
        Ok(Decided { run, decision })
    }
}

impl Order {
    /// The snapshot, run or steps that the decision will have made, for its record.
    fn makes(&self, run: &RunRow) -> Made {
        let snapshot = match self {
            Self::Edit(edited) => Some(edited.snapshot()),
            Self::Settle(_, edited) | Self::Resume(_, edited) => {
                edited.as_ref().map(Edited::snapshot)
            }
            Self::Rewind(rewind) => Some(rewind.edited.snapshot()),
            _ => None,
        };
        Made {
            snapshot,
            new_run: match self {
                Self::Fork(fork) => Some(fork.id.clone()),
                _ => None,
            },
            rewound: match self {
                Self::Rewind(rewind) => Some((rewind.to, run.steps)),
                _ => None,
            },
        }
    }
}

/// What a fork holds of what its origin holds.
fn in_fork(content: RunContent) -> RunContent {
    RunContent {
        result: None,
        error: None,
        ..content
    }
}

fn refused(why: impl Into<String>) -> Error {
    let why = why.into();
    Problem::new(Code::DecisionRefused, &why)
        .with("why", &why)
        .into()
}

impl Decision {
    /// Everything that can be refused is refused here, before anything is written.
    async fn checked(&self, tx: &mut Tx, run: &RunRow) -> Result<Order, Error> {
        use DecisionKind::*;
        let live = run.expires_at.is_some();
        let body = &self.body;
        if body.kind.stands_on_run() {
            decision::allowed(body.kind, run.status, live, None).map_err(refused)?;
        }
        Ok(match body.kind {
            Pause | Cancel => Order::Stop,
            Note | Pin | Claim => Order::Mark,
            Acknowledge => {
                if let Err(why) = decision::allowed(Acknowledge, run.status, live, None) {
                    let now = tx.now;
                    let left = not_undone(tx.conn(), run, now).await?;
                    if left.is_empty() {
                        return Err(refused(why));
                    }
                }
                Order::Mark
            }
            Edit => {
                let edited = self.edited(tx, run).await?;
                Order::Edit(edited.ok_or_else(|| Problem::invalid("state", "edit needs it"))?)
            }
            Skip if body.step.is_some_and(|step| step > run.steps) => {
                decision::allowed(Skip, run.status, live, Some(StepStatus::Pending))
                    .map_err(refused)?;
                Order::SkipAnnounced(self.announced(tx, run).await?)
            }
            Retry | Commit | Skip | Approve | Reject | Answer => {
                let choice = body.choice(body.step.unwrap_or_default());
                let settling = self.settling(tx, run, &choice).await?;
                Order::Settle(vec![settling], self.edited(tx, run).await?)
            }
            Resume => self.resuming(tx, run).await?,
            Rewind => Order::Rewind(rewind::Rewind::checked(tx, run, self).await?),
            Fork => {
                let looked = self.forked_from()?;
                Order::Fork(fork::Fork::checked(tx, run, body, looked).await?)
            }
        })
    }

    /// Note, pin, claim, acknowledge: no step and no state changes.
    fn mark(&self, tx: &mut Tx, run: &mut RunRow) {
        match self.body.kind {
            DecisionKind::Claim => {
                run.looking = Some(Looking {
                    by: self.author.name.clone(),
                    until: tx.now.plus_ms(LOOKING_MS),
                });
            }
            // What is not undone may be acknowledged at any time; only a run that stopped leaves “Needs you” by it.
            DecisionKind::Acknowledge => {
                let live = run.expires_at.is_some();
                let leaves = decision::allowed(DecisionKind::Acknowledge, run.status, live, None);
                run.acknowledged |= leaves.is_ok();
            }
            _ => {}
        }
    }

    /// The last question is answered: a run that only waited for it goes on.
    async fn released_by_answer(&self, tx: &mut Tx, run: &mut RunRow) -> Result<(), Error> {
        tx.flush_rows().await?;
        let open = StepRow::open(tx.conn(), &run.id).await?;
        run.effects_unknown = unknown(&open);
        let waits = open.iter().any(|step| step.status == StepStatus::Waiting);
        if run.status == RunStatus::Waiting && !waits {
            lease_end::become_status(tx, run, RunStatus::Ready);
        }
        Ok(())
    }
}

/// Some effect may have happened, not happened, or still be under way.
fn unknown(open: &[StepRow]) -> bool {
    open.iter()
        .any(|step| step.status == StepStatus::Crashed && step.unknown)
}
