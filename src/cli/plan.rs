//! `step47 plan`: what will happen when a worker takes the run.

use super::{
    Failure,
    say::{clean, say},
    source::SourceArgs,
};
use crate::{
    client::RunId,
    domain::rules::plan::{Changed, Plan, PlanAction, PlanStep},
};

/// Show what a resume would do, step by step, before anything happens.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id
    run: RunId,

    /// As JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: SourceArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let plan = args.source.open().await?.plan(&args.run).await?;
    match args.json {
        true => say!("{}", serde_json::to_string_pretty(&plan)?),
        false => print(&plan),
    }
    Ok(())
}

fn print(plan: &Plan) {
    let from = plan
        .from
        .map_or("the end".into(), |seq| format!("step {seq}"));
    say!(
        "resume from {from}  {} ({}, version {})",
        plan.run,
        plan.status,
        plan.version
    );
    let cost = plan
        .saved
        .cost_usd
        .map_or("—".into(), |cost| format!("${cost:.2}"));
    say!(
        "{} replayed · {} to decide · {} announced · not paid again: {cost}, {:.0} s\n",
        plan.count(PlanAction::Replay),
        plan.count(PlanAction::Decide),
        plan.count(PlanAction::Expected),
        plan.saved.seconds,
    );
    for lines in plan.steps.chunk_by(|a, b| plain(a) && plain(b)) {
        line(lines);
    }
    for changed in &plan.gap {
        say!("{:>13}  changed   {}", "", gap(changed));
    }
    if !plan.not_undone.is_empty() {
        say!("\nnot undone, and may happen again:");
    }
    for left in &plan.not_undone {
        let origin = left.run.as_ref();
        let origin = origin.map_or(String::new(), |run| format!(" in run {run}"));
        say!(
            "{:>13}  {:<9} {:<24} {} ({}){origin}",
            left.seq,
            left.known(),
            clean(&left.name),
            clean(&left.effect.words),
            clean(&left.effect.target)
        );
    }
    if plan.integrity.of > 0 {
        say!(
            "\nchecksums verified, {} of {}",
            plan.integrity.good,
            plan.integrity.of
        );
    }
    for seq in &plan.integrity.damaged {
        say!("step {seq} is damaged in the store: it cannot be replayed");
    }
    match (plan.taker.workers, plan.taker.last) {
        (0, None) => say!("no worker is polling for it"),
        (0, Some(last)) => say!("no worker is polling for it; the last one did at {last}"),
        (1, _) => say!("1 worker is polling for it"),
        (n, _) => say!("{n} workers are polling for it"),
    }
    if let Some(why) = &plan.refused {
        say!("cannot be resumed now: {why}");
    }
    say!("plan {}", plan.hash);
}

fn plain(step: &PlanStep) -> bool {
    step.action == PlanAction::Replay && step.edits.is_empty()
}

fn line(lines: &[PlanStep]) {
    let Some((first, last)) = lines.first().zip(lines.last()) else {
        return;
    };
    let at = match (first.seq, last.seq) {
        (Some(from), Some(to)) if from < to => format!("{from}–{to}"),
        (Some(seq), _) => seq.to_string(),
        (None, _) => String::new(),
    };
    let name = if lines.len() > 1 {
        ""
    } else {
        first.name.as_str()
    };
    say!(
        "{at:>13}  {:<9} {:<24} {}",
        word(first.action),
        clean(name),
        clean(&first.why)
    );
    if let Some(effect) = first
        .effect
        .as_ref()
        .filter(|_| lines.len() == 1 && !plain(first))
    {
        let key = effect
            .key
            .as_deref()
            .map_or(String::new(), |key| format!(", key {key}"));
        // What a retry risks is not said of a step that gets a result.
        let risk = match first.action {
            PlanAction::Given => String::new(),
            _ => format!(": {}", effect.same_key()),
        };
        say!(
            "{:>13}            {} ({}{key}){risk}",
            "",
            clean(&effect.words),
            clean(&effect.target)
        );
    }
    if first.evidence.is_some() {
        say!(
            "{:>13}            its worker sent the result too late: see `step47 runs show`",
            ""
        );
    }
    for edit in &first.edits {
        let why = edit.reason.as_deref().unwrap_or("no reason given");
        say!(
            "{:>13}            state edited by {} at {}: {}",
            "",
            edit.author,
            edit.at,
            clean(why)
        );
    }
}

/// What the plan's page calls it.
fn word(action: PlanAction) -> &'static str {
    match action {
        PlanAction::Expected => "announced",
        action => action.as_str(),
    }
}

fn gap(changed: &Changed) -> String {
    let known = |was: &Option<String>| was.clone().unwrap_or("—".into());
    match changed {
        Changed::Version { was, now } => {
            format!(
                "agent version {}; the last worker seen runs {}",
                clean(&known(was)),
                clean(now)
            )
        }
        Changed::Model { was, now } => format!("model {} → {}", clean(&known(was)), clean(now)),
        Changed::Reference { uri, was, now, .. } => match now {
            None => format!("{}: checked on resume", clean(uri)),
            Some(now) if now == was => format!("{}: unchanged", clean(uri)),
            Some(now) => format!("{}: {} → {}", clean(uri), clean(was), clean(now)),
        },
    }
}
