//! A disk that takes no writes for a while: agents go on within their lease, and nothing is done twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use step47::client::{Error, Session};
use step47::domain::{RunStatus, wire::protocol::ReleaseRun};

use crate::{
    eventually,
    server::{Server, create, lease},
};

/// A write that is tried once says that the disk takes none.
async fn refuses_writes(server: &Server) {
    let once = server.client.clone().patience(std::time::Duration::ZERO);
    eventually("writes are refused", async || {
        // A run that is there already would be answered without a write.
        let probe = uuid::Uuid::now_v7().simple().to_string();
        let refused = once.create(&create(&probe)).await;
        matches!(refused, Err(Error::Unreachable { why, .. }) if why.contains("disk")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_agent_goes_on_through_a_disk_that_takes_no_writes_for_a_while() {
    let server = Server::start().await;
    server.may_fail();
    let opened = server.client.open(create("d"), lease(30_000)).await;
    let session: Session<u64> = opened.unwrap();
    let executed = AtomicUsize::new(0);
    // The last step whose work saw that the disk takes no writes; only then may it take some again.
    let refused = AtomicUsize::new(0);
    let step = async |n: u64| {
        let add = session.step(format!("k{n}"), "add").run(
            |_| async {
                executed.fetch_add(1, Ordering::SeqCst);
                // Between begin and commit, and between commit and begin.
                if n % 2 == 1 {
                    server.limit_files("0").await;
                    refuses_writes(&server).await;
                    refused.store(n as usize, Ordering::SeqCst);
                }
                Ok(n)
            },
            |sum, n| *sum += n,
        );
        let free = async {
            if n % 2 == 1 {
                eventually("the step works, and writes are refused", async || {
                    (refused.load(Ordering::SeqCst) as u64 == n).then_some(())
                })
                .await;
                refuses_writes(&server).await;
                server.limit_files("unlimited").await;
            }
        };
        let (added, ()) = tokio::join!(add, free);
        added.unwrap();
    };
    for n in 1..=4 {
        step(n).await;
    }
    server.limit_files("0").await;
    refuses_writes(&server).await;
    let free = async {
        refuses_writes(&server).await;
        server.limit_files("unlimited").await;
    };
    let (finished, ()) = tokio::join!(session.finish(*session.state()), free);
    finished.unwrap();
    let run = server.run("d").await;
    assert_eq!(
        (run.status, run.steps, run.committed),
        (RunStatus::Done, 4, 4)
    );
    assert_eq!(executed.load(Ordering::SeqCst), 4);
    assert_eq!(*session.state(), 10);
}

/// Whatever is asked is asked again.
#[tokio::test]
async fn every_call_is_tried_again_while_the_disk_takes_no_writes() {
    let server = Server::start().await;
    server.may_fail();
    let run = server.client.create(&create("c")).await.unwrap().run.id;
    let leased = server.client.lease(&run, &lease(60_000)).await.unwrap();
    let release = ReleaseRun {
        epoch: leased.epoch,
        after_ms: None,
        pause: false,
    };
    server.limit_files("0").await;
    refuses_writes(&server).await;
    let free = async {
        refuses_writes(&server).await;
        server.limit_files("unlimited").await;
    };
    let (client, other) = (&server.client, create("c2"));
    let (made, released, ()) =
        tokio::join!(client.create(&other), client.release(&run, &release), free);
    assert_eq!(made.unwrap().run.status, RunStatus::Pending);
    assert_eq!(released.unwrap().run.status, RunStatus::Ready);
}
