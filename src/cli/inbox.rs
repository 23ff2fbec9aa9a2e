//! `step47 inbox`: what waits for a person's answer, as the console's inbox shows it.

use serde_json::{Value, json};

use super::{
    Failure,
    say::{clip, say},
    source::{Source, SourceArgs},
};
use crate::domain::{
    RunId,
    views::inbox::{InboxItem, InboxPage},
};

/// List the questions that wait for a person, oldest first.
///
/// Each comes with the command that answers it. Runs that crashed or failed are found by `step47 runs list --status`.
#[derive(clap::Args)]
pub struct Args {
    /// How many, the oldest ones
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

/// The questions that fit, and those that cannot be shown.
struct Waiting {
    items: Vec<InboxItem>,
    damaged: Vec<(RunId, i64)>,
    more: bool,
}

impl Waiting {
    async fn read(source: &Source, limit: usize) -> Result<Self, Failure> {
        let (mut items, mut damaged) = (Vec::new(), Vec::new());
        let mut cursor: Option<String> = None;
        loop {
            let page: InboxPage = source.inbox(cursor.as_deref()).await?;
            items.extend(page.items);
            damaged.extend(page.damaged);
            if page.next.is_none() || items.len() > limit {
                let more = items.len() > limit;
                items.truncate(limit);
                return Ok(Self {
                    items,
                    damaged,
                    more,
                });
            }
            cursor = page.next;
        }
    }
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let source = args.source.open().await?;
    let waiting = Waiting::read(&source, args.limit).await?;
    if args.json {
        let Waiting {
            items,
            damaged,
            more,
        } = waiting;
        let page = json!({"items": items, "damaged": damaged, "more": more});
        say!("{}", serde_json::to_string_pretty(&page)?);
        return Ok(());
    }
    if waiting.items.is_empty() && waiting.damaged.is_empty() {
        say!("No question waits for a person {source}");
    }
    for item in &waiting.items {
        question(item);
    }
    for (run, seq) in &waiting.damaged {
        say!(
            "the question of step {seq} of {run} is damaged in the store: see `step47 verify {run}`"
        );
    }
    if waiting.more {
        say!("more are waiting: ask for them with --limit");
    }
    Ok(())
}

fn question(item: &InboxItem) {
    let InboxItem { run, seq, gate, .. } = item;
    let choices = gate.choices.iter().flatten();
    let choices: Vec<_> = choices.map(|it| clip(&word(it), 40)).collect();
    let offered = match choices.is_empty() {
        true => String::new(),
        false => format!("  [{}]", choices.join(" | ")),
    };
    say!("{}  {}{offered}", item.since, clip(&gate.title, 200));
    let title = item.title.as_deref().unwrap_or("no title");
    let (title, agent) = (clip(title, 100), clip(&item.agent, 60));
    say!("    {title}, {agent}, step {seq} {}", clip(&item.name, 60));
    let answer = match (&gate.choices, &gate.schema) {
        (Some(_), _) => format!("approve {run} {seq} --choice CHOICE"),
        (None, Some(_)) => format!("answer {run} {seq} --result JSON"),
        (None, None) => format!("approve {run} {seq}"),
    };
    say!("    step47 {answer} -m WHY");
}

/// A choice as it is typed.
fn word(choice: &Value) -> String {
    choice
        .as_str()
        .map_or_else(|| choice.to_string(), str::to_owned)
}
