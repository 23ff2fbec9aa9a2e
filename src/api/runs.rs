//! Runs: the list, what needs a person, and single runs.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    AsOf, Counts, Run, RunId, RunQuery,
    rules::needs::{Alike, Cause, NeedsYou},
    views::sheet::RunSheet,
    wire::{
        bulk_order::{Decided, Ordered},
        protocol::RunPage,
    },
};

/// Single runs in the view of what needs a person.
#[cfg(feature = "ssr")]
const NEEDS_MAX: usize = 200;

/// More than these that come to need a person between two looks are only counted.
#[cfg(feature = "ssr")]
const NEWEST_MAX: i64 = 100;

/// Rows that a page may ask for again at once.
#[cfg(feature = "ssr")]
const SOME_MAX: usize = 200;

door!(List: Needs(Read));
#[server(endpoint = "runs/list", input = Json, output = Json)]
pub async fn list(query: RunQuery) -> Result<AsOf<RunPage>, AppError> {
    use crate::domain::wire::protocol::Check as _;
    let who = super::authorise::<List>()?;
    query.check()?;
    let query = query.asked_by(&who.name);
    let store = super::store()?;
    super::as_of(&store, store.runs(&query)).await
}

door!(FindRun: Needs(Read));
/// The one run, or the one step of it, that this id or key stands for.
#[server(FindRun, endpoint = "runs/find", input = Json, output = Json)]
pub async fn find(text: String) -> Result<Option<(RunId, Option<i64>)>, AppError> {
    super::authorise::<FindRun>()?;
    match text.contains('\0') {
        true => Ok(None),
        false => {
            let store = super::store()?;
            match store.find_one(&text).await? {
                Some(found) => Ok(Some(found)),
                None => Ok(by_short_id(&store, text).await?.map(|run| (run, None))),
            }
        }
    }
}

/// The one run whose id ends like this, as pages show it.
#[cfg(feature = "ssr")]
async fn by_short_id(
    store: &crate::store::Store,
    text: String,
) -> Result<Option<RunId>, crate::domain::Problem> {
    let query = RunQuery {
        q: Some(text.clone()),
        ..RunQuery::default()
    };
    let runs = store.runs(&query).await?.runs.into_iter();
    let mut fits = runs.map(|run| run.id).filter(|id| id.short() == text);
    Ok(fits.next().filter(|_| fits.next().is_none()))
}

door!(SizeOfCause: Needs(Read));
/// How many runs stopped for this cause.
#[server(SizeOfCause, endpoint = "runs/size", input = Json, output = Json)]
pub async fn size(alike: Alike) -> Result<i64, AppError> {
    super::authorise::<SizeOfCause>()?;
    Ok(super::store()?.size(&alike).await?)
}

door!(DecideMany: Needs(Decide));
/// Pauses or cancels several runs, each by a decision of its own; one that is refused stops no other.
#[server(DecideMany, endpoint = "runs/decide_many", input = Json, output = Json)]
pub async fn decide_many(order: Ordered) -> Result<Vec<Decided>, AppError> {
    use crate::domain::{
        DecisionKind, Hash, Problem,
        wire::protocol::{Check as _, Decide},
    };
    let author = super::authorise::<DecideMany>()?;
    if !matches!(order.kind, DecisionKind::Pause | DecisionKind::Cancel) {
        return Err(Problem::invalid("kind", "must be pause or cancel").into());
    }
    if order.reason.trim().is_empty() {
        return Err(Problem::invalid("reason", "say why: it is kept with the decision").into());
    }
    if order.runs.len() > SOME_MAX {
        return Err(Problem::invalid("runs", format!("at most {SOME_MAX} at once")).into());
    }
    let store = super::store()?;
    let mut decided = Vec::with_capacity(order.runs.len());
    for (run, version) in order.runs {
        let body = Decide {
            if_version: Some(version),
            reason: Some(order.reason.trim().to_owned()),
            ..Decide::new(order.kind)
        };
        body.check()?;
        let said = Hash::of(&serde_json::json!(body));
        let key = super::decisions::known_by(order.key.clone(), &author, &run, said)?;
        // A refusal goes to the audit trail like that of any other decision.
        let answer = store
            .decide_once(run.clone(), author.clone(), body, key)
            .await;
        let refused = answer.err();
        decided.push(Decided {
            run,
            refused: refused.map(|problem| problem.detail),
        });
    }
    Ok(decided)
}

door!(ReadNeedsYou: Needs(Read));
/// What waits for a person: the few that fit on top of the list, or `all` of them.
#[server(ReadNeedsYou, endpoint = "runs/needs_you", input = Json, output = Json)]
pub async fn needs_you(all: bool) -> Result<AsOf<NeedsYou>, AppError> {
    super::authorise::<ReadNeedsYou>()?;
    let store = super::store()?;
    super::as_of(&store, async {
        let rows = if all {
            NEEDS_MAX
        } else {
            crate::domain::rules::needs::ROWS_ON_TOP
        };
        store.needs_you(rows).await
    })
    .await
}

door!(ReadCauses: Needs(Read));
/// These causes as they are now, for lines already on a screen.
#[server(ReadCauses, endpoint = "runs/causes", input = Json, output = Json)]
pub async fn causes(alikes: Vec<Alike>) -> Result<AsOf<Vec<Cause>>, AppError> {
    super::authorise::<ReadCauses>()?;
    let store = super::store()?;
    super::as_of(&store, store.some_causes(alikes)).await
}

door!(ReadNewestInNeed: Needs(Read));
/// What came to need a person last: whoever looks now and then finds everything new in it.
#[server(ReadNewestInNeed, endpoint = "runs/newest_in_need", input = Json, output = Json)]
pub async fn newest_in_need() -> Result<Vec<Run>, AppError> {
    super::authorise::<ReadNewestInNeed>()?;
    Ok(super::store()?.newest_in_need(NEWEST_MAX).await?)
}

door!(ReadCounts: Needs(Read));
#[server(ReadCounts, endpoint = "runs/counts", input = Json, output = Json)]
pub async fn counts() -> Result<AsOf<Counts>, AppError> {
    super::authorise::<ReadCounts>()?;
    let store = super::store()?;
    super::as_of(&store, store.counts()).await
}

door!(Some: Needs(Read));
/// These runs as they are now, for rows already on a screen; one that is gone is left out.
#[server(endpoint = "runs/some", input = Json, output = Json)]
pub async fn some(ids: Vec<RunId>) -> Result<AsOf<Vec<Run>>, AppError> {
    super::authorise::<Some>()?;
    let store = super::store()?;
    let ids = &ids[..ids.len().min(SOME_MAX)];
    super::as_of(&store, store.some_runs(ids)).await
}

door!(One: Needs(Read));
#[server(endpoint = "runs/one", input = Json, output = Json)]
pub async fn one(id: RunId) -> Result<AsOf<RunSheet>, AppError> {
    use crate::domain::{StepStatus, views::sheet::Usual};
    super::authorise::<One>()?;
    let store = super::store()?;
    super::as_of(&store, async {
        let detail = store.run(&id).await?;
        let usual = match detail
            .run
            .at
            .as_ref()
            .filter(|at| at.status == StepStatus::Running)
        {
            Some(at) => Usual::of(store.durations_before(&id, at.seq, &at.name).await?),
            None => None,
        };
        let after = store.aftermath(&id).await?;
        Ok(RunSheet::of(detail, usual, after))
    })
    .await
}
