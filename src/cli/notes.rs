//! `step47 notes`: what people noted on a run.

use super::{
    Failure,
    say::{clip, say},
    source::SourceArgs,
};
use crate::domain::{DecisionKind, RunId, rules::decision::Decision};

/// Show the notes on a run, newest first.
#[derive(clap::Args)]
pub struct Args {
    /// The run's id
    run: RunId,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let source = args.source.open().await?;
    let (mut before, mut found) = (None, false);
    loop {
        let page = source.decisions(&args.run, before).await?;
        for note in page.decisions {
            if note.kind != DecisionKind::Note {
                continue;
            }
            found = true;
            match args.json {
                true => say!("{}", serde_json::to_string(&note)?),
                false => print(&note),
            }
        }
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    if !found && !args.json {
        say!("No notes on run {} {source}", args.run);
    }
    Ok(())
}

fn print(note: &Decision) {
    let step = note
        .step
        .map_or(String::new(), |step| format!(", step {step}"));
    say!("{}  {}{step}", note.at, clip(&note.author, 100));
    for line in note.text.as_deref().unwrap_or_default().lines() {
        say!("    {}", clip(line, 10_000));
    }
}
