//! `step47 retry`, `skip`, `commit`, `approve`, `reject`, `answer`, `rewind`, `fork`, `pause`, `resume`, `cancel`:
//! an operator's decisions from the command line, by the same rules as in the console.

use serde_json::{Value, json};

use super::{Failure, order::OrderArgs, source::Source};
use crate::{
    client::RunId,
    domain::{
        DecisionKind, StepStatus,
        rules::plan::{Plan, PlanAction},
        views::typed_json,
        wire::protocol::{Choice, Decide},
    },
};

/// A decision about one step.
#[derive(Debug, clap::Args)]
pub struct StepArgs {
    /// The run's id
    run: RunId,

    /// The step's number [default: the one step that waits for a decision]
    step: Option<i64>,

    /// Its result, as JSON
    #[arg(long, value_name = "JSON", value_parser = parsed)]
    result: Option<Value>,

    /// Let the run go on with this decision, in one transaction
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    order: OrderArgs,
}

/// A retry.
#[derive(Debug, clap::Args)]
pub struct RetryArgs {
    /// The run's id
    run: RunId,

    /// The step's number [default: the one step that waits for a decision]
    step: Option<i64>,

    /// I checked: it did not happen, and nothing is still under way. The provider sees a new idempotency key
    #[arg(long)]
    new_key: bool,

    /// Let the run go on with this decision, in one transaction
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    order: OrderArgs,
}

/// An answer to a question.
#[derive(Debug, clap::Args)]
pub struct GateArgs {
    /// The run's id
    run: RunId,

    /// The step's number [default: the one gate that waits]
    step: Option<i64>,

    /// The answer, as JSON
    #[arg(long, value_name = "JSON", value_parser = parsed)]
    result: Option<Value>,

    /// One of the choices that the gate offers
    #[arg(long, conflicts_with = "result")]
    choice: Option<String>,

    #[command(flatten)]
    order: OrderArgs,
}

/// A way back.
#[derive(Debug, clap::Args)]
pub struct BackArgs {
    /// The run's id
    run: RunId,

    /// To before this step
    step: i64,

    /// An effect left behind that may happen again, by its step; once for each
    #[arg(long, value_name = "STEP")]
    again: Vec<i64>,

    #[command(flatten)]
    order: OrderArgs,
}

/// A new run with the same past.
#[derive(Debug, clap::Args)]
pub struct ForkArgs {
    /// The run's id
    run: RunId,

    /// From before this step [default: from the end]
    step: Option<i64>,

    /// An effect left behind that may happen again, by its step; once for each
    #[arg(long, value_name = "STEP")]
    again: Vec<i64>,

    /// The id of the new run
    #[arg(long, value_name = "ID")]
    id: Option<RunId>,

    #[command(flatten)]
    order: OrderArgs,
}

/// A decision about the whole run.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The run's id
    run: RunId,

    #[command(flatten)]
    order: OrderArgs,
}

/// The run goes on.
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// The run's id
    run: RunId,

    /// The hash of the plan that this is based on, from `step47 plan` [default: the plan as it is now]
    #[arg(long, value_name = "HASH")]
    plan: Option<crate::domain::Hash>,

    #[command(flatten)]
    order: OrderArgs,
}

/// As strict as the server, which would not see what this side dropped: keys that stand twice, digits beyond 64 bits.
pub fn parsed(text: &str) -> Result<Value, String> {
    typed_json::read(text)
        .map_err(|wrong| format!("is not valid JSON: line {}: {}", wrong.line, wrong.what))
}

pub async fn retry(args: RetryArgs) -> Result<(), Failure> {
    let choice = Choice {
        new_key: args.new_key,
        ..Choice::new(DecisionKind::Retry, 0)
    };
    let on = args.order.open().await?;
    let body = about_step(&on, &args.run, args.step, choice, args.resume).await?;
    args.order.decide(&on, &args.run, body).await
}

pub async fn settle(kind: DecisionKind, args: StepArgs) -> Result<(), Failure> {
    let choice = Choice {
        result: args.result,
        ..Choice::new(kind, 0)
    };
    let on = args.order.open().await?;
    let body = about_step(&on, &args.run, args.step, choice, args.resume).await?;
    args.order.decide(&on, &args.run, body).await
}

/// The order about a step as the plan shows it, alone or together with the resume.
async fn about_step(
    on: &Source,
    run: &RunId,
    step: Option<i64>,
    choice: Choice,
    resume: bool,
) -> Result<Decide, Failure> {
    let plan = on.plan(run).await?;
    let step = match step {
        Some(step) => step,
        None => only(
            &plan,
            |action, _| action == PlanAction::Decide,
            "waits for a decision",
        )?,
    };
    let Choice {
        kind,
        result,
        new_key,
        ..
    } = choice;
    let body = match resume {
        false => Decide {
            step: Some(step),
            result,
            new_key,
            ..Decide::new(kind)
        },
        true => Decide {
            choices: vec![Choice {
                result,
                new_key,
                ..Choice::new(kind, step)
            }],
            plan: Some(plan.hash),
            ..Decide::new(DecisionKind::Resume)
        },
    };
    Ok(Decide {
        if_version: Some(plan.version),
        ..body
    })
}

pub async fn answer(kind: DecisionKind, args: GateArgs) -> Result<(), Failure> {
    let on = args.order.open().await?;
    let (step, version) = match args.step {
        Some(step) => (step, None),
        None => {
            let plan = on.plan(&args.run).await?;
            let waits = |_: PlanAction, status: StepStatus| status == StepStatus::Waiting;
            let step = only(&plan, waits, "is a gate that waits")?;
            (step, Some(plan.version))
        }
    };
    let chosen = args.choice.map(|choice| json!({"choice": choice}));
    let body = Decide {
        if_version: version,
        step: Some(step),
        result: chosen.or(args.result),
        ..Decide::new(kind)
    };
    args.order.decide(&on, &args.run, body).await
}

/// The one step of a kind; which one is meant must be said where there are none or several.
fn only(
    plan: &Plan,
    fits: impl Fn(PlanAction, StepStatus) -> bool,
    what: &str,
) -> Result<i64, Failure> {
    let steps = plan
        .steps
        .iter()
        .filter(|step| fits(step.action, step.status));
    let found: Vec<_> = steps.filter_map(|step| step.seq).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(format!("no step of {} {what}; name the step", plan.run).into()),
        several => Err(format!("name the step: each of {several:?} {what}").into()),
    }
}

pub async fn rewind(args: BackArgs) -> Result<(), Failure> {
    let body = Decide {
        step: Some(args.step),
        again: args.again,
        ..Decide::new(DecisionKind::Rewind)
    };
    let on = args.order.open().await?;
    args.order.decide(&on, &args.run, body).await
}

pub async fn fork(args: ForkArgs) -> Result<(), Failure> {
    let body = Decide {
        step: args.step,
        again: args.again,
        new_run_id: args.id,
        ..Decide::new(DecisionKind::Fork)
    };
    let on = args.order.open().await?;
    args.order.decide(&on, &args.run, body).await
}

pub async fn stop(kind: DecisionKind, args: RunArgs) -> Result<(), Failure> {
    let on = args.order.open().await?;
    let body = Decide::new(kind);
    args.order.decide(&on, &args.run, body).await
}

pub async fn resume(args: ResumeArgs) -> Result<(), Failure> {
    let on = args.order.open().await?;
    let plan = match args.plan {
        Some(plan) => plan,
        None => on.plan(&args.run).await?.hash,
    };
    let body = Decide {
        plan: Some(plan),
        ..Decide::new(DecisionKind::Resume)
    };
    args.order.decide(&on, &args.run, body).await
}
