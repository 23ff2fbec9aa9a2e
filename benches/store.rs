//! `cargo xtask bench store`: what a step costs over HTTP, beside what the same engine costs raw, in one run.
//!
//! Machines differ and are shared, so what counts are the ratios. Three raw figures stand beside ours:
//! `alone` commits the same bytes in one transaction per step from as many connections as there are agents,
//! `grouped` puts one row per agent into each transaction, and `fsync` is a bare append and sync of the same bytes.

#[path = "store/agents.rs"]
mod agents;
#[path = "store/operators.rs"]
mod operators;
#[path = "store/raw.rs"]
mod raw;
#[path = "store/report.rs"]
mod report;
#[path = "store/server.rs"]
mod server;

use report::{Level, Report};
use server::Server;

const LEVELS: [usize; 3] = [1, 8, 32];
/// Bytes that each step adds to the state.
const GROWTH: usize = 1_024;
/// Steps of the run that is forked and resumed while agents commit.
const LONG: usize = 10_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    // cargo passes --bench; anything else picks engines. `--operators` measures only agents beside operators.
    let operators = std::env::args().any(|arg| arg == "--operators");
    let picked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let wanted = |engine: &str| picked.is_empty() || picked.iter().any(|it| it == engine);
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for the stores");
    let mut report = Report::new(raw::fsync(dir.path()));
    for engine in ["sqlite", "postgres"]
        .into_iter()
        .filter(|engine| wanted(engine))
    {
        let url = match engine {
            "sqlite" => format!("sqlite:{}", dir.path().join("bench.db").display()),
            _ => server::fresh_database().await,
        };
        for agents in LEVELS.into_iter().filter(|_| !operators) {
            // Raw first, then ours, on the same disk within the same minute.
            let alone = raw::alone(&url, dir.path(), agents).await;
            let grouped = raw::grouped(&url, dir.path(), agents).await;
            let server = Server::start(&url).await;
            let ours = agents::run(&server, agents, 3_200 / agents.max(4)).await;
            report.level(
                engine,
                Level {
                    agents,
                    alone,
                    grouped,
                    ours,
                },
            );
        }
        let server = Server::start(&url).await;
        if !operators {
            report.depth(engine, agents::depth(&server).await);
        }
        report.beside(engine, operators::beside(&server, LONG).await);
    }
    report.print();
    report.save();
}
