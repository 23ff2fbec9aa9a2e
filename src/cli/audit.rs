//! `step47 audit`: who did what, as the console's audit page shows it and exports it.

use super::{
    Failure,
    runs::clip,
    say::say,
    source::{Source, SourceArgs},
};
use crate::domain::{
    RunId,
    nouns::audit::{AuditEntry, AuditKind, AuditQuery},
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
        if left == limit && !page.entries.is_empty() {
            say!(
                "{:<29}{:<28}{:<30}{:<48}REASON",
                "WHEN",
                "WHO",
                "WHAT",
                "RUN"
            );
        }
        for entry in page.entries.iter().take(left) {
            line(entry);
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

fn line(entry: &AuditEntry) {
    // A name may stand for a person and for a token.
    let caller = entry.detail["who"]["kind"].as_str();
    let caller = caller.filter(|it| *it != "person" && *it != entry.actor);
    let caller = caller.map_or(String::new(), |kind| format!(" ({kind})"));
    let refused = match entry.kind {
        AuditKind::Refused => "refused: ",
        _ => "",
    };
    let repeated = entry.detail["repeated"].as_i64();
    let repeated = repeated.map_or(String::new(), |n| format!(" × {n} more"));
    let run = match (&entry.run, entry.step) {
        (Some(run), Some(step)) => format!("{run} step {step}"),
        (Some(run), None) => run.to_string(),
        (None, _) => "—".into(),
    };
    let why = ["why", "detail"]
        .iter()
        .find_map(|it| entry.detail[*it].as_str());
    let why = entry.reason.as_deref().or(why).unwrap_or_default();
    let line = format!(
        "{:<29}{:<28}{:<30}{run:<48}{}",
        entry.at.to_string(),
        clip(&format!("{}{caller}", entry.actor), 26),
        clip(
            &format!("{refused}{}{repeated}", entry.action.replace('_', " ")),
            28
        ),
        clip(why, 200),
    );
    say!("{}", line.trim_end());
}
