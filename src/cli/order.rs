//! What every decision takes, and what is said when it is made.

use super::{
    Failure,
    say::say,
    source::{Source, SourceArgs},
};
use crate::{
    client::RunId,
    domain::{
        DecisionKind, Run,
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
        let answer = on.decide(run, &body).await?;
        match self.json {
            true => say!("{}", serde_json::to_string_pretty(&answer)?),
            false => told(&answer),
        }
        Ok(())
    }
}

fn told(answer: &DecideAnswer) {
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
        (crate::domain::RunStatus::Ready, _) => "queued: waiting for a worker".into(),
        (status, _) if crate::domain::rules::plan::resumable(status).is_ok() => {
            format!("{status}; `step47 resume {}` lets it go on", run.id)
        }
        (status, _) => status.to_string(),
    };
    say!("the run is {next} (version {})", run.version);
}
