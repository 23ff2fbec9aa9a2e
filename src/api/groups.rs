//! Several runs at once: fifty crashes with one cause are one decision, where their effects are known.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    RunId,
    rules::plan::LeftBehind,
    wire::bulk_order::{Decided, Ordered},
};

/// Runs that one order may name.
#[cfg(feature = "ssr")]
const RUNS_MAX: usize = 200;

door!(ResumeMany: Needs(Decide));
/// Resumes each run whose effects are known, by a decision and a plan of its own: what waits for a decision is tried
/// again. A run with an unknown effect is left for someone to look at; one that is refused stops no other.
#[server(ResumeMany, endpoint = "groups/resume", input = Json, output = Json)]
pub async fn resume(order: Ordered) -> Result<Vec<Decided>, AppError> {
    use crate::domain::Problem;
    let author = super::authorise::<ResumeMany>()?;
    if order.reason.trim().is_empty() {
        return Err(Problem::invalid("reason", "say why: it is kept with the decision").into());
    }
    if order.runs.len() > RUNS_MAX {
        return Err(Problem::invalid("runs", format!("at most {RUNS_MAX} at once")).into());
    }
    let store = super::store()?;
    let mut decided = Vec::with_capacity(order.runs.len());
    for (run, version) in order.runs {
        let (reason, key) = (order.reason.trim(), order.key.clone());
        let refused = resume_one(&store, &author, (&run, version), reason, key).await;
        let refused = refused.err().map(|problem| problem.detail);
        decided.push(Decided { run, refused });
    }
    Ok(decided)
}

door!(UnknownEffects: Needs(Read));
/// The first effects of these runs of which nobody knows whether they happened, each with its run: for whoever is about to
/// cancel them.
#[server(UnknownEffects, endpoint = "groups/unknown_effects", input = Json, output = Json)]
pub async fn unknown_effects(runs: Vec<RunId>) -> Result<Vec<LeftBehind>, AppError> {
    use crate::domain::Problem;
    super::authorise::<UnknownEffects>()?;
    if runs.len() > RUNS_MAX {
        return Err(Problem::invalid("runs", format!("at most {RUNS_MAX} at once")).into());
    }
    Ok(super::store()?.unknown_effects(&runs).await?)
}

#[cfg(feature = "ssr")]
async fn resume_one(
    store: &crate::store::Store,
    author: &crate::domain::Principal,
    (run, version): (&RunId, i64),
    reason: &str,
    key: Option<String>,
) -> Result<(), crate::domain::Problem> {
    use crate::domain::{
        Code, DecisionKind, Hash, Problem,
        rules::plan::{PlanQuery, PlanStep},
        wire::protocol::{Choice, Decide},
    };
    // A repeat is known by what was ordered: by then the plan is another.
    let said = serde_json::json!([DecisionKind::Resume, run, version, reason]);
    let key = super::decisions::known_by(key, author, run, Hash::of(&said))?;
    let plan = store.plan(run, &PlanQuery::default()).await?;
    let unknown = |step: &&PlanStep| step.effect.as_ref().is_some_and(|it| it.unknown);
    // The plan of a run that moved on says nothing about the order: the decision is recognised, or refused for its version.
    if let Some(step) = plan
        .missing()
        .find(unknown)
        .filter(|_| plan.version == version)
    {
        let why = format!("the effect of {} is unknown: look at it", step.name);
        let problem = Problem::new(Code::DecisionRefused, why);
        let (kind, seq) = (DecisionKind::Resume, step.seq);
        store
            .refused_decision(author, run, kind, seq, &problem)
            .await;
        return Err(problem);
    }
    let waits = plan.missing().filter_map(|step| step.seq);
    let choices = waits.map(|seq| Choice::new(DecisionKind::Retry, seq));
    let order = Decide {
        if_version: Some(version),
        plan: Some(plan.hash),
        choices: choices.collect(),
        reason: Some(reason.to_owned()),
        ..Decide::new(DecisionKind::Resume)
    };
    store
        .decide_once(run.clone(), author.clone(), order, key)
        .await?;
    Ok(())
}
