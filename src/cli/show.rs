//! `step47 show`: a run, or its state at a snapshot.

use super::{Failure, runs, say::say, source::SourceArgs};
use crate::domain::RunId;

/// Show a run with its steps, or with --at its state at a snapshot
#[derive(clap::Args)]
pub struct Args {
    run: RunId,
    /// The number of a snapshot; 0 is the initial state
    #[arg(long, value_name = "N")]
    at: Option<i64>,
    /// As JSON; with --at together with the snapshot's step, time and hash
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let source = args.source.open().await?;
    let Some(n) = args.at else {
        return runs::show(&source, &args.run, args.json).await;
    };
    let found = source.snapshot(&args.run, n).await?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&found)?,
        false => serde_json::to_string_pretty(&found.state)?,
    };
    say!("{text}");
    Ok(())
}
