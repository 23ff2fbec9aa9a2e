//! `step47 verify`: hold everything that is stored against its hashes, and name each place that is damaged.

use std::io::{IsTerminal, Write};

use super::{Failure, StoreArgs, say::say};
use crate::{
    domain::{
        RunId,
        nouns::{
            integrity::Verified,
            noted::{Chain, Noted},
        },
    },
    store::{Store, verify::Progress},
};

/// Verify what is stored: states, results, errors, decisions and the chain of events
///
/// Names each damaged place and the last good one before it. Exit code 0: all is as it was written; 1: something is
/// damaged, or could not be read.
#[derive(clap::Args)]
pub struct Args {
    /// Only this run
    run: Option<RunId>,
    /// A head noted down before, as EVENT:HASH or HASH alone; the chain must have it
    ///
    /// Without one it cannot be known whether the newest events were cut off together with all that tells of them.
    #[arg(long, value_name = "[EVENT:]HASH")]
    head: Option<String>,
    /// The same for the audit trail, which has a chain of its own
    #[arg(long, value_name = "[ENTRY:]HASH", conflicts_with = "run")]
    audit_head: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let noted = |head: &String| head.parse::<Noted>();
    let expected = args.head.as_ref().map(noted).transpose()?;
    let audited = args.audit_head.as_ref().map(noted).transpose()?;
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
    let found = match expected {
        Some(head) => Some(find(&store, head, Chain::Events).await?),
        None => None,
    };
    let entry = match audited {
        Some(head) => Some(find(&store, head, Chain::Audit).await?),
        None => None,
    };
    store.close().await;
    match args.json {
        true => {
            let mut answer = serde_json::to_value(&verified)?;
            answer["head_compared"] = found.is_some().into();
            answer["audit_head_compared"] = entry.is_some().into();
            say!("{}", serde_json::to_string_pretty(&answer)?);
        }
        false => print(&verified, found, entry),
    }
    match verified.good() {
        true => Ok(()),
        false => Err(verified.in_words().into()),
    }
}

/// One link of a chain, and several.
fn links(chain: Chain) -> (&'static str, &'static str) {
    match chain {
        Chain::Events => ("event", "events"),
        Chain::Audit => ("audit entry", "audit entries"),
    }
}

/// What is known of a chain's tail: all, if a head that was kept elsewhere is in it; nothing otherwise.
fn tail(chain: Chain, compared: Option<i64>, flag: &str, head: &str) -> String {
    let (one, many) = links(chain);
    match compared {
        Some(number) => format!(
            "the head noted down at {one} {number} is in this chain: nothing was cut off before it"
        ),
        None => format!(
            "not known: whether newer {many} were cut off together with all that tells of them. Note this head \
             down elsewhere, and compare later: step47 verify {flag} {head}"
        ),
    }
}

/// The number of a noted head; without it the chain is another one, or was cut off before it.
async fn find(store: &Store, noted: Noted, chain: Chain) -> Result<i64, Failure> {
    let (one, many) = links(chain);
    let found = store.noted_at(chain, noted).await?;
    found.ok_or_else(|| match noted.number {
        Some(number) => format!("{one} {number} does not have the head that was noted down").into(),
        None => format!(
            "no {one} has the head that was noted down: {many} were cut off, or it is another store"
        )
        .into(),
    })
}

fn print(verified: &Verified, compared: Option<i64>, entry: Option<i64>) {
    for damage in &verified.damages {
        say!("damaged: {damage}");
    }
    let checked = verified.checked;
    say!(
        "looked at {} events, {} runs, {} steps, {} snapshots",
        checked.events,
        checked.runs,
        checked.steps,
        checked.snapshots
    );
    if verified.good() {
        say!("{}", verified.in_words());
        let head = format!("{}:{}", verified.event, verified.head);
        say!("head {head}");
        say!("{}", tail(Chain::Events, compared, "--head", &head));
        if let Some(audit) = verified.audit {
            let head = format!("{}:{}", audit.entry, audit.head);
            say!("audit head {head}");
            say!("{}", tail(Chain::Audit, entry, "--audit-head", &head));
        }
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
