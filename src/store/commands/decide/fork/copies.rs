//! The steps and attempts that a fork copies. What takes long is done before there is a transaction: each row of the
//! origin is held against its seal, and its copy's seal is made. The transaction then copies by one statement per
//! stretch, and only rows whose seal is still the one that was looked at. Others changed meanwhile, and are looked at
//! again there.

use std::collections::BTreeSet;

use crate::{
    domain::{RunId, StepStatus, views::strip::Strip},
    store::{
        Error,
        engine::{Connection, Param, Row, params},
        rows::{RunRow, attempt, step},
        table::{InFork, Table},
        verify::copied,
    },
};

/// Steps in one stretch.
const STRETCH: i64 = 1_000;
/// Bytes for each seal of the origin; seals of several versions differ in length.
const SLOT: usize = 32;
/// Rows that are looked at again in the transaction; if more have changed, the decision is prepared anew.
const CHANGED_MAX: usize = 100;

/// How a fork copies the rows of one table. The table's declaration says which columns are copied as they are.
struct Kind {
    table: &'static Table,
    /// The values of the other columns: `$2` is the new run, `$7` its place in the list.
    given: &'static [(&'static str, &'static str)],
}

/// Settled steps keep their status. A step that was open in the origin becomes superseded: no worker of the fork began it.
static STEPS: Kind = Kind {
    table: &step::TABLE,
    given: &[
        ("run", "CAST($2 AS TEXT)"),
        (
            "status",
            "CASE WHEN status IN ('committed', 'skipped') OR (status = 'failed' AND retry_at IS NULL) \
             THEN status ELSE 'superseded' END",
        ),
        ("epoch", "CAST(0 AS BIGINT)"),
        ("retry_at", "CAST(NULL AS BIGINT)"),
        (ORD, "$7"),
    ],
};

/// A running attempt becomes crashed: no worker of the fork runs it. Its log lines stay with the origin.
static ATTEMPTS: Kind = Kind {
    table: &attempt::TABLE,
    given: &[
        ("run", "CAST($2 AS TEXT)"),
        ("epoch", "CAST(0 AS BIGINT)"),
        (
            "outcome",
            "CASE outcome WHEN 'running' THEN 'crashed' ELSE outcome END",
        ),
        ("log_lines", "CAST(0 AS BIGINT)"),
    ],
};

/// The column of the run's place in the list, which is known only in the transaction.
const ORD: &str = "ord";

impl Kind {
    fn value(&self, column: &'static str) -> &'static str {
        let given = self.given.iter().find(|(name, _)| *name == column);
        given.map_or(column, |(_, value)| *value)
    }

    fn is_placed(&self) -> bool {
        self.given.iter().any(|(name, _)| *name == ORD)
    }

    /// What names a row within its run.
    fn key(&self) -> String {
        let key = self.table.key.iter().filter(|it| **it != "run");
        key.copied().collect::<Vec<_>>().join(", ")
    }

    /// All columns of a copy but the seal; what is fresh beside the seal is NULL, and left out.
    fn columns(&self) -> Vec<&'static str> {
        let beside = self.table.beside.iter();
        let beside = beside.filter(|it| it.fork != InFork::Fresh);
        let beside = beside.map(|it| it.name);
        self.table.columns().chain(beside).collect()
    }

    /// The rows of a stretch as they are, with their seals, and as the copies will have them.
    fn look(&self) -> String {
        let columns: Vec<_> = self.table.columns().collect();
        let copies: Vec<_> = self.table.columns().map(|it| self.value(it)).collect();
        format!(
            "SELECT {}, seal, {} FROM {} WHERE run = $1 AND seq >= $3 AND seq <= $4 ORDER BY {}",
            columns.join(", "),
            copies.join(", "),
            self.table.name,
            self.key()
        )
    }

    /// Copies the rows of a stretch that still have the seals `$6`, with the seals `$5`.
    fn copy(&self, width: usize) -> String {
        let columns = self.columns();
        let values: Vec<_> = columns.iter().map(|it| self.value(it)).collect();
        let (name, key) = (self.table.name, self.key());
        format!(
            "INSERT INTO {name} ({columns}, seal) \
             SELECT {values}, substr($5, CAST((place - 1) * {width} + 1 AS INTEGER), {width}) \
             FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY {key}) AS place FROM {name} \
             WHERE run = $1 AND seq >= $3 AND seq <= $4) AS origin \
             WHERE seal = substr($6, CAST((place - 1) * {SLOT} + 1 AS INTEGER), length(seal)){with_step}",
            columns = columns.join(", "),
            values = values.join(", "),
            with_step = match self.is_placed() {
                true => "",
                // An attempt goes with its step.
                false =>
                    " AND EXISTS (SELECT 1 FROM steps s WHERE s.run = $2 AND s.seq = origin.seq)",
            },
        )
    }

    /// The keys of rows of steps before $3 that the fork lacks: run $1 has them, run $2 does not.
    fn missing(&self) -> String {
        let (key, name) = (self.key(), self.table.name);
        format!(
            "SELECT {key} FROM {name} WHERE run = $1 AND seq < $3 \
             EXCEPT SELECT {key} FROM {name} WHERE run = $2 ORDER BY {key} LIMIT {}",
            CHANGED_MAX + 1
        )
    }

    fn remove(&self) -> String {
        format!(
            "DELETE FROM {} WHERE run = $1 AND seq = $2",
            self.table.name
        )
    }
}

/// The seals of one stretch, row by row.
#[derive(Default)]
struct Seals {
    count: u64,
    width: usize,
    /// Of the copies.
    new: Vec<u8>,
    /// Of the origin's rows, each in a slot.
    was: Vec<u8>,
}

/// Steps in a row, with their attempts.
struct Stretch {
    first: i64,
    last: i64,
    steps: Seals,
    attempts: Seals,
}

impl Stretch {
    /// Holds the origin's rows against their seals, and seals their copies.
    async fn looked_at(
        conn: &mut dyn Connection,
        origin: &RunRow,
        id: &RunId,
        (first, last): (i64, i64),
        seen: impl FnMut(&[Param]) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let range = || params![origin.id.as_str(), id.as_str(), first, last];
        let rows = conn.fetch_built(STEPS.look().into(), range()).await?;
        let steps = Seals::of(&STEPS, rows, seen)?;
        let rows = conn.fetch_built(ATTEMPTS.look().into(), range()).await?;
        Ok(Self {
            first,
            last,
            steps,
            attempts: Seals::of(&ATTEMPTS, rows, |_| Ok(()))?,
        })
    }

    /// Copies the rows that are still as they were looked at; answers whether all are.
    async fn copy(
        &self,
        conn: &mut dyn Connection,
        origin: &RunRow,
        (id, ord): (&RunId, i64),
    ) -> Result<bool, Error> {
        let mut same = true;
        for (kind, seals) in [(&STEPS, &self.steps), (&ATTEMPTS, &self.attempts)] {
            if seals.count == 0 {
                continue;
            }
            let mut params = params![
                origin.id.as_str(),
                id.as_str(),
                self.first,
                self.last,
                seals.new.clone(),
                seals.was.clone(),
            ];
            if kind.is_placed() {
                params.push(ord.into());
            }
            let sql = kind.copy(seals.width);
            same &= conn.execute_built(sql.into(), params).await? == seals.count;
        }
        Ok(same)
    }
}

/// All that was found out about the rows before `from`.
pub struct Copies {
    from: i64,
    stretches: Vec<Stretch>,
    /// What the fork's list row shows of its steps.
    pub strip: Strip,
    pub committed: i64,
}

impl Copies {
    /// Looks at the origin's rows before this step and seals their copies. Damage is an error.
    pub async fn prepared(
        conn: &mut dyn Connection,
        origin: &RunRow,
        id: &RunId,
        from: i64,
    ) -> Result<Self, Error> {
        copied::sound(conn, origin, from).await?;
        let mut copies = Self {
            from,
            stretches: Vec::new(),
            strip: Strip::default(),
            committed: 0,
        };
        let mut first = 1;
        while first < from {
            let last = (first + STRETCH - 1).min(from - 1);
            let counted = |copy: &[Param]| copies.count(copy);
            let stretch = Stretch::looked_at(conn, origin, id, (first, last), counted).await?;
            copies.stretches.push(stretch);
            first = last + 1;
        }
        Ok(copies)
    }

    fn count(&mut self, copy: &[Param]) -> Result<(), Error> {
        let at = |column| step::TABLE.position(column);
        let values = ["seq", "status", "attempts"].map(|it| at(it).and_then(|at| copy.get(at)));
        let values = values.into_iter().flatten().cloned().collect();
        let mut row = Row::new(values);
        let (seq, status, tries) = (row.int()?, row.word::<StepStatus>()?, row.int()?);
        self.strip.set(seq, status, tries);
        self.committed += i64::from(status == StepStatus::Committed);
        Ok(())
    }

    /// Copies what is before `from` to the new run; answers whether all of it was as it had been looked at.
    pub async fn insert(
        &self,
        conn: &mut dyn Connection,
        origin: &RunRow,
        (id, ord): (&RunId, i64),
        from: i64,
    ) -> Result<bool, Error> {
        let mut same = from == self.from;
        for stretch in &self.stretches {
            same &= stretch.copy(conn, origin, (id, ord)).await?;
        }
        if !same {
            changed(conn, origin, (id, ord), from).await?;
        }
        Ok(same)
    }
}

impl Seals {
    fn of(
        kind: &Kind,
        rows: Vec<Row>,
        mut seen: impl FnMut(&[Param]) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut seals = Self::default();
        for row in rows {
            let mut values = row.rest();
            let copy = values.split_off(kind.table.columns.len() + 1);
            let Some(Param::Bytes(Some(was))) = values.last().cloned() else {
                return Err(Error::damaged(kind.table.place(&values)));
            };
            kind.table.opened(Row::new(values))?;
            seen(&copy)?;
            let Param::Bytes(Some(new)) = kind.table.seal(&copy) else {
                continue;
            };
            seals.count += 1;
            seals.width = new.len();
            seals.new.extend(new);
            seals.was.extend(&was);
            seals.was.resize(seals.count as usize * SLOT, 0);
        }
        Ok(seals)
    }
}

/// Copies the few steps that changed since they were looked at, or were not there yet.
async fn changed(
    conn: &mut dyn Connection,
    origin: &RunRow,
    (id, ord): (&RunId, i64),
    from: i64,
) -> Result<(), Error> {
    let mut steps = BTreeSet::new();
    for kind in [&STEPS, &ATTEMPTS] {
        let before = params![origin.id.as_str(), id.as_str(), from];
        for mut row in conn.fetch_built(kind.missing().into(), before).await? {
            steps.insert(row.int()?);
        }
    }
    if steps.len() > CHANGED_MAX {
        return Err(Error::Outdated);
    }
    for seq in steps {
        copied::step(conn, origin, seq).await?;
        for kind in [&ATTEMPTS, &STEPS] {
            let copy = params![id.as_str(), seq];
            conn.execute_built(kind.remove().into(), copy).await?;
        }
        let now = Stretch::looked_at(conn, origin, id, (seq, seq), |_| Ok(())).await?;
        now.copy(conn, origin, (id, ord)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{
        listed_words::listed,
        table::InFork::{Copied, Fresh, Given},
    };

    #[test]
    fn a_fork_keeps_the_status_of_the_steps_that_are_settled() {
        let settled = listed(StepStatus::ALL, StepStatus::is_settled);
        let status = STEPS.value("status");
        assert!(
            status.contains(&format!("status IN ({settled})")),
            "{status}"
        );
    }

    /// A new column that is not copied must be given a value here, and a value must not stand in for one that is copied.
    #[test]
    fn every_column_that_a_fork_does_not_copy_is_given_a_value() {
        for kind in [&STEPS, &ATTEMPTS] {
            let sealed = kind.table.columns.iter();
            let sealed = sealed.filter(|it| it.fork != Copied).map(|it| it.name);
            let beside = kind.table.beside.iter();
            assert!(
                beside
                    .clone()
                    .all(|it| matches!(it.fork, Copied | Given | Fresh))
            );
            let beside = beside.filter(|it| it.fork == Given).map(|it| it.name);
            let mut declared: Vec<_> = sealed.chain(beside).collect();
            let mut given: Vec<_> = kind.given.iter().map(|(name, _)| *name).collect();
            declared.sort_unstable();
            given.sort_unstable();
            assert_eq!(given, declared, "{}", kind.table.name);
        }
    }
}
