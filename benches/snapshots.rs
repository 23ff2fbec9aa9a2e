//! `cargo xtask bench snapshots`: what storing and reading states costs, beside LangGraph's SqliteSaver on the same
//! states and npm's jsondiffpatch on the same pair, in one run.
//!
//! Both sides are called in their own process, without HTTP. Step47 begins and commits each step, with its events and
//! a sync to disk; SqliteSaver puts a checkpoint. `-- diff` measures the diffs alone.

#[path = "snapshots/states.rs"]
mod states;

use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};
use step47::{
    domain::{Epoch, RunId, diff, tree::Tree, wire::protocol},
    store::{
        Store,
        commands::{Begin, Commit, Create, Lease},
    },
};

struct Measured {
    shape: &'static str,
    steps: usize,
    changed: u64,
    snapshots: u64,
    file: u64,
    per_second: f64,
}

fn body<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a body of the protocol")
}

/// A run of so many steps, each of which changes 1 KB.
async fn ours(
    dir: &Path,
    shape: &'static str,
    steps: usize,
    texts: &[String],
) -> (Measured, Store, RunId) {
    let file = dir.join(format!("{shape}-{steps}.db"));
    let store = Store::open(&format!("sqlite:{}", file.display()))
        .await
        .expect("a store");
    let run: RunId = format!("{shape}-{steps}").parse().expect("an id");
    let create: protocol::CreateRun =
        body(json!({"agent": "bench", "state": states::first(shape, texts)}));
    store
        .write(Create::new(run.clone(), create))
        .await
        .expect("created");
    let lease: protocol::LeaseRun = body(json!({"worker": "bench", "ttl_ms": 3_600_000}));
    store
        .write(Lease::new(run.clone(), lease))
        .await
        .expect("leased");
    let step = |i: usize| json!({"key": format!("step-{i}"), "name": "answer"});
    let first = Begin::new(run.clone(), Epoch(1), body(step(1)));
    store.write(first).await.expect("begun");
    let mut changed = 0;
    let began = Instant::now();
    for i in 1..=steps {
        let change = states::change(shape, i - 1, texts);
        changed += change["value"].to_string().len() as u64;
        let mut commit = json!({"epoch": 1, "attempt": 1, "patch": [change]});
        if i < steps {
            commit["next"] = step(i + 1);
        }
        let command = Commit::new(run.clone(), i as i64, body(commit));
        store.write(command).await.expect("committed");
    }
    let per_second = steps as f64 / began.elapsed().as_secs_f64();
    let snapshots = checkpoint(&file, &run).await;
    let file = std::fs::metadata(&file).expect("the file").len();
    (
        Measured {
            shape,
            steps,
            changed,
            snapshots,
            file,
            per_second,
        },
        store,
        run,
    )
}

/// Folds the log into the file; answers the bytes that the run's snapshots take in it.
async fn checkpoint(file: &Path, run: &RunId) -> u64 {
    use sqlx::Connection;
    let url = format!("sqlite:{}", file.display());
    let mut conn = sqlx::SqliteConnection::connect(&url)
        .await
        .expect("the store");
    let (bytes,): (i64,) = sqlx::query_as(
        "SELECT SUM(length(body) + length(encoding) + length(run) + 32 + 32 + 16 + 30) FROM snapshots WHERE run = $1",
    )
    .bind(run.as_str())
    .fetch_one(&mut conn)
    .await
    .expect("bytes");
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut conn)
        .await
        .expect("a checkpoint");
    conn.close().await.expect("closed");
    bytes as u64
}

fn theirs(dir: &Path, shape: &str, steps: usize, lines: &Path) -> Option<(u64, f64)> {
    let python = std::env::var_os("STEP47_BENCH_PYTHON")?;
    let database = dir.join(format!("saver-{shape}.db"));
    let said = Command::new(python)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/benches/snapshots/saver.py"
        ))
        .arg(shape)
        .arg(lines)
        .arg(&database)
        .arg(steps.to_string())
        .output()
        .expect("Python starts");
    let _ = std::fs::remove_file(&database);
    let answer: Value = serde_json::from_slice(&said.stdout)
        .unwrap_or_else(|_| panic!("SqliteSaver: {}", String::from_utf8_lossy(&said.stderr)));
    let seconds = answer["seconds"].as_f64().expect("seconds");
    Some((
        answer["bytes"].as_u64().expect("bytes"),
        steps as f64 / seconds,
    ))
}

async fn reading(store: &Store, run: &RunId, steps: i64) -> Vec<(i64, Duration)> {
    let mut medians = Vec::new();
    for n in [
        steps,
        1,
        steps / 10,
        steps / 4,
        steps / 2,
        steps * 3 / 4,
        steps * 9 / 10,
        steps - 1,
    ] {
        let mut times = Vec::new();
        for _ in 0..5 {
            let began = Instant::now();
            store.snapshot(run, n).await.expect("a state");
            times.push(began.elapsed());
        }
        times.sort_unstable();
        medians.push((n, times[2]));
    }
    medians
}

/// Our diff of one pair beside jsondiffpatch's, in milliseconds.
struct Diffed {
    /// Of states as they are read: a state is held against its hash before it is used, so its hashes are known.
    ours: f64,
    /// Hashing both, where that was not done.
    hashing: f64,
    theirs: Option<Theirs>,
}

#[derive(serde::Deserialize)]
struct Theirs {
    told: f64,
    untold: f64,
}

fn diffing(dir: &Path, how: &str) -> Diffed {
    let (before, after) = states::pair(how);
    let (mut ours, mut hashing) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        let (a, b) = (Tree::from(before.clone()), Tree::from(after.clone()));
        let began = Instant::now();
        assert_ne!(a.hash(), b.hash());
        hashing.push(began.elapsed().as_secs_f64() * 1e3);
        let began = Instant::now();
        let changes = diff::diff(&a, &b);
        ours.push(began.elapsed().as_secs_f64() * 1e3);
        assert!(!changes.is_empty());
    }
    let files = ["a.json", "b.json"].map(|name| dir.join(name));
    std::fs::write(&files[0], before.to_string()).expect("a file");
    std::fs::write(&files[1], after.to_string()).expect("a file");
    let theirs = std::env::var_os("STEP47_BENCH_NODE").map(|modules| {
        let said = Command::new("node")
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/benches/snapshots/diff.mjs"
            ))
            .arg(modules)
            .args(&files)
            .output()
            .expect("node starts");
        serde_json::from_slice(&said.stdout)
            .unwrap_or_else(|_| panic!("jsondiffpatch: {}", String::from_utf8_lossy(&said.stderr)))
    });
    Diffed {
        ours: median(ours),
        hashing: median(hashing),
        theirs,
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print_diffs(dir: &Path) {
    println!("\ndiff of two states of 1 MB, 1 % changed, ms:\n");
    println!(
        "| what changed | ours | hashing both, if not known | jsondiffpatch, told the ids | ÷ ours | not told | ÷ ours |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for how in states::PAIRS {
        let Diffed {
            ours,
            hashing,
            theirs,
        } = diffing(dir, how);
        let beside = |ms: Option<f64>| match ms {
            Some(ms) => format!("{ms:.1} | {:.0} ×", ms / ours),
            None => "– | –".into(),
        };
        println!(
            "| {how} | {ours:.2} | {hashing:.2} | {} | {} |",
            beside(theirs.as_ref().map(|it| it.told)),
            beside(theirs.as_ref().map(|it| it.untold)),
        );
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for the stores");
    if std::env::args().any(|arg| arg == "diff") {
        return print_diffs(dir.path());
    }
    let lines: PathBuf = dir.path().join("texts.jsonl");
    let texts = states::write_lines(&lines, 10_100);
    println!(
        "| states | steps | changed | snapshots | ÷ changed | file | steps/s | SqliteSaver's file | its steps/s | its file ÷ ours |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for shape in ["chat", "documents"] {
        for steps in [500, 1_000, 2_000] {
            let (m, store, _) = ours(dir.path(), shape, steps, &texts).await;
            store.close().await;
            let beside = match steps {
                1_000 => theirs(dir.path(), shape, steps, &lines),
                _ => None,
            };
            print_line(&m, beside);
        }
    }
    let (m, store, run) = ours(dir.path(), "chat", 10_000, &texts).await;
    print_line(&m, None);
    let read = reading(&store, &run, 10_000).await;
    let latest = read[0].1.as_secs_f64();
    println!("\nreading a state of the run of 10,000 steps, median of 5, cold:");
    for (n, time) in &read {
        println!(
            "- snapshot {n}: {:.1} ms, {:.2} × the latest",
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() / latest
        );
    }
    print_diffs(dir.path());
}

fn print_line(m: &Measured, beside: Option<(u64, f64)>) {
    let kb = |bytes: u64| format!("{:.0} KB", bytes as f64 / 1e3);
    let (file, rate, ratio) = match beside {
        Some((bytes, rate)) => (
            kb(bytes),
            format!("{rate:.0}"),
            format!("{:.0} ×", bytes as f64 / m.file as f64),
        ),
        None => ("–".into(), "–".into(), "–".into()),
    };
    println!(
        "| {} | {} | {} | {} | {:.2} | {} | {:.0} | {file} | {rate} | {ratio} |",
        m.shape,
        m.steps,
        kb(m.changed),
        kb(m.snapshots),
        m.snapshots as f64 / m.changed as f64,
        kb(m.file),
        m.per_second,
    );
}
