//! `step47 diff`: what changed between two states, for people and for machines.

use std::io::{IsTerminal, Write};

use super::{
    Failure,
    say::say,
    source::{Source, SourceArgs},
};
use crate::domain::{
    RunId,
    diff::{
        self, Delta,
        rows::{self, Body, Mark, Row, Totals},
    },
    tree::Tree,
    views::{diff_sheet::DiffQuery, state_view::Label, words},
    wire::protocol::{Check as _, DiffAnswer},
};

/// Show what changed between two snapshots of a run, or of two runs
#[derive(clap::Args)]
pub struct Args {
    /// The run's id
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
    source: SourceArgs,
}

/// One of the two states, and where it comes from.
struct Side {
    run: RunId,
    snapshot: i64,
    /// The step that made it, by number and name.
    step: Option<(i64, String)>,
    tree: Tree,
}

impl Side {
    async fn read(source: &Source, run: &RunId, n: i64) -> Result<Self, Failure> {
        let found = source.snapshot(run, n).await?;
        let step = match found.seq {
            Some(seq) => Some((seq, source.step_name(run, seq).await?)),
            None => None,
        };
        Ok(Self {
            run: run.clone(),
            snapshot: n,
            step,
            tree: found.state.into(),
        })
    }
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let query = DiffQuery {
        from: Some(args.from),
        to: Some(args.to),
        other: args.other.filter(|other| *other != args.run),
    };
    query.check()?;
    let source = args.source.open().await?;
    let other = query.other.as_ref().unwrap_or(&args.run);
    let from = Side::read(&source, &args.run, args.from).await?;
    let to = Side::read(&source, other, args.to).await?;
    if args.patch {
        let ops = diff::ops(&from.tree, &to.tree);
        say!("{}", serde_json::to_string_pretty(&ops)?);
        return Ok(());
    }
    let delta = diff::compare(&from.tree, &to.tree);
    match args.json {
        true => {
            let answer = DiffAnswer {
                from: from.snapshot,
                to: to.snapshot,
                other: query.other.clone(),
                changes: diff::changes(&from.tree, &to.tree, &delta),
            };
            say!("{}", serde_json::to_string_pretty(&answer)?);
            Ok(())
        }
        false => print(&from, &to, &delta),
    }
}

fn print(from: &Side, to: &Side, delta: &Delta) -> Result<(), Failure> {
    let paint = Paint::for_stdout();
    let mut text = Vec::new();
    head(&mut text, &paint, from, to, delta)?;
    let mut after = 0;
    loop {
        let page = rows::rows(&from.tree, &to.tree, delta, after, None);
        for row in &page.rows {
            line(&mut text, &paint, row)?;
        }
        let page_text = String::from_utf8_lossy(&text);
        say!("{}", page_text.trim_end_matches('\n'));
        text.clear();
        match page.next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

fn head(
    out: &mut impl Write,
    paint: &Paint,
    from: &Side,
    to: &Side,
    delta: &Delta,
) -> std::io::Result<()> {
    let side = |side: &Side| {
        let step = match &side.step {
            Some((seq, name)) => format!("after {seq} {}", plain(name)),
            None => "no step's".into(),
        };
        let size = words::size(side.tree.size() as i64);
        format!("{} snapshot {} ({step}, {size})", side.run, side.snapshot)
    };
    writeln!(out, "{}--- {}{}", paint.removed, side(from), paint.off)?;
    writeln!(out, "{}+++ {}{}", paint.added, side(to), paint.off)?;
    let it = rows::totals(&from.tree, &to.tree, delta);
    match it == Totals::default() {
        true => writeln!(out, "the states are equal"),
        false => writeln!(out, "+{} -{} moved {}", it.added, it.removed, it.moved),
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
        Body::Open { list: true, count } => write!(out, "[ {}", words::several(*count, "item"))?,
        Body::Open { list: false, .. } => write!(out, "{{")?,
        Body::Close { list } => write!(out, "{}", if *list { "]" } else { "}" })?,
        Body::Fold { count, list, .. } => {
            let what = if *list { "item" } else { "key" };
            let unchanged = format!("unchanged {what}");
            write!(out, "{}", words::several(*count, &unchanged))?;
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
