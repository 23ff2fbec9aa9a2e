//! What the demo lets happen, and waits for: each part as the console will show it.

use std::time::Duration;
use tokio::time::Instant;

use super::{children::Children, graph::Graph};
use crate::cli::say::tell;
use crate::{
    cli::Failure,
    client::{Client, Error, RunId},
    domain::{Code, Run, RunDetail, RunQuery, RunStatus, StepDetail, StepStatus},
};

/// Short, so that the killed worker's run is seen to crash while somebody watches.
const TTL_MS: &str = "5000";
/// The agents whose end is waited for work so many times faster than life.
const FAST: &str = "12";
const CHARGE: i64 = 47;
const LOOK: Duration = Duration::from_millis(50);
/// How long nothing new may be seen before the demo gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

pub struct Story<'a> {
    pub client: Client,
    pub children: &'a mut Children,
}

/// Who plays what: an agent, and where its run gets to.
pub(super) struct Role {
    pub agent: &'static str,
    pub args: &'static [&'static str],
    pub there: fn(&Run) -> bool,
    pub news: &'static str,
}

const INVOICES: Role = Role {
    agent: "invoice-reconciler",
    args: &["--speed", FAST, "--worker", "w-7f3a"],
    there: |run| run.status == RunStatus::Crashed,
    news: "crashed mid-flight: did the charge happen? That is for you to decide",
};
const TRIAGE: Role = Role {
    agent: "support-triage",
    args: &["--speed", FAST],
    there: |run| run.status == RunStatus::Waiting,
    news: "asks you: Send €120.00 back to the customer?",
};
const MENDED: Role = Role {
    agent: "db-migrator",
    args: &["--speed", FAST],
    there: |run| run.status == RunStatus::Done,
    news: "failed twice, was tried again, is done",
};
const BROKEN: Role = Role {
    agent: "db-migrator",
    args: &["--speed", FAST, "--fail"],
    there: |run| run.status == RunStatus::Failed,
    news: "failed for good at copy_table",
};
const LIVE: Role = Role {
    agent: "researcher",
    args: &[],
    there: |run| matches!(run.status, RunStatus::Running | RunStatus::Ready),
    news: "works for as long as you watch",
};
const LONG: Role = Role {
    agent: "doc-indexer",
    news: "has a long history",
    ..LIVE
};

/// A role's run, and the process that was started for it, if it was not there from the last time.
pub(super) struct Part {
    pub role: &'static Role,
    pub run: RunId,
    pub process: Option<usize>,
}

impl Story<'_> {
    pub async fn tell(mut self, history: i64, graph: Result<Graph, String>) -> Result<(), Failure> {
        let invoices = self.cast(&INVOICES, &[]).await?;
        let long = self
            .cast(&LONG, &["--history", &history.to_string()])
            .await?;
        let mut others = Vec::new();
        for role in [&TRIAGE, &MENDED, &BROKEN, &LIVE] {
            others.push(self.cast(role, &[]).await?);
        }
        self.kill_inside_the_charge(&invoices).await?;
        // Whatever becomes runnable from here on finds a worker; the crashed run one of a newer version.
        let newer = ["--worker", "w-b210", "--agent-version", "3.2.2"];
        self.worker(INVOICES.agent, &newer)?;
        for role in [&TRIAGE, &MENDED, &LIVE, &LONG] {
            self.worker(role.agent, &[])?;
        }
        match graph {
            Ok(graph) => others.extend(self.bill(&graph).await?),
            Err(why) => say(
                "langgraph-billing",
                &format!("left out: {why} (see --python)"),
            ),
        }
        for part in &others {
            self.until_there(part).await?;
        }
        self.grow(&long).await
    }

    /// A run that a demo before has left as it should be, or a new one in a process of its own.
    async fn cast(&mut self, role: &'static Role, args: &[&str]) -> Result<Part, Failure> {
        let query = RunQuery {
            agent: Some(role.agent.into()),
            ..RunQuery::default()
        };
        let left = self.client.runs(&query).await?.runs;
        let (run, process) = match left.into_iter().find(role.there) {
            Some(run) => (run.id, None),
            None => {
                let run: RunId = uuid::Uuid::now_v7().to_string().parse()?;
                let own = ["--run", run.as_str(), "--ttl-ms", TTL_MS];
                let args = [&own[..], role.args, args].concat();
                let process = self.children.agent(role.agent, &args)?;
                (run, Some(process))
            }
        };
        Ok(Part { role, run, process })
    }

    fn worker(&mut self, agent: &str, args: &[&str]) -> Result<(), Failure> {
        let args = [&["--poll", "--ttl-ms", TTL_MS], args].concat();
        self.children.agent(agent, &args).map(drop)
    }

    /// Waits until the request is out and unanswered, then kills the worker.
    async fn kill_inside_the_charge(&mut self, part: &Part) -> Result<(), Failure> {
        if let Some(process) = part.process {
            let deadline = Instant::now() + PATIENCE;
            while !self
                .step(part, CHARGE)
                .await?
                .is_some_and(|step| under_way(&step))
            {
                look_again(deadline, part.role.agent).await?;
            }
            let id = self.children.kill(process).await?;
            say(
                part.role.agent,
                &format!(
                    "killed (kill -9 {id}) inside step {CHARGE}, charge_card; its lease runs out in 5 s"
                ),
            );
        }
        self.until_there(part).await
    }

    pub(super) async fn step(&self, part: &Part, seq: i64) -> Result<Option<StepDetail>, Failure> {
        match self.client.step(&part.run, seq, 0).await {
            Ok(step) => Ok(Some(step)),
            Err(Error::Refused(problem)) if problem.code == Code::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn run(&self, part: &Part) -> Result<Option<RunDetail>, Failure> {
        match self.client.run(&part.run).await {
            Ok(run) => Ok(Some(run)),
            Err(Error::Refused(problem)) if problem.code == Code::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn until_there(&self, part: &Part) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        let there = |detail: RunDetail| (part.role.there)(&detail.run);
        while !self.run(part).await?.is_some_and(there) {
            look_again(deadline, part.role.agent).await?;
        }
        say(part.role.agent, part.role.news);
        Ok(())
    }

    /// Waits for the history that the run was created for, and says how it grows.
    async fn grow(&self, part: &Part) -> Result<(), Failure> {
        let (mut told, mut seen) = (0, 0);
        let mut deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(detail) = self.run(part).await? {
                let steps = detail.run.steps;
                let history = detail.input["history"].as_i64().unwrap_or(0);
                if steps >= history {
                    say(part.role.agent, &format!("{steps} steps, and counting"));
                    return Ok(());
                }
                if steps >= told + 2_000 {
                    told = steps;
                    say(part.role.agent, &format!("{steps} of {history} steps"));
                }
                if steps > seen {
                    (seen, deadline) = (steps, Instant::now() + PATIENCE);
                }
            }
            look_again(deadline, part.role.agent).await?;
        }
    }
}

/// Begun, and it has told so much that the request must be out.
pub(super) fn under_way(step: &StepDetail) -> bool {
    step.step.status == StepStatus::Running
        && step
            .attempts
            .last()
            .is_some_and(|attempt| attempt.partial.is_some())
}

pub(super) async fn look_again(deadline: Instant, agent: &str) -> Result<(), Failure> {
    tokio::time::sleep(LOOK).await;
    match Instant::now() < deadline {
        true => Ok(()),
        false => Err(format!("{agent} did not get where it should").into()),
    }
}

pub(super) fn say(agent: &str, news: &str) {
    tell!("{agent:<20}{news}");
}
