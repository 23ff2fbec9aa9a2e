//! What every decision takes, and what is said when it is made.

use super::{
    Failure,
    say::{clean, say},
    source::{Source, SourceArgs},
};
use crate::{
    client::RunId,
    domain::{
        DecisionKind, Run, RunStatus,
        rules::{
            doubt::UNCHECKED,
            plan::{Plan, resumable},
        },
        wire::protocol::{Decide, DecideAnswer},
    },
};

/// Why, on which version, and where.
#[derive(Debug, clap::Args)]
pub struct OrderArgs {
    /// Why: kept with the decision
    #[arg(long, short = 'm')]
    reason: String,

    /// The run version this is based on [default: the one it has now]
    #[arg(long, value_name = "N")]
    if_version: Option<i64>,

    /// As JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: SourceArgs,
}

impl OrderArgs {
    pub async fn open(&self) -> Result<Source, Failure> {
        self.source.open().await
    }

    /// Decides on the run as it is now, or as it was at the version that was named.
    pub async fn decide(&self, on: &Source, run: &RunId, body: Decide) -> Result<(), Failure> {
        if self.reason.trim().is_empty() {
            return Err("--reason: say why; it is kept with the decision".into());
        }
        let version = match self.if_version.or(body.if_version) {
            Some(version) => version,
            None => on.run(run).await?.run.version,
        };
        let body = Decide {
            if_version: Some(version),
            reason: Some(self.reason.trim().to_owned()),
            ..body
        };
        send(on, run, body, self.json).await
    }
}

/// Sends a decision as it is, and says what came of it.
pub async fn send(on: &Source, run: &RunId, body: Decide, json: bool) -> Result<(), Failure> {
    let answer = on.decide(run, &body).await?;
    match json {
        true => say!("{}", serde_json::to_string_pretty(&answer)?),
        false => told(&answer, &undecided(on, &answer.run.run).await),
    }
    Ok(())
}

/// The steps that a resume would be refused for. The decision stands even where the plan cannot be read now.
async fn undecided(on: &Source, run: &Run) -> Vec<String> {
    if resumable(run.status).is_err() {
        return Vec::new();
    }
    let plan = on.plan(&run.id).await.ok();
    let missing = plan.iter().flat_map(Plan::missing);
    missing
        .filter_map(|step| Some(format!("{} ({})", step.seq?, clean(&step.name))))
        .collect()
}

fn told(answer: &DecideAnswer, undecided: &[String]) {
    let DecideAnswer { run, decision } = answer;
    let run: &Run = &run.run;
    let what = match (decision.kind, decision.step) {
        (DecisionKind::Fork, _) => format!("forked as {}", run.id),
        (kind, Some(step)) => format!("{kind}: step {step} of {}", run.id),
        (kind, None) => format!("{kind}: {}", run.id),
    };
    say!("{what}, by {} at {}", decision.author, decision.at);
    if let Some(snapshot) = decision.snapshot {
        say!("the state is now snapshot {snapshot}");
    }
    let next = match (run.status, run.signal) {
        (_, Some(signal)) => format!("its worker is asked to {signal} between two steps"),
        (RunStatus::Ready, _) => "queued: waiting for a worker".into(),
        (status, _) if resumable(status).is_ok() => match undecided {
            [] => format!("{status}; run `step47 resume {}` to resume it", run.id),
            [step] => format!(
                "{status}: step {step} waits for a decision; `step47 plan {}` shows it",
                run.id
            ),
            steps => format!(
                "{status}: steps {} wait for decisions; `step47 plan {}` shows them",
                steps.join(", "),
                run.id
            ),
        },
        (status, _) => status.to_string(),
    };
    say!("the run is {next} (version {})", run.version);
    if run.unchecked() {
        say!("an effect {UNCHECKED}: `step47 show {}` names it", run.id);
    }
}
