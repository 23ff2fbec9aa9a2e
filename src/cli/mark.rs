//! `step47 note`, `pin`, `claim`, `acknowledge`: what people say about a run. None of them changes a step or a state, and
//! none needs a reason.

use super::{Failure, order, source::SourceArgs};
use crate::{
    client::RunId,
    domain::{DecisionKind, wire::protocol::Decide},
};

/// A note.
#[derive(Debug, clap::Args)]
pub struct NoteArgs {
    /// The run's id
    run: RunId,

    /// What it says
    text: String,

    /// The step that it is about
    #[arg(long, value_name = "STEP")]
    step: Option<i64>,

    /// As JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: SourceArgs,
}

/// A mark on the whole run.
#[derive(Debug, clap::Args)]
pub struct MarkArgs {
    /// The run's id
    run: RunId,

    /// Why: kept with the decision
    #[arg(long, short = 'm')]
    reason: Option<String>,

    /// As JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: SourceArgs,
}

pub async fn note(args: NoteArgs) -> Result<(), Failure> {
    let text = args.text.trim();
    if text.is_empty() {
        return Err("the text is empty: say what the note is about".into());
    }
    let body = Decide {
        step: args.step,
        text: Some(text.to_owned()),
        ..Decide::new(DecisionKind::Note)
    };
    let on = args.source.open().await?;
    order::send(&on, &args.run, body, args.json).await
}

pub async fn mark(kind: DecisionKind, args: MarkArgs) -> Result<(), Failure> {
    let on = args.source.open().await?;
    let version = match kind.needs_version() {
        true => Some(on.run(&args.run).await?.run.version),
        false => None,
    };
    let reason = args.reason.as_deref().map(str::trim);
    let body = Decide {
        if_version: version,
        reason: reason.filter(|it| !it.is_empty()).map(str::to_owned),
        ..Decide::new(kind)
    };
    order::send(&on, &args.run, body, args.json).await
}
