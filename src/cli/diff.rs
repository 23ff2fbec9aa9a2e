//! `step47 diff`: what changed between two states, for people and for machines.

use std::io::{IsTerminal, Write};

use super::{Failure, StoreArgs, say::say};
use crate::{
    domain::{
        RunId,
        diff::rows::{Body, Mark, Row},
        views::{
            diff_sheet::{DiffQuery, DiffSheet, Side},
            state_view::Label,
            words,
        },
    },
    store::Store,
};

/// Show what changed between two snapshots of a run, or of two runs
#[derive(clap::Args)]
pub struct Args {
    run: RunId,
    /// The snapshot to start from
    #[arg(value_name = "A")]
    from: i64,
    /// The snapshot to end at
    #[arg(value_name = "B")]
    to: i64,
    /// The run that B belongs to, if it is another
    #[arg(long, value_name = "RUN")]
    other: Option<RunId>,
    /// The changes as JSON, as /v1/runs/{id}/diff gives them
    #[arg(long, conflicts_with = "patch")]
    json: bool,
    /// The changes as an RFC 6902 patch
    #[arg(long)]
    patch: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let store = args.store.open().await?;
    let query = DiffQuery {
        from: Some(args.from),
        to: Some(args.to),
        other: args.other,
    };
    if args.json || args.patch {
        let compared = store.compare(&args.run, &query).await?;
        let text = match args.patch {
            true => serde_json::to_string_pretty(&compared.patch())?,
            false => serde_json::to_string_pretty(&compared.answer())?,
        };
        say!("{text}");
        return Ok(());
    }
    print(&store, &args.run, &query).await
}

async fn print(store: &Store, run: &RunId, query: &DiffQuery) -> Result<(), Failure> {
    let paint = Paint::for_stdout();
    let mut out = std::io::stdout().lock();
    let mut after = 0;
    loop {
        let sheet = store.diff_sheet(run, query, after, None).await?;
        if after == 0 {
            head(&mut out, &paint, &sheet)?;
        }
        for row in &sheet.page.rows {
            line(&mut out, &paint, row)?;
        }
        match sheet.page.next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

fn head(out: &mut impl Write, paint: &Paint, sheet: &DiffSheet) -> std::io::Result<()> {
    let side = |side: &Side| {
        let step = match (&side.step, side.seq) {
            (Some(name), Some(seq)) => format!("after {seq} {}", plain(name)),
            _ => "no step's".into(),
        };
        format!(
            "{} snapshot {} ({step}, {})",
            side.run,
            side.snapshot,
            words::size(side.bytes)
        )
    };
    writeln!(
        out,
        "{}--- {}{}",
        paint.removed,
        side(&sheet.from),
        paint.off
    )?;
    writeln!(out, "{}+++ {}{}", paint.added, side(&sheet.to), paint.off)?;
    match sheet.equal() {
        true => writeln!(out, "the states are equal"),
        false => {
            let it = sheet.totals;
            writeln!(out, "+{} -{} moved {}", it.added, it.removed, it.moved)
        }
    }
}

fn line(out: &mut impl Write, paint: &Paint, row: &Row) -> std::io::Result<()> {
    let (sign, colour) = match (row.mark, &row.body) {
        (Mark::Removed, _) => ("-", paint.removed),
        (Mark::Added, _) => ("+", paint.added),
        (Mark::Same, Body::Fold { .. }) => ("⋯", paint.dim),
        (Mark::Same, _) if row.from.is_some() => (">", paint.moved),
        (Mark::Same, _) => (" ", ""),
    };
    write!(out, "{colour}{sign} {}", "  ".repeat(row.depth as usize))?;
    if !matches!(row.body, Body::Close { .. }) {
        match &row.label {
            Some(Label::Key(key)) => {
                write!(out, "{}: ", plain(&serde_json::json!(key).to_string()))?
            }
            Some(Label::Index(index)) => write!(out, "[{index}] ")?,
            None => {}
        }
    }
    match &row.body {
        Body::Open { list: true, count } => write!(out, "[ {count} items")?,
        Body::Open { list: false, .. } => write!(out, "{{")?,
        Body::Close { list } => write!(out, "{}", if *list { "]" } else { "}" })?,
        Body::Fold { count, list, .. } => {
            let what = if *list { "items" } else { "keys" };
            write!(out, "{count} unchanged {what}")?;
        }
        Body::Value {
            pieces, clipped, ..
        } => {
            for piece in pieces {
                match piece.changed {
                    true => write!(
                        out,
                        "{}{}{}{colour}",
                        paint.changed,
                        plain(&piece.text),
                        paint.off
                    )?,
                    false => write!(out, "{}", plain(&piece.text))?,
                }
            }
            if *clipped {
                write!(out, " ({})", words::size(row.bytes))?;
            }
        }
    }
    if let Some(from) = &row.from {
        write!(out, "  (was {})", plain(from))?;
    }
    writeln!(out, "{}", if colour.is_empty() { "" } else { paint.off })
}

/// Agents' text on a terminal: no control characters.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '·' } else { c })
        .collect()
}

struct Paint {
    removed: &'static str,
    added: &'static str,
    moved: &'static str,
    changed: &'static str,
    dim: &'static str,
    off: &'static str,
}

impl Paint {
    fn for_stdout() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        match std::io::stdout().is_terminal() && !plain {
            true => Self {
                removed: "\u{1b}[31m",
                added: "\u{1b}[32m",
                moved: "\u{1b}[34m",
                changed: "\u{1b}[7m",
                dim: "\u{1b}[2m",
                off: "\u{1b}[0m",
            },
            false => Self {
                removed: "",
                added: "",
                moved: "",
                changed: "",
                dim: "",
                off: "",
            },
        }
    }
}
