//! A store whose files are deleted, moved or replaced under the running server: what would be lost is not acknowledged.

use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use super::load::{Load, verify};
use crate::support::{Agent, Engine, Server, block_on, eventually, pause};

/// An agent with this many committed steps.
async fn committed(server: &Server, steps: i64) -> Agent {
    let agent = server.api().agent(json!({"state": {"n": 0}})).await;
    agent.heartbeat(json!({"ttl_ms": 600_000})).await.is(200);
    for n in 1..=steps {
        agent
            .does(&format!("k{n}"), json!({"state": {"n": n}}))
            .await;
    }
    agent
}

/// No write is acknowledged, and all that was is still shown.
async fn nothing_is_acknowledged(server: &Server, agent: &Agent) {
    for n in 0..5 {
        let refused = agent.begin(&format!("late{n}"), json!({})).await;
        let told = (refused.status, refused.code());
        assert_eq!(told, (503, "busy".to_owned()), "{refused:?}");
        assert_eq!(refused.body()["reason"], "file_gone", "{refused:?}");
    }
    let ready = server.api().without_token().get("/readyz").await;
    assert_eq!(ready.status, 503, "{ready:?}");
    assert!(
        ready.text.contains("moved, deleted or replaced"),
        "{ready:?}"
    );
    assert_eq!(server.api().run(&agent.run).await["committed"], 5);
}

#[test]
fn a_deleted_store_acknowledges_nothing_more() {
    block_on(async {
        let server = Server::start(Engine::Sqlite).await;
        server.may_fail();
        let agent = committed(&server, 5).await;
        fs::remove_file(server.store.file("")).expect("the store");
        nothing_is_acknowledged(&server, &agent).await;
        assert!(!server.store.file("").exists(), "no empty store is made");
    });
}

#[test]
fn a_store_that_was_moved_away_goes_on_when_it_is_back() {
    block_on(async {
        let server = Server::start(Engine::Sqlite).await;
        server.may_fail();
        let agent = committed(&server, 5).await;
        let elsewhere = server.store.file(".moved");
        fs::rename(server.store.file(""), &elsewhere).expect("moved");
        nothing_is_acknowledged(&server, &agent).await;
        fs::rename(&elsewhere, server.store.file("")).expect("moved back");
        agent.does("k6", json!({"state": {"n": 6}})).await;
        eventually("ready again", async || {
            (server.api().get("/readyz").await.status == 200).then_some(())
        })
        .await;
    });
}

#[test]
fn a_file_that_took_the_place_of_the_store_is_not_written_to() {
    block_on(async {
        let server = Server::start(Engine::Sqlite).await;
        server.may_fail();
        let agent = committed(&server, 5).await;
        let copy = server.store.file(".copy");
        fs::copy(server.store.file(""), &copy).expect("a copy");
        let before = fs::read(&copy).expect("the copy");
        fs::rename(&copy, server.store.file("")).expect("replaced");
        nothing_is_acknowledged(&server, &agent).await;
        let after = fs::read(server.store.file("")).expect("the store");
        assert!(before == after, "the copy was written to");
    });
}

#[test]
fn a_link_in_the_place_of_the_store_acknowledges_nothing_more() {
    block_on(async {
        let server = Server::start(Engine::Sqlite).await;
        server.may_fail();
        let agent = committed(&server, 5).await;
        let elsewhere = server.store.file(".real");
        fs::rename(server.store.file(""), &elsewhere).expect("moved");
        std::os::unix::fs::symlink(&elsewhere, server.store.file("")).expect("a link");
        nothing_is_acknowledged(&server, &agent).await;
    });
}

/// As a deploy that moves `current` on to another folder would: the next start opens another store.
#[test]
fn a_link_on_the_way_to_the_store_that_leads_elsewhere_acknowledges_nothing_more() {
    block_on(async {
        let home = tempfile::tempdir().expect("a folder");
        let [current, one, two] = ["current", "one", "two"].map(|name| home.path().join(name));
        fs::create_dir(&one).expect("a folder");
        fs::create_dir(&two).expect("a folder");
        std::os::unix::fs::symlink(&one, &current).expect("a link");
        let server = Server::start_in(&current).await;
        server.may_fail();
        let agent = committed(&server, 5).await;
        let name = server.store.file("");
        let name = name.file_name().expect("a name");
        fs::copy(one.join(name), two.join(name)).expect("a copy");
        fs::remove_file(&current).expect("the link");
        std::os::unix::fs::symlink(&two, &current).expect("a link");
        nothing_is_acknowledged(&server, &agent).await;
    });
}

#[test]
fn a_file_that_is_no_store_keeps_its_mode() {
    block_on(async {
        let server = Server::start(Engine::Sqlite).await;
        let other = server.store.file(".txt");
        fs::write(&other, "no store").expect("a file");
        fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).expect("a mode");
        let url = format!("sqlite:{}", other.display());
        let refused = server.store.command_on(&url, &["verify"]).await;
        assert!(!refused.status.success(), "{refused:?}");
        let mode = fs::metadata(&other).expect("the file").permissions().mode();
        assert_eq!(format!("{:o}", mode & 0o777), "644");
    });
}

/// What was acknowledged is in the open files; a server that ends in good order brings it home.
async fn survives_the_loss_of(end: &str) {
    let mut server = Server::start(Engine::Sqlite).await;
    server.may_fail();
    let agent = committed(&server, 5).await;
    fs::remove_file(server.store.file(end)).expect("the file");
    nothing_is_acknowledged(&server, &agent).await;
    server.terminates_within(Duration::from_secs(20)).await;
    server.restart().await;
    let agent = agent.through(&server.api());
    assert_eq!(server.api().run(&agent.run).await["committed"], 5);
    agent.does("k6", json!({"state": {"n": 6}})).await;
}

#[test]
fn a_deleted_wal_loses_nothing_that_was_acknowledged() {
    block_on(survives_the_loss_of("-wal"));
}

#[test]
fn a_deleted_shm_loses_nothing_that_was_acknowledged() {
    block_on(survives_the_loss_of("-shm"));
}

/// The system ends a process whose memory is cut off: then it is started again, and has all that it acknowledged.
#[test]
fn a_truncated_shm_loses_nothing_that_was_acknowledged() {
    block_on(async {
        let mut server = Server::start(Engine::Sqlite).await;
        server.may_fail();
        let load = Load::start(server.api(), 4);
        load.goes_on(30).await;
        let shm = server.store.file("-shm");
        let cut = fs::OpenOptions::new().write(true).open(shm).expect("-shm");
        cut.set_len(0).expect("cut");
        for _ in 0..20 {
            if server.ended() {
                break;
            }
            pause(50).await;
        }
        server.restart().await;
        load.moved_to(server.api());
        load.goes_on(30).await;
        let acknowledged = load.finish().await;
        verify(&server.api(), &acknowledged).await;
        let verified = server.store.command(&["verify"]).await;
        assert!(verified.status.success(), "{verified:?}");
    });
}

#[test]
fn a_store_is_for_its_owner_alone() {
    block_on(async {
        let mut server = Server::start(Engine::Sqlite).await;
        committed(&server, 1).await;
        let modes = |server: &Server| {
            ["", "-wal", "-shm"].map(|end| {
                let found = fs::metadata(server.store.file(end)).expect("a file");
                format!("{:o}", found.permissions().mode() & 0o777)
            })
        };
        assert_eq!(modes(&server), ["600"; 3]);
        // One that an earlier version made.
        server.kill();
        for end in ["", "-wal", "-shm"] {
            let open = fs::Permissions::from_mode(0o644);
            fs::set_permissions(server.store.file(end), open).expect("a file");
        }
        server.restart().await;
        assert_eq!(modes(&server), ["600"; 3]);
    });
}
