//! `step47 audit`: who decided what, read straight from the store.

use super::{Failure, StoreArgs, say::say};
use crate::domain::{
    RunId,
    nouns::audit::{AuditEntry, AuditKind, AuditQuery},
    views::audit_words,
};

/// Show the audit trail: decisions with what was chosen, sign-ins, changes of access, refusals; newest first
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only entries about this run
    #[arg(long)]
    run: Option<RunId>,
    /// decision, session, access or refused
    #[arg(long)]
    kind: Option<AuditKind>,
    /// Only what this person or token did
    #[arg(long)]
    actor: Option<String>,
    /// retry, skip, sign_in, …
    #[arg(long)]
    action: Option<String>,
    /// 1…1000
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=1000))]
    limit: i64,
    /// One JSON object per line, as `/audit.jsonl` has them
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let query = AuditQuery {
        kind: args.kind,
        actor: args.actor,
        action: args.action,
        run: args.run,
        before: None,
    };
    let page = args
        .store
        .connect()
        .await?
        .audit(&query, args.limit)
        .await?;
    if page.entries.is_empty() && !args.json {
        say!("no entry fits");
    }
    for entry in &page.entries {
        match args.json {
            true => say!("{}", serde_json::to_string(entry)?),
            false => print(entry),
        }
    }
    Ok(())
}

fn print(entry: &AuditEntry) {
    let who = &entry.detail["who"];
    let about = [&who["kind"], &who["role"]];
    let about: Vec<_> = about.iter().filter_map(|it| it.as_str()).collect();
    let refused = match entry.kind {
        AuditKind::Refused => "refused: ",
        _ => "",
    };
    let run = entry
        .run
        .as_ref()
        .map_or(String::new(), |run| match entry.step {
            Some(step) => format!("  {run} step {step}"),
            None => format!("  {run}"),
        });
    say!(
        "{}  {} ({})  {refused}{}{run}",
        entry.at,
        clean(&entry.actor),
        about.join(", "),
        entry.action
    );
    for line in audit_words::said(entry) {
        say!("    {}", clean(&line));
    }
    if let Some(reason) = &entry.reason {
        say!("    “{}”", clean(reason));
    }
}

/// People's text on a terminal: no control characters.
fn clean(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).collect()
}
