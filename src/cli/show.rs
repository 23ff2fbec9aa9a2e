//! `step47 show`: a run, one of its steps, or its state at a snapshot.

use super::{
    Failure, runs,
    say::{clean, clip, say},
    source::SourceArgs,
};
use crate::domain::{RunId, StepDetail, views::words};

/// Letters of a value that stand on its line; `--json` has all of it.
const VALUE: usize = 200;

/// Show a run with what was decided last and its steps, with --step one of them in full, or with --at its state at a snapshot
#[derive(clap::Args)]
pub struct Args {
    /// The run's id
    run: RunId,
    /// The number of a snapshot; 0 is the initial state
    #[arg(long, value_name = "N")]
    at: Option<i64>,
    /// As JSON; with --at together with the snapshot's step, time and hash
    #[arg(long)]
    json: bool,
    /// The number of a step: its attempts, each with its idempotency key, and what was decided about it
    #[arg(long, value_name = "N", conflicts_with = "at")]
    step: Option<i64>,
    #[command(flatten)]
    source: SourceArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let source = args.source.open().await?;
    if let Some(seq) = args.step {
        let step = source.step(&args.run, seq).await?;
        match args.json {
            true => say!("{}", serde_json::to_string_pretty(&step)?),
            false => one_step(&step),
        }
        return Ok(());
    }
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

fn one_step(detail: &StepDetail) {
    let step = &detail.step;
    say!(
        "{} {}  {}",
        step.seq,
        clean(&step.name),
        words::detail_stands(detail)
    );
    if let Some(effect) = &step.effect {
        let said = effect.description.as_ref();
        let said = said.map_or(String::new(), |it| format!(": {}", clean(it)));
        say!("  effect     {}{said}", clean(&effect.target));
    }
    if let Some(doubt) = detail.doubt() {
        say!("  not known  {}", clean(&doubt.in_words()));
    }
    say!("  key        {}", clean(step.key.as_str()));
    say!("  sent as    {}", step.idempotency_key);
    say!("  input      {}", clip(&detail.input.to_string(), VALUE));
    if step.stood().is_settled() {
        let result = clip(&detail.result.to_string(), VALUE);
        let counts = match step.was {
            Some(_) => format!(" ({})", words::SUPERSEDED),
            None => String::new(),
        };
        say!("  result     {result}{counts}");
    }
    if let Some(error) = &detail.error {
        say!(
            "  error      {}: {}",
            clean(&error.kind),
            clean(&error.message)
        );
    }
    if let Some(gate) = &detail.gate {
        say!("  asks       {}", clean(&gate.title));
    }
    for attempt in &detail.attempts {
        let key = attempt.idempotency_key.as_deref().unwrap_or("—");
        say!(
            "  attempt {}  {:<10}{}  {}  key {key}",
            attempt.attempt,
            attempt.outcome.as_str(),
            attempt.begun_at,
            clean(&attempt.worker),
        );
    }
    for decision in &detail.decisions {
        let chosen = decision.chosen_for(step.seq);
        let what = match chosen {
            Some(chosen) => format!("decided “{}”", chosen.in_words()),
            None => words::did(decision.kind, decision),
        };
        say!("  {}  {} {what}", decision.at, clean(&decision.author));
        if let Some(result) = chosen.and_then(|it| it.result.as_ref()) {
            say!("             result {}", clean(&result.said()));
        }
        if let Some(reason) = &decision.reason {
            say!("             “{}”", clean(reason));
        }
    }
}
