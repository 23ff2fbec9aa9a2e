//! The command line: one file per command.

// `println!` panics when nobody reads on: `say!` and `tell!` do not.
#![deny(clippy::print_stdout)]

mod agent;
mod audit;
mod decide;
mod demo;
mod diff;
mod edit;
mod inbox;
mod licenses;
mod mark;
mod migrate;
mod notes;
mod order;
mod plan;
mod run_head;
mod runs;
mod say;
mod serve;
mod show;
mod source;
mod token;
mod user;
mod verify;

use clap::{Parser, Subcommand};
use std::{process::ExitCode, time::Duration};

use crate::{
    domain::DecisionKind,
    server::{config::Config, telemetry},
    store::Store,
};

/// Who acts, in the audit trail, when a command works on the store itself.
const HERE: &str = "command line";

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The checkpoint store and the operator's console for long, multi-step AI agents.
///
/// A crash at step 47 doesn't redo steps 1–46: agents record each step here before and after they take it, and
/// operators see in a browser where a run broke and let it go on.
#[derive(Parser)]
#[command(
    name = "step47",
    version,
    propagate_version = true,
    after_help = "\
Start here:
  step47 serve                        a server on http://127.0.0.1:3047 with an embedded store in ./step47.db
  step47 token create --role agent --name my-agent
                                      a token for an agent, shown once
  step47 runs list                    what is going on
  step47 inbox                        what waits for a person's answer
  step47 plan RUN                     what a resume would do, before it does
  step47 diff RUN 45 46               what changed between two snapshots of a run

Commands that read or decide ask the server of --url or STEP47_URL, with the token of --token or STEP47_TOKEN. With
--store, or where no server is named, they open the store itself; none of them makes a new one.

Settings come from flags, then STEP47_* in the environment, then [step47] in Leptos.toml.
Exit codes: 0 done, 1 failed, 2 wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    #[command(subcommand)]
    Runs(runs::Command),
    Show(show::Args),
    Diff(diff::Args),
    Inbox(inbox::Args),
    Notes(notes::Args),
    Audit(audit::Args),
    #[command(subcommand)]
    Token(token::Command),
    #[command(subcommand)]
    User(user::Command),
    Migrate(migrate::Args),
    Verify(verify::Args),
    Plan(plan::Args),
    /// Run a crashed or failed step again
    Retry(decide::RetryArgs),
    /// It happened: take this result for a crashed or failed step
    Commit(decide::StepArgs),
    /// Go on without a step, with this result or null
    Skip(decide::StepArgs),
    Edit(edit::Args),
    /// Say yes at a gate
    Approve(decide::GateArgs),
    /// Say no at a gate
    Reject(decide::GateArgs),
    /// Answer a gate's question
    Answer(decide::GateArgs),
    /// Go back to before a step; nothing outside is undone
    Rewind(decide::BackArgs),
    /// Start a new run with the same past
    Fork(decide::ForkArgs),
    /// Stop a run between two steps, until it is resumed
    Pause(decide::RunArgs),
    /// Let a run that was held, failed or paused go on
    Resume(decide::ResumeArgs),
    /// Stop a run for good, between two steps
    Cancel(decide::RunArgs),
    /// Say something on a run's page, to everyone who opens it
    Note(mark::NoteArgs),
    /// Keep all states of a run, whatever is pruned later
    Pin(mark::MarkArgs),
    /// Say that you are on it, for 15 minutes; others can still decide
    Claim(mark::MarkArgs),
    /// Say that you have seen it: a run that crashed, failed or was cancelled leaves "Needs you", and what a rewind or a
    /// fork did not undo is no longer named
    Acknowledge(mark::MarkArgs),
    Agent(agent::Args),
    Demo(demo::Args),
    Licenses(licenses::Args),
}

impl Command {
    /// What goes on for long tells what it does; a command that answers and ends tells only what is wrong.
    fn log_level(&self) -> &'static str {
        match self {
            Self::Serve(_) | Self::Agent(_) | Self::Demo(_) => "info",
            _ => "warn",
        }
    }
}

/// Which store a command works on.
#[derive(Debug, clap::Args, Clone)]
pub struct StoreArgs {
    /// sqlite:FILE or postgres://USER@HOST/DATABASE
    #[arg(long, env = "STEP47_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,
}

impl StoreArgs {
    /// Opens what is there, without migrating: the store is taken as it is.
    async fn connect(&self) -> Result<Store, Failure> {
        source::existing(&Config::store_url(self.store.clone())?, "").await
    }

    /// Opens what is there and has this version's schema, to read it.
    async fn existing(&self) -> Result<Store, Failure> {
        let url = Config::store_url(self.store.clone())?;
        let store = source::existing(&url, "").await?;
        source::ready(&store, &url).await?;
        Ok(store)
    }

    /// Opens and migrates; makes the store if there is none.
    async fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open(&Config::store_url(self.store.clone())?).await?)
    }
}

pub fn main() -> ExitCode {
    let cli = Cli::parse();
    telemetry::start_logging(cli.command.log_level());
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(error.into()),
    };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Serve(args) => serve::run(args).await,
            Command::Runs(command) => runs::run(command).await,
            Command::Show(args) => show::run(args).await,
            Command::Diff(args) => diff::run(args).await,
            Command::Inbox(args) => inbox::run(args).await,
            Command::Notes(args) => notes::run(args).await,
            Command::Audit(args) => audit::run(args).await,
            Command::Token(command) => token::run(command).await,
            Command::User(command) => user::run(command).await,
            Command::Migrate(args) => migrate::run(args).await,
            Command::Verify(args) => verify::run(args).await,
            Command::Plan(args) => plan::run(args).await,
            Command::Retry(args) => decide::retry(args).await,
            Command::Commit(args) => decide::settle(DecisionKind::Commit, args).await,
            Command::Skip(args) => decide::settle(DecisionKind::Skip, args).await,
            Command::Edit(args) => edit::run(args).await,
            Command::Approve(args) => decide::answer(DecisionKind::Approve, args).await,
            Command::Reject(args) => decide::answer(DecisionKind::Reject, args).await,
            Command::Answer(args) => decide::answer(DecisionKind::Answer, args).await,
            Command::Rewind(args) => decide::rewind(args).await,
            Command::Fork(args) => decide::fork(args).await,
            Command::Pause(args) => decide::stop(DecisionKind::Pause, args).await,
            Command::Resume(args) => decide::resume(args).await,
            Command::Cancel(args) => decide::stop(DecisionKind::Cancel, args).await,
            Command::Note(args) => mark::note(args).await,
            Command::Pin(args) => mark::mark(DecisionKind::Pin, args).await,
            Command::Claim(args) => mark::mark(DecisionKind::Claim, args).await,
            Command::Acknowledge(args) => mark::mark(DecisionKind::Acknowledge, args).await,
            Command::Agent(args) => agent::run(args).await,
            Command::Demo(args) => demo::run(args).await,
            Command::Licenses(args) => licenses::run(args),
        }
    });
    // Work that nobody waits for any more must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(error),
    }
}

fn fail(error: Failure) -> ExitCode {
    eprintln!("step47: {error}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_decision_has_a_command_of_its_name() {
        let commands = Cli::command();
        for kind in DecisionKind::ALL {
            let command = commands.find_subcommand(kind.as_str());
            assert!(command.is_some(), "step47 {kind}");
        }
    }
}
