//! `step47 verify`: hold everything that is stored against its hashes, and name each place that is damaged.

use std::io::{IsTerminal, Write};

use super::{Failure, StoreArgs};
use crate::{
    domain::{Hash, RunId, integrity::Verified},
    store::verify::Progress,
};

/// Verify what is stored: states, results, errors, decisions and the chain of events
///
/// Names each damaged place and the last good one before it. Exit code 0: all is as it was written; 1: something is
/// damaged, or could not be read.
#[derive(clap::Args)]
pub struct Args {
    /// Only this run
    run: Option<RunId>,
    /// A head noted down before, as EVENT:HASH; the chain must have it
    #[arg(long, value_name = "EVENT:HASH")]
    head: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let expected = args.head.as_deref().map(noted).transpose()?;
    let store = args.store.connect().await?;
    let ready = store.ready().await.unwrap_or(true);
    if !ready {
        return Err("the store has not this version's schema: run `step47 migrate` first".into());
    }
    let mut bar = Bar::default();
    let verified = store
        .verify(args.run.as_ref(), &mut |progress| bar.draw(progress))
        .await;
    bar.clear();
    let verified = verified?;
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&verified)?),
        false => print(&verified),
    }
    if let Some((event, head)) = expected
        && store.head_at(event).await? != Some(head)
    {
        return Err(format!("event {event} does not have the head that was noted down").into());
    }
    store.close().await;
    match verified.good() {
        true => Ok(()),
        false => Err(verified.in_words().into()),
    }
}

fn noted(head: &str) -> Result<(i64, Hash), Failure> {
    let wrong = "a head is EVENT:HASH, as `step47 verify` prints it";
    let (event, hash) = head.split_once(':').ok_or(wrong)?;
    Ok((event.parse().map_err(|_| wrong)?, hash.parse()?))
}

fn print(verified: &Verified) {
    for damage in &verified.damages {
        println!("damaged: {damage}");
    }
    let checked = verified.checked;
    println!(
        "looked at {} events, {} runs, {} steps, {} snapshots",
        checked.events, checked.runs, checked.steps, checked.snapshots
    );
    if verified.good() {
        println!("{}", verified.in_words());
        println!("head {}:{}", verified.event, verified.head);
    }
}

/// A bar on a terminal; silent elsewhere.
#[derive(Default)]
struct Bar {
    drawn: i64,
}

const WIDTH: i64 = 40;

impl Bar {
    fn draw(&mut self, progress: Progress) {
        let permille = progress.done * 1_000 / progress.of.max(1);
        if permille <= self.drawn || !std::io::stderr().is_terminal() {
            return;
        }
        self.drawn = permille;
        let full = (permille * WIDTH / 1_000) as usize;
        let rest = WIDTH as usize - full;
        eprint!(
            "\r[{}{}] {:>3} %",
            "#".repeat(full),
            "·".repeat(rest),
            permille / 10
        );
        // A bar that cannot be drawn is no reason to stop.
        let _ = std::io::stderr().flush();
    }

    fn clear(&self) {
        if self.drawn > 0 {
            eprint!("\r{}\r", " ".repeat(WIDTH as usize + 8));
        }
    }
}
