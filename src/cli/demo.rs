//! `step47 demo`: everything at once, to look at. Real processes, a real kill.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use super::{Failure, say::tell};
use crate::client::{Client, asked_to_end};

mod children;
mod graph;
mod server;
mod story;

use children::Children;
use graph::Graph;
use server::Server;
use story::Story;

/// Show everything: a server with sample agents at work, one of them killed at step 47.
///
/// One agent is killed inside the step that charges a card, and waits for you; one waits at a gate; one fails and
/// tries again, one fails for good; one works live for as long as you watch; one has thousands of steps behind it.
/// Prints a sign-in link, runs until Ctrl-C, then stops all that it started.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the server listens; port 0 picks a free one
    #[arg(
        long,
        env = "STEP47_LISTEN",
        value_name = "HOST:PORT",
        default_value = "127.0.0.1:3047"
    )]
    listen: SocketAddr,

    /// Keep the data: sqlite:FILE or postgres://USER@HOST/DATABASE [default: a folder that goes when the demo ends]
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// How many steps of history the long run has
    #[arg(long, value_name = "STEPS", default_value_t = 10_000)]
    history: i64,

    /// A Python with the packages step47 and langgraph, for one more agent: a LangGraph graph that is killed inside a node
    #[arg(
        long,
        env = "STEP47_DEMO_PYTHON",
        value_name = "PYTHON",
        default_value = "python3"
    )]
    python: PathBuf,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("step47-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut children = Children::new(&folder)?;
    let shown = tokio::select! {
        shown = show(&args, &folder, &mut children) => shown,
        () = asked_to_end() => Ok(()),
    };
    tell!("\nstopping");
    children.stop().await;
    match &shown {
        Ok(()) => std::fs::remove_dir_all(&folder)?,
        Err(_) => eprintln!("what the processes said: {}", folder.display()),
    }
    shown
}

/// Sets the scene, then stays for as long as the server does.
async fn show(args: &Args, folder: &Path, children: &mut Children) -> Result<(), Failure> {
    let own = format!("sqlite:{}", folder.join("demo.db").display());
    let store = args.store.as_ref().unwrap_or(&own);
    let Server {
        url,
        sign_in,
        token,
        mut ended,
    } = Server::start(children, store, args.listen).await?;
    tell!("{:<20}{url}", "server");
    children.connect(&url, &token);
    let told = async {
        let graph = Graph::ready(&args.python, folder).await;
        Story {
            client: Client::new(&url, &token)?,
            children,
        }
        .tell(args.history, graph)
        .await?;
        tell!("\nlogs: {}", folder.display());
        tell!("Ctrl-C stops everything\n\nsign in: {sign_in}");
        std::future::pending::<Result<(), Failure>>().await
    };
    tokio::select! {
        told = told => told,
        how = ended.wait_for(Option::is_some) => {
            Err(format!("the server ended: {}", how?.clone().unwrap_or_default()).into())
        }
    }
}
