//! `step47 audit`: who did what, as the console's audit page shows it and exports it.

use super::{
    Failure,
    say::{clip, say},
    source::{Source, SourceArgs},
};
use crate::domain::{
    RunId,
    nouns::audit::{AuditEntry, AuditKind, AuditQuery},
    views::audit_words,
};

/// Read the audit trail: every decision, sign-in, change of access and refused attempt.
///
/// Newest first; with --json everything that fits, oldest first, each entry with its hash.
#[derive(clap::Args)]
pub struct Args {
    /// Only this kind: decision, session, access or refused
    #[arg(long)]
    kind: Option<AuditKind>,
    /// Only what this person or token did
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Only this action, such as resume, sign_in or create_token
    #[arg(long)]
    action: Option<String>,
    /// Only what is about this run
    #[arg(long)]
    run: Option<RunId>,
    /// How many, the newest ones [default: 50]
    #[arg(long, value_name = "N", conflicts_with = "json")]
    limit: Option<usize>,
    /// One JSON object per line, as the page's export
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let source = args.source.open().await?;
    let query = AuditQuery {
        kind: args.kind,
        actor: args.actor,
        action: args.action,
        run: args.run,
        before: None,
    };
    match args.json {
        true => source.export_audit(&query, |line| say!("{line}")).await,
        false => newest(&source, query, args.limit.unwrap_or(50)).await,
    }
}

async fn newest(source: &Source, mut query: AuditQuery, limit: usize) -> Result<(), Failure> {
    let mut left = limit;
    loop {
        let page = source.audit(&query).await?;
        for entry in page.entries.iter().take(left) {
            tell_entry(entry);
        }
        left = left.saturating_sub(page.entries.len());
        match page.next {
            Some(next) if left > 0 => query.before = Some(next),
            _ => break,
        }
    }
    if left == limit {
        say!("No entries {source}");
    }
    Ok(())
}

/// Letters of a line: an excerpt, what it is of, and its hash.
const LINE: usize = 1_000;

fn tell_entry(entry: &AuditEntry) {
    let who = &entry.detail["who"];
    // Several tokens may have one name: the id, as `token list` shows it, says which one it was.
    let about = [&who["kind"], &who["token"], &who["role"]];
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
        clip(&entry.actor, 64),
        about.join(", "),
        entry.action
    );
    for line in audit_words::said(entry) {
        say!("    {}", clip(&line, LINE));
    }
    if let Some(reason) = &entry.reason {
        say!("    “{}”", clip(reason, 400));
    }
}
