//! `step47 edit`: another state, by an editor, a file, or single values.

use serde_json::Value;
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Failure, decide::parsed, order::OrderArgs, say::say};
use crate::{
    client::RunId,
    domain::{
        DecisionKind,
        rules::decision::allowed,
        wire::{patch::Op, protocol::Decide},
    },
};

/// Edit the state of a run that no worker holds.
///
/// Opens $VISUAL or $EDITOR with the state as JSON; what is saved becomes a new snapshot. The old one stays.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id
    run: RunId,

    /// One value instead of an editor: a JSON pointer and JSON, such as /currency='"EUR"'; once for each
    #[arg(long, value_name = "POINTER=JSON", value_parser = assignment)]
    set: Vec<(String, Value)>,

    /// The whole state from a file instead of an editor; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "set")]
    state: Option<PathBuf>,

    #[command(flatten)]
    order: OrderArgs,
}

fn assignment(text: &str) -> Result<(String, Value), String> {
    let (pointer, json) = text
        .split_once('=')
        .ok_or("must be POINTER=JSON, such as /currency='\"EUR\"'")?;
    let value = parsed(json).map_err(|why| format!("{pointer} {why}"))?;
    Ok((pointer.to_owned(), value))
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let on = args.order.open().await?;
    let run = on.run(&args.run).await?.run;
    // Known before anybody types; what comes meanwhile, the decision is refused for.
    allowed(DecisionKind::Edit, run.status, run.lease.is_some(), None)?;
    let before = on.snapshot(&args.run, run.snapshot).await?.state;
    let edit = Decide {
        // The edit is of what was shown, not of what may have come since.
        if_version: Some(run.version),
        ..Decide::new(DecisionKind::Edit)
    };
    if !args.set.is_empty() {
        let set = args.set.into_iter();
        let ops = set.map(|(path, value)| match before.pointer(&path) {
            Some(_) => Op::Replace { path, value },
            None => Op::Add { path, value },
        });
        let body = Decide {
            patch: Some(ops.collect()),
            ..edit
        };
        return args.order.decide(&on, &args.run, body).await;
    }
    let text = match &args.state {
        Some(file) => read(file)?,
        None => edited(&args.run, &serde_json::to_string_pretty(&before)?)?,
    };
    // What came from a file is still there.
    let typed = args.state.as_deref().is_none_or(|it| it == Path::new("-"));
    let kept = || match typed.then(|| keep(&args.run, &text)).flatten() {
        Some(path) => format!("; your text is kept in {}", path.display()),
        None => String::new(),
    };
    let state = parsed(&text).map_err(|why| format!("the state {why}{}", kept()))?;
    if state == before {
        say!("nothing changed");
        return Ok(());
    }
    let body = Decide {
        state: Some(state),
        ..edit
    };
    let decided = args.order.decide(&on, &args.run, body).await;
    decided.map_err(|error| format!("{error}{}", kept()).into())
}

fn read(file: &Path) -> Result<String, Failure> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()).into())
}

fn place(run: &RunId, what: &str) -> PathBuf {
    let name = format!(
        "step47-{}-{what}-{}.json",
        run.short(),
        uuid::Uuid::now_v7()
    );
    std::env::temp_dir().join(name.replace(':', "_"))
}

/// What the editor leaves of this text.
fn edited(run: &RunId, text: &str) -> Result<String, Failure> {
    let set = |name| {
        std::env::var(name)
            .ok()
            .filter(|it: &String| !it.is_empty())
    };
    let editor = set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or("vi".into());
    let path = place(run, "state");
    private(&path, text)?;
    // As a shell would: an editor may come with options.
    let ended = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(&path)
        .status()
        .map_err(|error| format!("{editor}: {error}; set $EDITOR"))?;
    let after = fs::read_to_string(&path)?;
    fs::remove_file(&path)?;
    match ended.success() {
        true => Ok(after.trim_end().to_owned()),
        false => Err(format!("{editor} ended with {ended}: nothing was changed").into()),
    }
}

fn keep(run: &RunId, text: &str) -> Option<PathBuf> {
    let path = place(run, "kept");
    private(&path, text).ok().map(|()| path)
}

/// A state may hold what others must not read: the file is new, and nobody else's.
fn private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
