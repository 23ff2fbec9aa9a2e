//! Whole or nothing: a command that ends in an error leaves nothing in the transaction that it shares with others.
//!
//! Most of what a command writes waits in memory until the group is committed, and is taken back there. What it has
//! already executed on the connection only a rollback takes back: the writer then runs the others again without it.
//! Two things stay:
//! - what the error itself names ([`Error::RefusedBut`]);
//! - the end of a lease that ran out, which is nobody's command: whoever looks first writes it down.

use super::Tx;
use crate::{
    domain::{Hash, RunId},
    store::{Command, Error, rows::RunRow},
};

/// How a command ended that was not carried out.
pub enum Undone {
    /// Nothing of it is left in the transaction, except what its error keeps.
    Refused(Error),
    /// It was refused after it had executed statements: the transaction has to be rolled back.
    Halfway(Error),
    /// The database failed: the transaction is of no use any more.
    Failed(Error),
}

/// A point to which a transaction can be set back as long as what came after it is only in memory.
#[derive(Clone, Default)]
pub(super) struct Mark {
    statements: u64,
    event: i64,
    head: Hash,
    audited: (i64, Hash),
    audit: usize,
    events: usize,
    rows: [usize; 6],
    undo: usize,
}

/// How one change in memory is taken back.
pub(super) enum Undo {
    /// The run as it was before, and whether it had still to be written.
    Run(RunId, Option<Box<(RunRow, bool)>>),
    /// The hash of the run's state before the command, where it is known. A state of another hash was made by the command.
    State(RunId, Option<Hash>),
    Term((i64, String)),
}

impl Tx {
    /// Applies the command: all of it, or nothing.
    pub async fn whole<C: Command>(&mut self, command: &C) -> Result<C::Answer, Undone> {
        self.undo.clear();
        self.begin_here();
        match command.apply(self).await {
            Ok(answer) => Ok(answer),
            Err(Error::RefusedBut(_, problem)) => Err(Undone::Refused(problem.into())),
            Err(error) if error.spoils_transaction() => Err(Undone::Failed(error)),
            Err(error) => match self.take_back() {
                true => Err(Undone::Refused(error)),
                false => Err(Undone::Halfway(error)),
            },
        }
    }

    /// What was written up to here stays, whatever becomes of the command.
    pub(super) fn begin_here(&mut self) {
        self.began = self.mark();
    }

    fn mark(&self) -> Mark {
        Mark {
            statements: self.conn.statements(),
            event: self.event,
            head: self.head,
            audited: self.audited,
            audit: self.audit.len(),
            events: self.events.len(),
            rows: self.rows.each_ref().map(super::Queue::count),
            undo: self.undo.len(),
        }
    }

    /// What the command that is being applied changed in memory.
    fn own(&self) -> &[Undo] {
        self.undo.get(self.began.undo..).unwrap_or_default()
    }

    /// The command that is being applied has changed a run.
    pub(super) fn has_saved(&self) -> bool {
        self.own().iter().any(|it| matches!(it, Undo::Run(..)))
    }

    /// The command that is being applied has left everything as it was; states that it took to read do not count.
    pub(super) fn has_written_nothing(&self) -> bool {
        let (began, now) = (&self.began, self.mark());
        (began.statements, began.event, began.audit, began.rows)
            == (now.statements, now.event, now.audit, now.rows)
            && self.own().iter().all(|it| matches!(it, Undo::State(..)))
    }

    /// Takes back what the command changed in memory; `false` if some of it was executed on the connection.
    fn take_back(&mut self) -> bool {
        let began = self.began.clone();
        let mut queues = self.rows.iter().zip(began.rows);
        let flushed = queues.any(|(queue, count)| queue.written > count);
        if flushed || self.conn.statements() != began.statements {
            return false;
        }
        (self.event, self.head, self.audited) = (began.event, began.head, began.audited);
        self.audit.truncate(began.audit);
        self.events.truncate(began.events);
        for (queue, count) in self.rows.iter_mut().zip(began.rows) {
            queue.rows.truncate(count - queue.written);
        }
        // The latest change first. A run that stays in `touched` costs at most one flush.
        for change in self.undo.split_off(began.undo).into_iter().rev() {
            self.undo(change);
        }
        true
    }

    fn undo(&mut self, change: Undo) {
        match change {
            Undo::Run(id, Some(before)) => {
                self.runs.insert(id, *before);
            }
            Undo::Run(id, None) => {
                self.runs.remove(&id);
            }
            Undo::State(id, own) => {
                if self.states.get(&id).map(|held| held.hash) != own {
                    self.states.remove(&id);
                }
            }
            Undo::Term(term) => {
                self.terms.remove(&term);
            }
        }
    }

    /// Notes the run's state before the command (`own` is its hash) when the command first takes it or gives it back.
    pub(super) fn remember_state(&mut self, run: &RunId, own: Option<Hash>) {
        let known = |it: &Undo| matches!(it, Undo::State(of, _) if of == run);
        if !self.own().iter().any(known) {
            self.undo.push(Undo::State(run.clone(), own));
        }
    }
}
