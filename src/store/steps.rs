//! The steps of one run as its page lists them: a window of rows, pages, single problems, and what was searched for.

use super::{
    Error, Store,
    engine::{Connection, params},
    rows::{Announcements, RunRow, StepRow, notable_steps, steps},
    timeline::phases,
};
use crate::domain::{
    DecisionKind, Event, Problem, Recovery, RunId, RunStatus, Step, StepStatus, Time,
    nouns::run::Announced,
    views::{
        outline::{Outline, PAGE, Row, StepWindow},
        sheet::ANNOUNCED_MAX,
    },
    wire::{
        protocol::StepPage,
        step_query::{Direction, StepQuery},
    },
};

/// Rows above the step that is shown, so that the step is on the first screen.
const ROWS_ABOVE: i64 = 9;
/// Steps that one search reads at most before it answers.
const LOOKED_AT_MAX: i64 = 20_000;
/// Events read for one step at most.
const EVENTS_MAX: i64 = 500;
/// Earlier steps of the same name whose durations are compared.
const ALIKE_MAX: i64 = 400;

impl Store {
    /// The rows around the step `at`, or from the row `base` on.
    pub async fn step_window(
        &self,
        run: &RunId,
        at: Option<i64>,
        base: Option<i64>,
    ) -> Result<StepWindow, Problem> {
        let read = async {
            let (mut conn, owner) = self.find(run).await?;
            let announced = Announcements::of(&mut *conn, &owner).await?.into_iter();
            let announced = announced.filter(Announced::is_pending);
            let announced = announced.take(ANNOUNCED_MAX).collect();
            let phases = phases(&mut *conn, &owner).await?;
            let here = match (at, owner.status.over()) {
                (Some(at), _) => at,
                (None, true) => 1,
                (None, false) => opens_at(&mut *conn, &owner).await?.unwrap_or(1),
            };
            let outline = Outline::new(owner.steps, phases, announced, Some(here));
            let base = base.unwrap_or_else(|| outline.index_of(here) - ROWS_ABOVE);
            let base = base.min(outline.len() - 1).max(0);
            let shown: Vec<i64> = outline
                .rows(base, PAGE)
                .filter_map(|row| match row {
                    Row::Step(seq) => Some(seq),
                    _ => None,
                })
                .collect();
            let steps = some(&mut *conn, run, &shown).await?;
            Ok(StepWindow {
                outline,
                base,
                steps,
            })
        };
        read.await.map_err(Error::problem)
    }

    /// The step that a run's page opens at: the first that waits for a decision, else the one where the run is.
    pub async fn opens_at(&self, run: &RunId) -> Result<Option<i64>, Problem> {
        let read = async {
            let (mut conn, owner) = self.find(run).await?;
            opens_at(&mut *conn, &owner).await
        };
        read.await.map_err(Error::problem)
    }

    /// The steps that `query` finds after `after`.
    pub async fn find_steps(
        &self,
        run: &RunId,
        query: &StepQuery,
        after: i64,
    ) -> Result<StepPage, Problem> {
        let read = async {
            let (mut conn, owner) = self.find(run).await?;
            let mut found: Vec<Step> = Vec::new();
            let mut at = after;
            while found.len() as i64 <= PAGE && at < owner.steps && at - after < LOOKED_AT_MAX {
                let last = owner.steps.min(at + 1_000);
                let rows = StepRow::between(&mut *conn, run, at + 1, last).await?;
                at = last;
                let steps = rows.iter().map(|row| row.to_step(run));
                found.extend(steps.filter(|step| query.admits(step)));
            }
            let more = found.len() as i64 > PAGE;
            found.truncate(PAGE as usize);
            let next = match more {
                true => found.last().map(|step| step.seq),
                false => (at < owner.steps).then_some(at),
            };
            Ok(StepPage { steps: found, next })
        };
        read.await.map_err(Error::problem)
    }

    /// The next step in this direction that went wrong or waits.
    pub async fn next_problem(
        &self,
        run: &RunId,
        from: i64,
        direction: Direction,
    ) -> Result<Option<i64>, Problem> {
        let later = concat!(
            "SELECT seq FROM steps WHERE run = $1 AND seq > $2 AND ",
            notable_steps!(),
            " AND status <> 'superseded' ORDER BY seq LIMIT 1"
        );
        let earlier = concat!(
            "SELECT seq FROM steps WHERE run = $1 AND seq < $2 AND ",
            notable_steps!(),
            " AND status <> 'superseded' ORDER BY seq DESC LIMIT 1"
        );
        self.one_seq(run, from, direction, later, earlier).await
    }

    /// The next step in this direction that changed the state.
    pub async fn next_change(
        &self,
        run: &RunId,
        from: i64,
        direction: Direction,
    ) -> Result<Option<i64>, Problem> {
        let later = "SELECT seq FROM steps WHERE run = $1 AND seq > $2 AND state_change IS NOT NULL ORDER BY seq LIMIT 1";
        let earlier = "SELECT seq FROM steps WHERE run = $1 AND seq < $2 AND state_change IS NOT NULL ORDER BY seq DESC LIMIT 1";
        self.one_seq(run, from, direction, later, earlier).await
    }

    async fn one_seq(
        &self,
        run: &RunId,
        from: i64,
        direction: Direction,
        later: &'static str,
        earlier: &'static str,
    ) -> Result<Option<i64>, Problem> {
        let sql = match direction {
            Direction::Later => later,
            Direction::Earlier => earlier,
        };
        let read = async {
            let mut conn = self.engine.read().await?;
            let row = conn.fetch_one(sql, params![run.as_str(), from]).await?;
            row.map(|mut row| row.int()).transpose()
        };
        read.await.map_err(Error::problem)
    }

    /// What happened to the step `seq`, oldest first.
    pub async fn step_events(&self, run: &RunId, seq: i64) -> Result<Vec<Event>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let Some(step) = StepRow::load(&mut *conn, run, seq).await? else {
                return Err(Problem::not_found("step").into());
            };
            let first = first_event_at(&mut *conn, step.begun_at).await?;
            drop(conn);
            let mut events = Vec::new();
            let mut after = first - 1;
            // A step's events lie between its begin and its end, among those of steps beside it.
            while (events.len() as i64) < EVENTS_MAX {
                let page = self.read_events(after, Some(run), EVENTS_MAX).await?;
                let full = page.events.len() as i64 == EVENTS_MAX;
                let over = |it: &Event| step.ended_at.is_some_and(|ended| it.at > ended);
                let past = page.events.last().is_none_or(over);
                after = page.next;
                events.extend(page.events.into_iter().filter(|it| it.seq == Some(seq)));
                if past || !full {
                    break;
                }
            }
            events.truncate(EVENTS_MAX as usize);
            Ok(events)
        };
        read.await.map_err(Error::problem)
    }

    /// How long steps of this name took that were committed before `seq`, the newest first.
    pub async fn durations_before(
        &self,
        run: &RunId,
        seq: i64,
        name: &str,
    ) -> Result<Vec<i64>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let sql = steps!(
                "seq < $2 AND seq >= $2 - $3 AND name = $4 AND status = 'committed' \
                 AND ended_at IS NOT NULL ORDER BY seq DESC LIMIT 50"
            );
            let params = params![run.as_str(), seq, ALIKE_MAX, name];
            let alike = StepRow::all(&mut *conn, sql, params).await?;
            let took = |step: &StepRow| Some(step.ended_at?.ms_since(step.begun_at));
            let sound = alike.iter().filter(|step| !step.damaged);
            Ok(sound.filter_map(took).collect())
        };
        read.await.map_err(Error::problem)
    }
}

/// These steps, in their order; neighbours are read together.
async fn some(conn: &mut dyn Connection, run: &RunId, seqs: &[i64]) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::with_capacity(seqs.len());
    let mut left = seqs;
    while let Some(&first) = left.first() {
        let together = left
            .iter()
            .zip(first..)
            .take_while(|(seq, expected)| **seq == *expected)
            .count();
        let last = first + together as i64 - 1;
        let rows = StepRow::between(conn, run, first, last).await?;
        steps.extend(rows.iter().map(|row| row.to_step(run)));
        left = &left[together..];
    }
    Ok(steps)
}

/// The first event at or after `at`: numbers follow time, so a few look-ups find it.
async fn first_event_at(conn: &mut dyn Connection, at: Time) -> Result<i64, Error> {
    let probe = "SELECT id, at FROM events WHERE id >= $1 ORDER BY id LIMIT 1";
    let head = "SELECT event FROM counter WHERE id = 1";
    let row = conn.fetch_one(head, params![]).await?;
    let newest = row.map(|mut row| row.int()).transpose()?.unwrap_or(0);
    let (mut low, mut high) = (0, newest + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let row = conn.fetch_one(probe, params![middle]).await?;
        let found = match row {
            Some(mut row) => Some((row.int()?, row.time()?)),
            None => None,
        };
        match found {
            Some((id, then)) if then < at => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// See [`Store::opens_at`].
async fn opens_at(conn: &mut dyn Connection, run: &RunRow) -> Result<Option<i64>, Error> {
    let here = run.at.as_ref().map(|at| at.seq);
    if !matches!(run.status, RunStatus::Crashed | RunStatus::Paused) {
        return Ok(here);
    }
    let open = StepRow::open_listed(conn, &run.id).await?;
    let held = |step: &&StepRow| {
        !step.damaged
            && step.status == StepStatus::Crashed
            && step.recovery == Recovery::Ask
            && step.decision != Some(DecisionKind::Retry)
    };
    Ok(open.iter().find(held).map(|step| step.seq).or(here))
}
