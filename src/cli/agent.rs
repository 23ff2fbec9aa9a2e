//! `step47 agent`: sample agents with believable work, through the same SDK that any agent uses.

use clap::ValueEnum;
use serde::Serialize;
use std::{future::Future, path::PathBuf, time::Duration};

use crate::{
    cli::{Failure, say::tell},
    client::{Client, CreateRun, Error, LeaseRun, RunId, Session, State, Worker, asked_to_end},
};

mod db_migrator;
mod doc_indexer;
mod invoice_reconciler;
mod line;
mod random;
mod researcher;
mod stage;
mod support_triage;

use stage::{Props, Stage};

/// Run a sample agent against a server.
///
/// Without --run it starts a new run; with --run it goes on with that one, from its last checkpoint. Kill it
/// whenever you like, start it again with the same --run: committed steps are not executed again.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which agent
    #[arg(value_enum)]
    name: Name,

    /// Where the server listens
    #[arg(
        long,
        alias = "server",
        env = "STEP47_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:3047"
    )]
    url: String,

    /// A token of the role agent, from `step47 token create --role agent --name NAME`
    #[arg(long, env = "STEP47_TOKEN", hide_env_values = true)]
    token: String,

    /// The run to start or to go on with
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,

    /// Start no run: wait for runs of this agent that need a worker, until stopped
    #[arg(long, conflicts_with = "run")]
    poll: bool,

    /// The worker's name, as the console shows it [default: w- and four digits]
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,

    /// The code version it says it has [default: the agent's own]
    #[arg(long, value_name = "VERSION")]
    agent_version: Option<String>,

    /// How long the run is held without a heartbeat
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    ttl_ms: u64,

    /// How many times faster than life it works
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = faster)]
    speed: f64,

    /// Kill the own process with SIGKILL inside this step, by number or key
    #[arg(long, value_name = "STEP")]
    die_at: Option<String>,

    /// Append the key of each step that is executed, one per line
    #[arg(long, value_name = "PATH")]
    count_file: Option<PathBuf>,

    /// Append the idempotency key of each effect that happens, one per line
    #[arg(long, value_name = "PATH")]
    effects_file: Option<PathBuf>,

    /// db-migrator: a new run fails for good instead of recovering at the third attempt
    #[arg(long)]
    fail: bool,

    /// doc-indexer: how many steps a new run takes as fast as the server does, before it slows down
    #[arg(long, value_name = "STEPS", default_value_t = 10_000)]
    history: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// 52 steps with two payments; number 47 charges a card
    InvoiceReconciler,
    /// Waits for a person before it sends money back
    SupportTriage,
    /// A step that fails twice and is tried again, or fails for good
    DbMigrator,
    /// Goes on for as long as you watch
    Researcher,
    /// Thousands of steps
    DocIndexer,
}

fn faster(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed > 0.0 && speed.is_finite() => Ok(speed),
        _ => Err("must be a number above 0".into()),
    }
}

pub async fn run(args: Args) -> Result<(), Failure> {
    match args.name {
        Name::InvoiceReconciler => {
            let run = invoice_reconciler::create();
            perform(args, run, invoice_reconciler::work).await
        }
        Name::SupportTriage => perform(args, support_triage::create(), support_triage::work).await,
        Name::DbMigrator => {
            let run = db_migrator::create(args.fail);
            perform(args, run, db_migrator::work).await
        }
        Name::Researcher => perform(args, researcher::create(), researcher::work).await,
        Name::DocIndexer => {
            let run = doc_indexer::create(args.history);
            perform(args, run, doc_indexer::work).await
        }
    }
}

/// Works on one run, or on all that come, as `args` say.
async fn perform<S, R, A, F>(args: Args, mut run: CreateRun, work: A) -> Result<(), Failure>
where
    S: State,
    R: Serialize + Send + 'static,
    A: Fn(Session<S>, Stage) -> F + Send + Sync + 'static,
    F: Future<Output = Result<R, Error>> + Send + 'static,
{
    let client = Client::new(&args.url, &args.token)?;
    let own_name = || format!("w-{:04x}", std::process::id() & 0xffff);
    let worker = args.worker.unwrap_or_else(own_name);
    run.version = args.agent_version.or(run.version);
    let stage = Stage::new(Props {
        speed: args.speed,
        die_at: args.die_at,
        count_file: args.count_file,
        effects_file: args.effects_file,
    });
    if args.poll {
        let version = run.version.unwrap_or_default();
        Worker::new(client, worker)
            .ttl(Duration::from_millis(args.ttl_ms))
            .concurrency(4)
            .agent(run.agent, version, move |session| {
                work(session, stage.clone())
            })
            .run()
            .await;
        return Ok(());
    }
    run.id = args.run;
    let lease = LeaseRun {
        ttl_ms: args.ttl_ms as i64,
        ..LeaseRun::from(worker)
    };
    let session = client.open(run, lease).await?;
    tell!("run {}", session.id());
    let outcome = interruptible(&session, work(session.clone(), stage)).await;
    match session.settle(outcome).await {
        Ok(()) => tell!("done"),
        // The run is in good hands: it goes on when a person, a clock or another worker lets it.
        Err(
            left @ (Error::Waiting | Error::Asleep(_) | Error::Stopped(_) | Error::Interrupted),
        ) => tell!("{left}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Lets the work stop at its next step boundary when this process is asked to end.
async fn interruptible<S: State, T>(session: &Session<S>, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        outcome = &mut work => outcome,
        () = asked_to_end() => {
            session.interrupt();
            work.await
        }
    }
}
