//! What the demo lets happen, and waits for: each part as the console will show it.

use std::time::Duration;
use tokio::time::Instant;

use super::children::Children;
use crate::{
    cli::Failure,
    client::{Client, Error, RunId},
    domain::{Code, Run, RunQuery, RunStatus, StepDetail, StepStatus},
};

/// Short, so that the killed worker's run is seen to crash while somebody watches.
const TTL_MS: &str = "5000";
/// The agents whose end is waited for work so many times faster than life.
const FAST: &str = "12";
const CHARGE: i64 = 47;
const LOOK: Duration = Duration::from_millis(50);
/// How long nothing new may be seen before the demo gives up.
const PATIENCE: Duration = Duration::from_secs(90);

pub struct Story<'a> {
    pub client: Client,
    pub children: &'a mut Children,
}

/// A run of the story, and the process that was started for it, if it was not there from the last time.
struct Part {
    agent: &'static str,
    run: RunId,
    process: Option<usize>,
}

impl Story<'_> {
    pub async fn tell(mut self, history: i64) -> Result<(), Failure> {
        let going_on = |run: &Run| matches!(run.status, RunStatus::Running | RunStatus::Ready);
        let is = |status| move |run: &Run| run.status == status;

        let fast = ["--speed", FAST];
        let invoices = self
            .part(
                "invoice-reconciler",
                is(RunStatus::Crashed),
                &["--speed", FAST, "--worker", "w-7f3a"],
            )
            .await?;
        let triage = self
            .part("support-triage", is(RunStatus::Waiting), &fast)
            .await?;
        let mended = self.part("db-migrator", is(RunStatus::Done), &fast).await?;
        let broken = self
            .part(
                "db-migrator",
                is(RunStatus::Failed),
                &["--speed", FAST, "--fail"],
            )
            .await?;
        let steps = history.to_string();
        let indexer = self
            .part("doc-indexer", going_on, &["--history", &steps])
            .await?;
        let researcher = self.part("researcher", going_on, &[]).await?;

        self.kill_inside_the_charge(&invoices).await?;
        // Whatever becomes runnable from here on finds a worker; the crashed run one of a newer version.
        self.worker(
            "invoice-reconciler",
            &["--worker", "w-b210", "--agent-version", "3.2.2"],
        )?;
        for agent in ["support-triage", "db-migrator", "doc-indexer", "researcher"] {
            self.worker(agent, &[])?;
        }
        self.until(
            &triage,
            is(RunStatus::Waiting),
            "asks you: Send €120.00 back to the customer?",
        )
        .await?;
        self.until(
            &mended,
            is(RunStatus::Done),
            "failed twice, was tried again, is done",
        )
        .await?;
        self.until(
            &broken,
            is(RunStatus::Failed),
            "failed for good at copy_table",
        )
        .await?;
        self.grow(&indexer, history).await?;
        self.until(
            &researcher,
            is(RunStatus::Running),
            "works for as long as you watch",
        )
        .await
    }

    /// A run of this agent that a demo before has left as it should be, or a new one in a process of its own.
    async fn part(
        &mut self,
        agent: &'static str,
        fits: impl Fn(&Run) -> bool,
        args: &[&str],
    ) -> Result<Part, Failure> {
        let query = RunQuery {
            agent: Some(agent.into()),
            ..RunQuery::default()
        };
        let left = self.client.runs(&query).await?.runs;
        if let Some(run) = left.into_iter().find(|run| fits(run)) {
            let (run, process) = (run.id, None);
            return Ok(Part {
                agent,
                run,
                process,
            });
        }
        let run: RunId = uuid::Uuid::now_v7().to_string().parse()?;
        let args = [&["--run", run.as_str(), "--ttl-ms", TTL_MS], args].concat();
        let process = Some(self.children.agent(agent, &args)?);
        Ok(Part {
            agent,
            run,
            process,
        })
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
                look_again(deadline, part.agent).await?;
            }
            let id = self.children.kill(process).await?;
            say(
                part.agent,
                &format!(
                    "killed (kill -9 {id}) inside step {CHARGE}, charge_card; its lease runs out in 5 s"
                ),
            );
        }
        let crashed = |run: &Run| run.status == RunStatus::Crashed;
        self.until(
            part,
            crashed,
            "crashed mid-flight: did the charge happen? That is for you to decide",
        )
        .await
    }

    async fn step(&self, part: &Part, seq: i64) -> Result<Option<StepDetail>, Failure> {
        match self.client.step(&part.run, seq, 0).await {
            Ok(step) => Ok(Some(step)),
            Err(Error::Refused(problem)) if problem.code == Code::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn run(&self, part: &Part) -> Result<Option<Run>, Failure> {
        match self.client.run(&part.run).await {
            Ok(run) => Ok(Some(run.run)),
            Err(Error::Refused(problem)) if problem.code == Code::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn until(
        &self,
        part: &Part,
        there: impl Fn(&Run) -> bool,
        news: &str,
    ) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        while !self.run(part).await?.is_some_and(|run| there(&run)) {
            look_again(deadline, part.agent).await?;
        }
        say(part.agent, news);
        Ok(())
    }

    /// Waits for the history, and says how it grows.
    async fn grow(&self, part: &Part, history: i64) -> Result<(), Failure> {
        let (mut told, mut seen) = (0, 0);
        let mut deadline = Instant::now() + PATIENCE;
        loop {
            let steps = self.run(part).await?.map_or(0, |run| run.steps);
            if steps >= history {
                say(part.agent, &format!("{steps} steps, and counting"));
                return Ok(());
            }
            if steps >= told + 2_000 {
                told = steps;
                say(part.agent, &format!("{steps} of {history} steps"));
            }
            if steps > seen {
                (seen, deadline) = (steps, Instant::now() + PATIENCE);
            }
            look_again(deadline, part.agent).await?;
        }
    }
}

/// Begun, and it has told so much that the request must be out.
fn under_way(step: &StepDetail) -> bool {
    step.step.status == StepStatus::Running
        && step
            .attempts
            .last()
            .is_some_and(|attempt| attempt.partial.is_some())
}

async fn look_again(deadline: Instant, agent: &str) -> Result<(), Failure> {
    tokio::time::sleep(LOOK).await;
    match Instant::now() < deadline {
        true => Ok(()),
        false => Err(format!("{agent} did not get where it should").into()),
    }
}

fn say(agent: &str, news: &str) {
    println!("{agent:<20}{news}");
}
