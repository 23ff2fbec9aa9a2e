//! Stores that earlier versions wrote, kept in `tests/fixtures/`, one folder for each schema. Opened with today's code, on
//! both engines, they verify clean and read as was recorded; damage that was there before is still found.
//!
//! `cargo xtask fixture` makes the folder of the newest schema.

use serde_json::{Map, Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

use super::flips::{behind, found, history, served::Served, settled};
use crate::support::{Engine, Server, both_engines, database};
use step47::store::Store;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
/// Where `cargo xtask fixture` wants a new one.
const WANTED: &str = "STEP47_FIXTURE";

fn file(folder: &Path, on: Engine, what: &str) -> PathBuf {
    let name = format!("{on:?}").to_lowercase();
    folder.join(format!("{name}.{what}.zst"))
}

fn pack(path: PathBuf, bytes: &[u8]) {
    fs::write(path, zstd::encode_all(bytes, 19).expect("packed")).expect("a file");
}

fn unpack(path: PathBuf) -> Vec<u8> {
    let packed = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    zstd::decode_all(&packed[..]).expect("unpacked")
}

/// The migrations of today's code, by number; both engines have the same.
fn newest_schema() -> String {
    let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
    let names = fs::read_dir(migrations).expect("migrations");
    let names = names.map(|it| {
        it.expect("a name")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    let newest = names
        .filter(|name| name.ends_with(".sql"))
        .max()
        .expect("one");
    newest.split('_').next().expect("a number").to_owned()
}

fn folders() -> Vec<PathBuf> {
    let folders = fs::read_dir(FIXTURES).expect("tests/fixtures");
    let mut folders: Vec<_> = folders.map(|it| it.expect("a name").path()).collect();
    folders.retain(|it| it.is_dir());
    folders.sort();
    folders
}

/// What `history` leaves out: a checkpoint between steps, a rewind that hides a tag, a fork, late evidence, a cancelled run, a session, a revoked token.
async fn rest_of_history(server: &Server) {
    let api = server.api();
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let between = json!({"state": {"n": 0, "ready": true}, "tag": {"id": "ready"}});
    api.post(&agent.path("snapshots"), agent.fenced(between))
        .await
        .is(200);
    let effect = json!({"effect": {"target": "stripe"}});
    let seq = agent.executes("pay", effect).await;
    agent
        .commit(seq, 1, json!({"state": {"n": 1}, "tag": {"id": "paid"}}))
        .await
        .is(200);
    agent.executes("late", json!({})).await;
    let next = agent.dies().await;
    agent
        .commit(2, 1, json!({"result": "done after all"}))
        .await
        .refused(409, "lease_lost");
    next.release(json!({})).await.is(200);
    api.decide(&agent.run, json!({"kind": "pause"}))
        .await
        .is(200);
    let fork = json!({"kind": "fork", "step": 1, "again": [1], "new_run_id": "forked"});
    api.decide(&agent.run, fork).await.is(200);
    let version = api.run(&agent.run).await["version"].clone();
    let rewind = json!({"kind": "rewind", "step": 1, "again": [1], "if_version": version});
    api.decide(&agent.run, rewind).await.is(200);
    let over = api.create(json!({})).await;
    api.decide(&over, json!({"kind": "cancel", "reason": "not needed"}))
        .await
        .is(200);
    let added = json!({"change": {"change": "add_user", "name": "bo", "role": "viewer"}});
    api.post("/api/access/change", added).await.is(200);
    let owned = ["token", "create", "--role", "viewer", "--name", "owned"];
    let owned = [&owned[..], &["--owner", "bo", "--expires", "30d"]].concat();
    let owned = server.store.command(&owned).await;
    assert!(owned.status.success(), "{owned:?}");
    server.store.token("viewer", "gone").await.expect("a token");
    let revoked = server.store.command(&["token", "revoke", "gone"]).await;
    assert!(revoked.status.success(), "{revoked:?}");
}

async fn make(on: Engine, folder: &Path) {
    let mut server = Server::start(on).await;
    history(&server).await;
    rest_of_history(&server).await;
    server.kill();
    let url = &server.store.url;
    let content = match on {
        Engine::Sqlite => settled(url).await,
        Engine::Postgres => {
            let dump = Command::new("pg_dump")
                .args([
                    "--inserts",
                    "--no-owner",
                    "--no-privileges",
                    "--dbname",
                    url,
                ])
                .output()
                .expect("pg_dump");
            assert!(dump.status.success(), "{dump:?}");
            // psql's own commands, which no server understands.
            let text = String::from_utf8(dump.stdout).expect("UTF-8");
            let lines: Vec<_> = text
                .lines()
                .filter(|line| !line.starts_with('\\'))
                .collect();
            lines.join("\n").into_bytes()
        }
    };
    let store = Store::open(url).await.expect("the store");
    let served = Served::by(&store).await;
    served.is_whole();
    store.close().await;
    pack(file(folder, on, "store"), &content);
    pack(
        file(folder, on, "served.json"),
        served.recorded().to_string().as_bytes(),
    );
}

#[test]
#[ignore = "writes into tests/fixtures: cargo xtask fixture"]
fn make_a_fixture() {
    if std::env::var_os(WANTED).is_none() {
        return;
    }
    let folder = Path::new(FIXTURES).join(newest_schema());
    fs::create_dir_all(&folder).expect("a folder");
    crate::support::block_on(async {
        make(Engine::Sqlite, &folder).await;
        make(Engine::Postgres, &folder).await;
    });
}

/// The fixture's store, laid out anew.
async fn laid_out(on: Engine, folder: &Path) -> (String, TempDir) {
    let dir = tempfile::tempdir().expect("a directory");
    let url = on.fresh_store(dir.path()).await.expect("a store");
    let content = unpack(file(folder, on, "store"));
    match on {
        Engine::Sqlite => {
            let path = url.strip_prefix("sqlite:").expect("a file");
            fs::write(path, content).expect("the file");
        }
        Engine::Postgres => {
            let sql = String::from_utf8(content).expect("UTF-8");
            behind(&url, sql).await.expect("the dump is taken in");
            // The dump empties the search path for its own session; new sessions have the usual one.
            assert!(!database(&url).is_empty());
        }
    }
    (url, dir)
}

/// Whether a later version answers this question otherwise. The time of the last commit is asked no more. The state at a
/// step follows an edit made there: a version that recorded an edit, and a state without it, answered with the state before.
fn asked_otherwise(recorded: &Map<String, Value>, question: &str) -> bool {
    if question.starts_with("last commit of ") {
        return true;
    }
    let Some(run) = question.strip_prefix("state of ") else {
        return false;
    };
    let decisions = &recorded[&format!("decisions of {run}")]["decisions"];
    let mut decisions = decisions.as_array().into_iter().flatten();
    decisions.any(|it| it["kind"] == "edit") && recorded[question]["edit"].is_null()
}

/// What a plan says to people.
const SENTENCES: [&str; 2] = ["refused", "why"];

/// Everything recorded is still there; answers may have grown by fields.
fn missing(was: &Value, is: &Value, place: &str) -> Option<String> {
    match (was, is) {
        (Value::Object(recorded), Value::Object(is)) => recorded
            .iter()
            // The upgrade itself changes the number of the schema, and what a picture leaves out is drawn, not recorded.
            .filter(|(key, _)| !["now", "schema", "folds", "idle"].contains(&key.as_str()))
            .filter(|(key, _)| !asked_otherwise(recorded, key))
            .find_map(|(key, was)| {
                let is = is.get(key).unwrap_or(&Value::Null);
                // A sentence may be put otherwise, but not be gone.
                if SENTENCES.contains(&key.as_str()) && was.is_string() && is.is_string() {
                    return None;
                }
                missing(was, is, &format!("{place} › {key}"))
            }),
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => was
            .iter()
            .zip(is)
            .enumerate()
            .find_map(|(n, (was, is))| missing(was, is, &format!("{place} › {n}"))),
        _ if was == is => None,
        _ => Some(format!("{place}: {is} instead of {was}")),
    }
}

async fn an_older_store_reads_as_it_was_written(on: Engine) {
    for folder in folders() {
        let (url, _dir) = laid_out(on, &folder).await;
        let store = Store::open(&url)
            .await
            .expect("the store is opened and upgraded");
        let verified = store.verify(None, &mut |_| {}).await.expect("verified");
        assert_eq!(verified.damages, [], "{}", folder.display());
        let recorded: Value =
            serde_json::from_slice(&unpack(file(&folder, on, "served.json"))).expect("JSON");
        let now = Served::by(&store).await.recorded();
        assert_eq!(missing(&recorded, &now, ""), None, "{}", folder.display());
        store.close().await;
    }
}

/// One row of each kind of table, changed before the upgrade: sealed alone, sealed with JSON beside, chained.
const DAMAGES: [(&str, &str); 14] = [
    (
        "runs",
        "UPDATE runs SET title = 'Refunds' WHERE title = 'Refund'",
    ),
    ("steps", "UPDATE steps SET name = 'paid' WHERE name = 'pay'"),
    (
        "tokens",
        "UPDATE tokens SET role = 'admin' WHERE name = 'gone'",
    ),
    (
        "users",
        "UPDATE users SET role = 'admin' WHERE name = 'ana'",
    ),
    (
        "decisions",
        "UPDATE decisions SET author = 'nobody' WHERE kind = 'edit'",
    ),
    ("audit", "UPDATE audit SET actor = 'nobody' WHERE id = 1"),
    (
        "attempts",
        "UPDATE attempts SET worker = 'nobody' WHERE seq = 1 AND attempt = 1",
    ),
    ("snapshots", "UPDATE snapshots SET seq = 77 WHERE n = 1"),
    ("leases", "UPDATE leases SET worker = 'nobody'"),
    ("announced", "UPDATE announced SET name = 'nothing'"),
    ("refs", "UPDATE refs SET uri = 'file:///nowhere'"),
    ("log_lines", "UPDATE log_lines SET message = 'nothing'"),
    ("requests", "UPDATE requests SET at = at + 1"),
    (
        "signin_links",
        "UPDATE signin_links SET expires_at = expires_at + 1",
    ),
];

async fn damage_from_before_an_upgrade_is_found_after_it(on: Engine) {
    for folder in folders() {
        for (table, damage) in DAMAGES {
            let (url, _dir) = laid_out(on, &folder).await;
            let changed = behind(&url, damage.to_owned()).await;
            assert!(
                changed.is_some_and(|rows| rows > 0),
                "{table} was not changed"
            );
            let store = Store::open(&url)
                .await
                .expect("the store is opened and upgraded");
            store.close().await;
            let (damages, _) = found(&url).await;
            assert!(
                !damages.is_empty(),
                "{}: {table} was changed, and nobody noticed",
                folder.display()
            );
        }
    }
}

both_engines!(
    an_older_store_reads_as_it_was_written,
    damage_from_before_an_upgrade_is_found_after_it,
);

#[test]
fn every_schema_leaves_a_fixture() {
    let newest = Path::new(FIXTURES).join(newest_schema());
    assert!(
        newest.is_dir(),
        "run `cargo xtask fixture` and commit {}",
        newest.display()
    );
}
