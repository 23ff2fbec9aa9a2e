//! `step47 runs`: what is going on, read straight from the store.

use tokio::io::AsyncWriteExt;

use super::{Failure, StoreArgs, say::say};
use crate::{
    domain::{Event, Run, RunDetail, RunId, RunQuery, RunStatus, wire::protocol::Check},
    store::Store,
};

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
        store: StoreArgs,
    },
    /// One run with its steps
    Show {
        run: RunId,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Events as they happen, of one run or of all; ends with Ctrl-C, or with its run
    Watch {
        run: Option<RunId>,
        /// One JSON object per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
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
            store,
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
            let page = store.open().await?.runs(&query).await?;
            match json {
                true => say!("{}", serde_json::to_string_pretty(&page)?),
                false => table(&page.runs),
            }
        }
        Command::Show { run, json, store } => show(&store.open().await?, &run, json).await?,
        Command::Watch { run, json, store } => watch(&store.open().await?, run, json).await?,
    }
    Ok(())
}

fn table(runs: &[Run]) {
    if runs.is_empty() {
        say!("no runs; agents create them with POST /v1/runs");
        return;
    }
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
            clip(
                &run.at.as_ref().map_or("—".into(), |at| format!(
                    "{} {} {}",
                    at.status, at.seq, at.name
                )),
                26
            ),
            run.usage
                .cost_usd
                .map_or("—".into(), |cost| format!("${cost:.2}")),
        );
    }
}

/// Agents' text on a terminal: no control characters, no more than fits.
fn clip(text: &str, max: usize) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    match plain.chars().count() > max {
        true => plain.chars().take(max - 1).chain(['…']).collect(),
        false => plain,
    }
}

pub async fn show(store: &Store, id: &RunId, json: bool) -> Result<(), Failure> {
    let run = store.run(id).await?;
    if json {
        say!("{}", serde_json::to_string_pretty(&run)?);
        return Ok(());
    }
    facts(&run);
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
        let page = store.steps(id, after, 500).await?;
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
        }
        match page.next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

fn facts(detail: &RunDetail) {
    let run = &detail.run;
    say!(
        "{}  {}",
        clip(run.title.as_deref().unwrap_or(&run.agent), 100),
        run.id
    );
    say!("  status     {} (version {})", run.status, run.version);
    let code = run
        .code_version
        .as_deref()
        .map_or(String::new(), |v| format!("@{v}"));
    say!("  agent      {}{}", clip(&run.agent, 100), clip(&code, 100));
    if let Some(model) = &run.model {
        say!("  model      {}", clip(model, 100));
    }
    if let Some(lease) = &run.lease {
        say!(
            "  worker     {}, lease until {}",
            clip(&lease.worker, 100),
            lease.expires_at
        );
    }
    say!(
        "  steps      {} begun, {} committed, {} announced",
        run.steps,
        run.committed,
        run.announced
    );
    say!("  snapshot   {} {}", run.snapshot, run.hash);
    say!("  created    {}", run.created_at);
}

async fn watch(store: &Store, run: Option<RunId>, json: bool) -> Result<(), Failure> {
    let mut after = match &run {
        Some(_) => 0,
        None => store.head().await?,
    };
    let mut out = tokio::io::stdout();
    loop {
        let page = store.events(after, run.as_ref(), 500).await?;
        for event in &page.events {
            let line = if json {
                serde_json::to_string(event)?
            } else {
                line(event)
            };
            out.write_all(format!("{line}\n").as_bytes()).await?;
        }
        out.flush().await?;
        after = page.next;
        if !page.events.is_empty() {
            continue;
        }
        if let Some(id) = &run
            && store.run(id).await?.run.status.over()
        {
            return Ok(());
        }
        // Another process writes: the table is the only thing both see.
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(()),
            () = tokio::time::sleep(std::time::Duration::from_millis(200)) => {}
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
