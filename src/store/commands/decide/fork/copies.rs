//! The steps and attempts that a fork copies. What takes long is done before there is a transaction: each row of the
//! origin is held against its seal, and its copy's seal is made. The transaction then copies by one statement per
//! stretch, and only rows whose seal is still the one that was looked at. Others changed meanwhile, and are looked at
//! again there.

use crate::{
    domain::{RunId, StepStatus, views::strip::Strip},
    store::{
        Error,
        engine::{Connection, Param, Row, params},
        rows::{RunRow, attempt, step},
        seal::Table,
        verify::copied,
    },
};

/// Steps in one stretch.
const STRETCH: i64 = 1_000;
/// Bytes for each seal of the origin; seals of several versions differ in length.
const SLOT: usize = 32;
/// Rows that are looked at again in the transaction; if more have changed, the decision is prepared anew.
const CHANGED_MAX: usize = 100;

/// How the rows of one table come along.
struct Kind {
    table: &'static Table,
    /// What names a row within its run.
    key: &'static str,
    copied: &'static str,
    /// Columns that the copy has of its own, and their values: `$2` is the new run.
    given: &'static [(&'static str, &'static str)],
    /// The value of the column `ord`, where the table has one, is known only in the transaction.
    placed: bool,
}

/// Settled steps come along as they are; what was open in the origin is not this run's, and only seen.
static STEPS: Kind = Kind {
    table: &step::TABLE,
    key: "seq",
    copied: "seq, key, name, kind, tool, input, input_hash, effect, recovery, max_attempts, backoff_ms, gate, refs, \
         links, attempts, failures, generation, told, unknown, given, decision, snapshot, result, result_hash, error, \
         cost_usd, begun_at, ended_at, state_change, keyed_at",
    given: &[
        ("run", "CAST($2 AS TEXT)"),
        (
            "status",
            "CASE WHEN status IN ('committed', 'skipped') OR (status = 'failed' AND retry_at IS NULL) \
             THEN status ELSE 'superseded' END",
        ),
        ("epoch", "CAST(0 AS BIGINT)"),
        ("retry_at", "CAST(NULL AS BIGINT)"),
    ],
    placed: true,
};

static ATTEMPTS: Kind = Kind {
    table: &attempt::TABLE,
    key: "seq, attempt",
    copied: "seq, attempt, worker, base, begun_at, heartbeat_at, ended_at, input, error, body, answer, input_tokens, \
         output_tokens, cost_usd",
    given: &[
        ("run", "CAST($2 AS TEXT)"),
        ("epoch", "CAST(0 AS BIGINT)"),
        (
            "outcome",
            "CASE outcome WHEN 'running' THEN 'crashed' ELSE outcome END",
        ),
        ("log_lines", "CAST(0 AS BIGINT)"),
    ],
    placed: false,
};

impl Kind {
    fn value(&self, column: &'static str) -> &'static str {
        let given = self.given.iter().find(|(name, _)| *name == column);
        given.map_or(column, |(_, value)| *value)
    }

    /// The rows of a stretch as they are, with their seals, and as the copies will have them.
    fn look(&self) -> String {
        let copies: Vec<_> = self.table.columns().map(|it| self.value(it)).collect();
        format!(
            "SELECT {}, seal, {} FROM {} WHERE run = $1 AND seq >= $3 AND seq <= $4 ORDER BY {}",
            self.table.columns,
            copies.join(", "),
            self.table.name,
            self.key
        )
    }

    /// An insert of rows that `rest` reads; with a seal, or to be sealed after.
    fn insert(&self, seal: &str, ord: &str, rest: &str) -> String {
        let own: String = self.given.iter().map(|(it, _)| format!(", {it}")).collect();
        let values: String = self.given.iter().map(|(_, it)| format!(", {it}")).collect();
        let (placed, ord) = match self.placed {
            true => (", ord", format!(", {ord}")),
            false => ("", String::new()),
        };
        format!(
            "INSERT INTO {name} ({copied}{own}, seal{placed}) SELECT {copied}{values}, {seal}{ord} {rest}",
            name = self.table.name,
            copied = self.copied,
        )
    }

    /// Copies the rows of a stretch that still have the seals `$6`, with the seals `$5`.
    fn copy(&self, width: usize) -> String {
        let seal = format!("substr($5, CAST((place - 1) * {width} + 1 AS INTEGER), {width})");
        let rest = format!(
            "FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY {key}) AS place FROM {name} \
             WHERE run = $1 AND seq >= $3 AND seq <= $4) AS origin \
             WHERE seal = substr($6, CAST((place - 1) * {SLOT} + 1 AS INTEGER), length(seal)){copied}",
            key = self.key,
            name = self.table.name,
            copied = match self.placed {
                true => "",
                // An attempt goes with its step.
                false =>
                    " AND EXISTS (SELECT 1 FROM steps s WHERE s.run = $2 AND s.seq = origin.seq)",
            },
        );
        self.insert(&seal, "$7", &rest)
    }

    /// The keys of rows before a step that the copy does not have.
    fn missing(&self) -> String {
        let (key, name) = (self.key, self.table.name);
        format!(
            "SELECT {key} FROM {name} WHERE run = $1 AND seq < $3 \
             EXCEPT SELECT {key} FROM {name} WHERE run = $2 ORDER BY {key} LIMIT {}",
            CHANGED_MAX + 1
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

struct Stretch {
    first: i64,
    last: i64,
    steps: Seals,
    attempts: Seals,
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
            let range = || params![origin.id.as_str(), id.as_str(), first, last];
            let rows = conn.fetch_built(STEPS.look().into(), range()).await?;
            let steps = Seals::of(&STEPS, rows, |copy| copies.count(copy))?;
            let rows = conn.fetch_built(ATTEMPTS.look().into(), range()).await?;
            copies.stretches.push(Stretch {
                first,
                last,
                steps,
                attempts: Seals::of(&ATTEMPTS, rows, |_| Ok(()))?,
            });
            first = last + 1;
        }
        Ok(copies)
    }

    fn count(&mut self, copy: &[Param]) -> Result<(), Error> {
        let at = |column| step::TABLE.columns().position(|it| it == column);
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
        for it in &self.stretches {
            for (kind, seals) in [(&STEPS, &it.steps), (&ATTEMPTS, &it.attempts)] {
                if seals.count == 0 {
                    continue;
                }
                let mut params = params![
                    origin.id.as_str(),
                    id.as_str(),
                    it.first,
                    it.last,
                    seals.new.clone(),
                    seals.was.clone(),
                ];
                if kind.placed {
                    params.push(ord.into());
                }
                let copied = conn
                    .execute_built(kind.copy(seals.width).into(), params)
                    .await?;
                same &= copied == seals.count;
            }
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
            let copy = values.split_off(kind.table.columns().count() + 1);
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

/// Copies the few rows that changed since they were looked at, or were not there yet.
async fn changed(
    conn: &mut dyn Connection,
    origin: &RunRow,
    (id, ord): (&RunId, i64),
    from: i64,
) -> Result<(), Error> {
    let before = || params![origin.id.as_str(), id.as_str(), from];
    let steps = conn.fetch_built(STEPS.missing().into(), before()).await?;
    let one = "FROM steps WHERE run = $1 AND seq = $3";
    for mut row in bounded(steps)? {
        let seq = row.int()?;
        copied::step(conn, origin, seq).await?;
        let params = params![origin.id.as_str(), id.as_str(), seq, ord];
        let sql = STEPS.insert("NULL", "$4", one);
        conn.execute_built(sql.into(), params).await?;
    }
    let attempts = conn
        .fetch_built(ATTEMPTS.missing().into(), before())
        .await?;
    let one = "FROM attempts WHERE run = $1 AND seq = $3 AND attempt = $4";
    for mut row in bounded(attempts)? {
        let (seq, attempt) = (row.int()?, row.int()?);
        copied::attempt(conn, origin, seq, attempt).await?;
        let params = params![origin.id.as_str(), id.as_str(), seq, attempt];
        let sql = ATTEMPTS.insert("NULL", "", one);
        conn.execute_built(sql.into(), params).await?;
    }
    step::TABLE.seal_run(conn, id).await?;
    attempt::TABLE.seal_run(conn, id).await
}

fn bounded(rows: Vec<Row>) -> Result<Vec<Row>, Error> {
    match rows.len() > CHANGED_MAX {
        true => Err(Error::Outdated),
        false => Ok(rows),
    }
}
