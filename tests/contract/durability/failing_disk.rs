//! A store whose file system is read-only for a while, or whose disk cannot sync: nothing is acknowledged that would be
//! lost, and all goes on by itself.

use serde_json::json;

use super::{
    full_disk::{ready, refused_for, said},
    load::{Load, verify},
};
use crate::support::{
    Api, Server, block_on, eventually,
    failing_disk::{FailingDisk, Fault},
    rounds,
};

/// SQLite calls the first write that fails an I/O error; it hears that the file is read-only when it opens it again.
async fn is_read_only(api: &Api) {
    eventually("writes are refused as read-only", async || {
        let answer = api.post("/v1/runs", json!({"agent": "tests"})).await;
        let told = (answer.status, answer.body()["reason"] == "read_only");
        (told == (503, true)).then_some(())
    })
    .await;
    refused_for(api, "read_only").await;
    let why = ready(api, 503).await;
    assert!(why.contains("read-only"), "{why}");
}

fn a_file_system_that_is_read_only_for_a_while() {
    block_on(async {
        let disk = FailingDisk::new();
        let mut server = Server::start_on(&disk).await;
        let api = server.api();
        let load = Load::start(api.clone(), 8);
        for round in 1..=rounds(2) {
            load.goes_on(30).await;
            disk.fails(Fault::ReadOnly);
            is_read_only(&api).await;
            // What is stored is still read.
            api.get("/v1/runs").await.is(200);
            disk.works_again(Fault::ReadOnly);
            load.goes_on(30).await;
            ready(&api, 200).await;
            assert_eq!(said(&server, "writes work again"), round);
        }
        let acknowledged = load.finish().await;
        verify(&api, &acknowledged).await;
        server.restart().await;
        verify(&server.api(), &acknowledged).await;
    });
}

fn a_disk_that_cannot_sync_for_a_while() {
    block_on(async {
        let disk = FailingDisk::new();
        let mut server = Server::start_on(&disk).await;
        let load = Load::start(server.api(), 8);
        for _ in 0..rounds(2) {
            let api = server.api();
            load.goes_on(30).await;
            disk.fails(Fault::NoSync);
            let why = ready(&api, 503).await;
            assert!(why.contains("I/O error"), "{why}");
            for _ in 0..5 {
                refused_for(&api, "io_error").await;
            }
            disk.works_again(Fault::NoSync);
            load.goes_on(30).await;
            ready(&api, 200).await;
            // Each round has a server, and so a log, of its own.
            assert_eq!(said(&server, "writes work again"), 1);

            // What a killed server wrote and never synced may be there after the restart, or not: nobody was told that it
            // is, and to send it again is safe both times.
            disk.fails(Fault::NoSync);
            ready(&api, 503).await;
            server.kill();
            disk.works_again(Fault::NoSync);
            server.restart().await;
            load.moved_to(server.api());
            load.goes_on(30).await;
            ready(&server.api(), 200).await;
        }
        let acknowledged = load.finish().await;
        verify(&server.api(), &acknowledged).await;
        let sound = server.store.command(&["verify"]).await;
        assert!(sound.status.success(), "{sound:?}");
    });
}

#[test]
fn a_file_system_that_is_read_only_for_a_while_stops_nothing_for_good() {
    a_file_system_that_is_read_only_for_a_while();
}

#[test]
fn a_disk_that_cannot_sync_has_nothing_acknowledged_that_is_lost() {
    a_disk_that_cannot_sync_for_a_while();
}

mod torture {
    #[test]
    #[ignore = "a long campaign: cargo xtask torture"]
    fn a_file_system_that_is_read_only_for_a_while_stops_nothing_for_good() {
        super::a_file_system_that_is_read_only_for_a_while();
    }

    #[test]
    #[ignore = "a long campaign: cargo xtask torture"]
    fn a_disk_that_cannot_sync_has_nothing_acknowledged_that_is_lost() {
        super::a_disk_that_cannot_sync_for_a_while();
    }
}
