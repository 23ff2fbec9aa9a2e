//! The demo's LangGraph agent: the example of the Python SDK, killed inside the node that charges. It is there when a
//! Python with the packages is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::{process::Command, time::Instant};

use super::story::{PATIENCE, Part, Role, Story, look_again, say, under_way};
use crate::{
    cli::Failure,
    domain::{RunQuery, RunStatus},
};

/// The graph, and the bank that it charges at.
const GRAPH: (&str, &str) = (
    "langgraph_billing.py",
    include_str!("../../../clients/python/examples/langgraph_billing.py"),
);
const BANK: (&str, &str) = (
    "bank.py",
    include_str!("../../../clients/python/examples/bank.py"),
);
/// Of its nodes price and charge.
const CHARGE: i64 = 2;
/// Seconds, so that it is seen to crash while somebody watches.
const TTL: &str = "5";
/// Longer than the demo waits for anything: the bank's answer never comes.
const NO_ANSWER: &str = "3600";

const BILLING: Role = Role {
    agent: "langgraph-billing",
    args: &[],
    there: |run| run.status == RunStatus::Crashed,
    news: "a LangGraph graph, crashed mid-flight in its node charge: for you to decide",
};

pub struct Graph {
    python: PathBuf,
    script: PathBuf,
    ledger: PathBuf,
}

impl Graph {
    /// The example as files in the demo's folder, or why it is left out.
    pub async fn ready(python: &Path, folder: &Path) -> Result<Self, String> {
        let shown = python.display();
        let found = Command::new(python)
            .args(["-c", "import langgraph.graph, step47.langgraph"])
            .stdin(Stdio::null())
            .output()
            .await;
        match found {
            Err(error) => return Err(format!("{shown}: {error}")),
            Ok(found) if !found.status.success() => {
                return Err(format!("{shown} has no step47 with langgraph"));
            }
            Ok(_) => {}
        }
        for (name, text) in [GRAPH, BANK] {
            fs::write(folder.join(name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(Self {
            python: python.to_owned(),
            script: folder.join(GRAPH.0),
            ledger: folder.join("bank.txt"),
        })
    }

    fn command(&self, program: Command, bank_seconds: &str, args: &[&str]) -> Command {
        let mut command = program;
        command
            .arg(&self.script)
            .args(args)
            .env("EXAMPLE_LEDGER", &self.ledger)
            .env("EXAMPLE_BANK_SECONDS", bank_seconds)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}

impl Story<'_> {
    /// Begins an invoice, kills it while the bank has its charge, and lets a worker wait for what is decided. What is
    /// there from the last time needs no other.
    pub(super) async fn bill(&mut self, graph: &Graph) -> Result<Option<Part>, Failure> {
        let query = RunQuery {
            agent: Some(BILLING.agent.into()),
            ..RunQuery::default()
        };
        let left = self.client.runs(&query).await?.runs;
        let killed = match left.iter().any(BILLING.there) {
            true => None,
            false => Some(self.killed_inside_its_charge(graph).await?),
        };
        let worker = graph.command(self.children.program(&graph.python), "0", &["serve"]);
        self.children.start(BILLING.agent, worker)?;
        Ok(killed)
    }

    async fn killed_inside_its_charge(&mut self, graph: &Graph) -> Result<Part, Failure> {
        let run = format!("invoice-{}", uuid::Uuid::now_v7());
        let args = [&run, "--cents", "4900", "--ttl", TTL];
        let begun = graph.command(self.children.program(&graph.python), NO_ANSWER, &args);
        let process = self.children.start(BILLING.agent, begun)?;
        let part = Part {
            role: &BILLING,
            run: run.parse()?,
            process: Some(process),
        };
        let deadline = Instant::now() + PATIENCE;
        while !self
            .step(&part, CHARGE)
            .await?
            .is_some_and(|step| under_way(&step))
        {
            look_again(deadline, BILLING.agent).await?;
        }
        let id = self.children.kill(process).await?;
        let news =
            format!("killed (kill -9 {id}) inside its node charge; its lease runs out in {TTL} s");
        say(BILLING.agent, &news);
        Ok(part)
    }
}
