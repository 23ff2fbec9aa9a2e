//! `cargo xtask bench lists`: what each list costs with 10,000 runs and with 1,000,000, on SQLite.
//!
//! The runs are filled in by SQL: how a list reads does not depend on how its runs came to be. What counts is the
//! ratio: a list that holds has one near 1.

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use std::time::{Duration, Instant};
use step47::{
    domain::{RunQuery, RunStatus, rules::needs::ROWS_ON_TOP},
    store::Store,
};

const SIZES: [i64; 2] = [10_000, 1_000_000];
const ROUNDS: usize = 25;

/// A list, and how it is asked for.
struct Case {
    name: &'static str,
    query: RunQuery,
}

fn cases() -> Vec<Case> {
    let case = |name, query| Case { name, query };
    let all = RunQuery::default;
    vec![
        case("all", all()),
        case(
            "all, a page in the middle",
            RunQuery {
                cursor: Some("5000".into()),
                ..all()
            },
        ),
        case(
            "status:done",
            RunQuery {
                status: Some(RunStatus::Done),
                ..all()
            },
        ),
        case(
            "status:cancelled (rare)",
            RunQuery {
                status: Some(RunStatus::Cancelled),
                ..all()
            },
        ),
        case(
            "agent",
            RunQuery {
                agent: Some("agent-3".into()),
                ..all()
            },
        ),
        case(
            "agent and status",
            RunQuery {
                agent: Some("agent-3".into()),
                status: Some(RunStatus::Crashed),
                ..all()
            },
        ),
        case(
            "label",
            RunQuery {
                label: Some("team:billing".into()),
                ..all()
            },
        ),
        case(
            "label and status, few fit",
            RunQuery {
                label: Some("team:billing".into()),
                status: Some(RunStatus::Cancelled),
                ..all()
            },
        ),
        case(
            "over $20",
            RunQuery {
                over_usd: Some(20),
                ..all()
            },
        ),
        case("search: a common word", all().search("invoices")),
        case("search: two words", all().search("invoices charge")),
        case("search: a rare word", all().search("needle7")),
        case("search: the beginning of a word", all().search("need")),
        case("search: part of a word", all().search("voice")),
        case("search: nothing fits", all().search("nosuchthing")),
        case("search: an id", all().search("run-0000005000")),
        case("key", all().search("key:charge-5000")),
        case(
            "mine",
            RunQuery {
                owner: Some("ana".into()),
                ..all()
            },
        ),
    ]
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for the stores");
    let mut times: Vec<(String, Vec<Duration>)> = Vec::new();
    for size in SIZES {
        let url = format!("sqlite:{}", dir.path().join(format!("{size}.db")).display());
        let store = Store::open(&url).await.expect("a store");
        let start = Instant::now();
        fill(&url, size).await;
        eprintln!("{size} runs filled in {:.0?}", start.elapsed());
        for case in cases() {
            let time = median(async || {
                store.runs(&case.query).await.expect("a page");
            });
            note(&mut times, case.name, time.await);
        }
        let needs = median(async || {
            store
                .needs_you(ROWS_ON_TOP)
                .await
                .expect("what needs a person");
        });
        note(&mut times, "needs you, with causes", needs.await);
        let counts = median(async || {
            store.counts().await.expect("counts");
        });
        note(&mut times, "counts", counts.await);
        store.close().await;
    }
    println!("| list | 10,000 runs, ms | 1,000,000 runs, ms | ratio |");
    println!("|---|---:|---:|---:|");
    for (name, times) in times {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (small, large) = (ms(times[0]), ms(times[1]));
        println!(
            "| {name} | {small:.2} | {large:.2} | {:.1} × |",
            large / small
        );
    }
}

fn note(times: &mut Vec<(String, Vec<Duration>)>, name: &str, time: Duration) {
    match times.iter_mut().find(|(it, _)| it == name) {
        Some((_, known)) => known.push(time),
        None => times.push((name.to_owned(), vec![time])),
    }
}

async fn median(work: impl AsyncFn()) -> Duration {
    work().await;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work().await;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times[ROUNDS / 2]
}

/// Runs of 20 agents, most of them done; each with a step, a label, a cost and the words it is found by.
async fn fill(url: &str, size: i64) {
    let path = url.trim_start_matches("sqlite:");
    let mut conn = SqliteConnection::connect(path).await.expect("the database");
    let statements = [
        "PRAGMA synchronous = OFF".to_owned(),
        "BEGIN".to_owned(),
        format!(
            "CREATE TEMP TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {size}) SELECT i FROM n"
        ),
        "INSERT INTO runs (id, ord, agent, title, status, version, labels, links, input, origin, on_crash, max_recoveries, \
             recoveries, epoch, ttl_ms, snapshot, hash, steps, committed, announced, at_seq, at_name, at_status, cost_usd, \
             created_at, updated_at, strip, needs, cause, effects_unknown) \
         SELECT printf('run-%010d', i), i, printf('agent-%d', i % 20), printf('Reconcile invoices %d', i), \
             CASE WHEN i % 1000 = 1 THEN 'crashed' WHEN i % 5000 = 2 THEN 'cancelled' WHEN i % 100 = 3 THEN 'running' ELSE 'done' END, \
             1, CASE WHEN i % 10 = 0 THEN '{\"team\":\"billing\"}' ELSE '{}' END, '[]', 'null', zeroblob(32), 'resume', 3, 0, 1, \
             30000, 0, zeroblob(32), 1, 1, 0, 1, 'charge', 'committed', (i % 2500) / 100.0, i, i, '1;.;', \
             CASE WHEN i % 1000 = 1 THEN 1 END, CASE WHEN i % 1000 = 1 THEN printf('cause-%d', i % 7) END, 0 FROM numbers"
            .to_owned(),
        "INSERT INTO run_labels (run, key, value, ord) SELECT printf('run-%010d', i), 'team', 'billing', i FROM numbers WHERE i % 10 = 0"
            .to_owned(),
        "INSERT INTO steps (run, seq, key, name, kind, input, input_hash, recovery, max_attempts, backoff_ms, refs, links, \
             status, attempts, failures, generation, told, epoch, unknown, given, begun_at, ord) \
         SELECT printf('run-%010d', i), 1, printf('charge-%d', i), 'charge', 'tool', 'null', zeroblob(32), 'retry', 1, 0, '[]', \
             '[]', 'committed', 1, 0, 1, 'execute', 1, 0, 0, i, i FROM numbers"
            .to_owned(),
        "INSERT INTO terms (ord, term) SELECT i, printf('%010d', i) FROM numbers".to_owned(),
        "INSERT INTO terms (ord, term) SELECT i, 'run' FROM numbers".to_owned(),
        "INSERT INTO terms (ord, term) SELECT i, 'invoices' FROM numbers".to_owned(),
        "INSERT INTO terms (ord, term) SELECT i, 'reconcile' FROM numbers".to_owned(),
        "INSERT INTO terms (ord, term) SELECT i, 'charge' FROM numbers".to_owned(),
        "INSERT INTO terms (ord, term) SELECT i, 'needle' || (i % 9) FROM numbers WHERE i % 1000 = 7".to_owned(),
        "INSERT INTO decided (author, ord) SELECT 'ana', i FROM numbers WHERE i % 500 = 0".to_owned(),
        "COMMIT".to_owned(),
    ];
    for statement in statements {
        conn.execute(AssertSqlSafe(statement))
            .await
            .expect("the filling");
    }
    conn.close().await.expect("the database closes");
}
