//! A server that a command talks to, by the same API and rules as everyone else.

use super::{Failure, say::say};
use crate::{
    client::{Client, RunId},
    domain::{
        DecisionKind, Run,
        wire::protocol::{Decide, DecideAnswer},
    },
};
use std::time::Duration;

/// Which server, and as whom.
#[derive(Debug, clap::Args)]
pub struct RemoteArgs {
    /// Where the server listens
    #[arg(long, env = "STEP47_URL", default_value = "http://127.0.0.1:3047")]
    server: String,

    /// A token of the role operator, from `step47 token create --role operator --name NAME`
    #[arg(long, env = "STEP47_TOKEN", hide_env_values = true)]
    token: String,
}

/// What every decision takes.
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
    remote: RemoteArgs,
}

impl RemoteArgs {
    pub fn client(&self) -> Result<Client, Failure> {
        let patience = Duration::from_secs(5);
        Ok(Client::new(&self.server, &self.token)?.patience(patience))
    }
}

impl OrderArgs {
    pub fn client(&self) -> Result<Client, Failure> {
        self.remote.client()
    }

    /// Decides on the run as it is now, or as it was at the version that was named.
    pub async fn decide(&self, run: &RunId, body: Decide) -> Result<(), Failure> {
        if self.reason.trim().is_empty() {
            return Err("--reason: say why; it is kept with the decision".into());
        }
        let client = self.client()?;
        let version = match self.if_version.or(body.if_version) {
            Some(version) => version,
            None => client.run(run).await?.run.version,
        };
        let body = Decide {
            if_version: Some(version),
            reason: Some(self.reason.trim().to_owned()),
            ..body
        };
        let answer = client.decide(run, &body).await?;
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
