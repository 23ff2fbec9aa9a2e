//! `step47 runs`: what is going on.

use super::{
    Failure,
    run_head::RunHead,
    say::{clean, clip, say},
    source::{Source, SourceArgs},
};
use crate::domain::{Event, Run, RunId, RunQuery, RunStatus, wire::protocol::Check};

/// List, show and watch runs.
#[derive(clap::Subcommand)]
pub enum Command {
    /// The newest runs
    List {
        #[arg(long)]
        status: Option<RunStatus>,
        #[arg(long)]
        agent: Option<String>,
        /// key:value
        #[arg(long)]
        label: Option<String>,
        /// Part of a title or an id
        #[arg(long)]
        search: Option<String>,
        /// 1…1000
        #[arg(long, default_value_t = 50)]
        limit: i64,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: SourceArgs,
    },
    /// One run with its steps
    Show {
        /// The run's id
        run: RunId,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Events as they happen, of one run or of all; ends with Ctrl-C, or with its run
    Watch {
        run: Option<RunId>,
        /// One JSON object per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: SourceArgs,
    },
}

pub async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List {
            status,
            agent,
            label,
            search,
            limit,
            json,
            source,
        } => {
            let query = RunQuery {
                status,
                agent,
                label,
                q: search,
                limit,
                ..RunQuery::default()
            };
            query.check()?;
            let source = source.open().await?;
            let page = source.runs(&query).await?;
            match json {
                true => say!("{}", serde_json::to_string_pretty(&page)?),
                false if page.runs.is_empty() => say!("No runs {source}"),
                false => table(&page.runs),
            }
        }
        Command::Show { run, json, source } => show(&source.open().await?, &run, json).await?,
        Command::Watch { run, json, source } => {
            let source = source.open().await?;
            // Ctrl-C is how this ends where no run is named.
            tokio::select! {
                ended = watch(&source, run.as_ref(), json) => ended?,
                stopped = tokio::signal::ctrl_c() => stopped?,
            }
        }
    }
    Ok(())
}

fn table(runs: &[Run]) {
    say!(
        "{:<11}{:<38}{:<22}{:<32}{:<28}{:>9}",
        "STATUS",
        "ID",
        "AGENT",
        "TITLE",
        "NOW AT",
        "COST"
    );
    for run in runs {
        say!(
            "{:<11}{:<38}{:<22}{:<32}{:<28}{:>9}",
            run.status.as_str(),
            run.id.as_str(),
            clip(&run.agent, 20),
            clip(run.title.as_deref().unwrap_or("—"), 30),
            clip(&now_at(run), 26),
            run.usage
                .cost_usd
                .map_or("—".into(), |cost| format!("${cost:.2}")),
        );
    }
}

/// An effect that nobody checked comes before the place where the run stopped.
fn now_at(run: &Run) -> String {
    if run.unchecked() {
        return "effect unknown, unchecked".into();
    }
    let at = run.at.as_ref();
    at.map_or("—".into(), |at| {
        format!("{} {} {}", at.status, at.seq, at.name)
    })
}

pub async fn show(source: &Source, id: &RunId, json: bool) -> Result<(), Failure> {
    let head = RunHead::of(source, id).await?;
    if json {
        say!("{}", serde_json::to_string_pretty(&head)?);
        return Ok(());
    }
    head.print();
    let mut after = 0;
    say!(
        "\n{:>7}  {:<11}{:<28}{:<10}{:>6}{:>10}{:>10}",
        "#",
        "STATUS",
        "STEP",
        "KIND",
        "TRIES",
        "TOOK",
        "COST"
    );
    loop {
        let page = source.steps(id, after, 500).await?;
        for step in &page.steps {
            let took = step.ended_at.map_or("—".into(), |end| {
                format!("{} ms", end.ms_since(step.begun_at))
            });
            let cost = step
                .cost_usd
                .map_or("—".into(), |cost| format!("${cost:.2}"));
            say!(
                "{:>7}  {:<11}{:<28}{:<10}{:>6}{took:>10}{cost:>10}",
                step.seq,
                step.status.as_str(),
                clip(&step.name, 26),
                step.kind.as_str(),
                step.tries,
            );
            if let Some(doubt) = step.doubt() {
                say!("{:>7}  {}", "", clean(&doubt.in_words()));
            }
        }
        match page.next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

/// A run from its beginning to its end; of all runs, what happens from now on.
async fn watch(source: &Source, run: Option<&RunId>, json: bool) -> Result<(), Failure> {
    let after = match run {
        Some(_) => 0,
        None => source.head().await?,
    };
    let mut follow = source.follow(after, run);
    let mut over = false;
    loop {
        let events = follow.next().await?;
        for event in &events {
            match json {
                true => say!("{}", serde_json::to_string(event)?),
                false => say!("{}", line(event)),
            }
        }
        if !events.is_empty() {
            continue;
        }
        if over {
            return Ok(());
        }
        if let Some(id) = run {
            over = source.run(id).await?.run.status.over();
        }
        // The last events may have come between the two questions: ask for them once more.
        if !over {
            follow.wait().await;
        }
    }
}

fn line(event: &Event) -> String {
    let seq = event
        .seq
        .map_or(String::new(), |seq| format!(" step {seq}"));
    format!(
        "{}  {:<16}{}{seq}  {}",
        event.at,
        event.kind.as_str(),
        event.run,
        clip(&event.data.to_string(), 120)
    )
}
