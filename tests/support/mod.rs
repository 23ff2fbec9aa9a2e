//! What every behaviour test stands on: both engines, the real server as a process, and the wire as raw JSON.

mod agent;
mod api;
mod browser;
mod cli;
pub mod disk;
mod engine;
mod events;
pub mod failing_disk;
pub mod found;
mod process;
mod server;
mod shared;
mod tamper;
mod wait;
mod wire;

pub use agent::Agent;
pub use api::{Answer, Api, merged};
pub use browser::{Browser, link};
pub use cli::{Cli, Said};
pub use engine::{Engine, administer, database};
pub use events::{Stream, ids, is_strictly_rising};
pub use process::signal;
pub use server::Server;
pub use tamper::{flip, flipped};
pub use wait::{DEADLINE, eventually, is_time, past, pause, together};
pub use wire::Wire;

use std::{future::Future, sync::LazyLock};
use tokio::runtime::Runtime;

/// One runtime for all tests, so that connections to a shared server outlive the test that opened them.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("no other TLS provider");
    Runtime::new().expect("a runtime")
});

pub fn block_on<F: Future<Output = ()>>(work: F) {
    RUNTIME.block_on(work);
}

/// Runs one test on one engine.
pub fn run<F: Future<Output = ()>>(engine: Engine, test: fn(Engine) -> F) {
    let _witness = Witness(engine);
    if engine.chosen() {
        block_on(test(engine));
    }
}

/// Tells what the shared server said last when a test fails; a panic of that server, or an answer of 500, is a failure, too.
struct Witness(Engine);

impl Drop for Witness {
    fn drop(&mut self) {
        let found = self.0.found_in_shared();
        found::keep(&found);
        if std::thread::panicking() {
            eprintln!(
                "--- the shared server's last words ---\n{}",
                self.0.shared_log()
            );
        } else if !found.is_empty() {
            panic!(
                "the server that tests share panicked or answered 500 in one of them: {found:#?}"
            );
        }
    }
}

/// Names each test once per engine, so that a failure says where it happened.
macro_rules! both_engines {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            use crate::support::{Engine, run};
            $(#[test] fn $test() { run(Engine::Sqlite, super::$test) })+
        }
        mod postgres {
            use crate::support::{Engine, run};
            $(#[test] fn $test() { run(Engine::Postgres, super::$test) })+
        }
    };
}
pub(crate) use both_engines;

/// The same tests as long campaigns, for `cargo xtask torture`; see `rounds`.
macro_rules! campaigns {
    ($($test:ident),+ $(,)?) => {
        mod torture {
            use crate::support::{Engine, run};
            $(
                #[test]
                #[ignore = "a long campaign: cargo xtask torture"]
                fn $test() {
                    run(Engine::Sqlite, super::$test);
                    run(Engine::Postgres, super::$test);
                }
            )+
        }
    };
}
pub(crate) use campaigns;

/// What chance begins from: the same in every run of the tests, another in each long campaign. `STEP47_TEST_SEED` plays what a
/// failure named again.
pub fn seed() -> u64 {
    if let Ok(given) = std::env::var("STEP47_TEST_SEED") {
        return given.parse().expect("a number");
    }
    match std::env::var_os("STEP47_TORTURE") {
        Some(_) => rand::random(),
        None => 47,
    }
}

/// How often to repeat what goes wrong only sometimes: `STEP47_TORTURE=1` asks for many more.
pub fn rounds(usual: usize) -> usize {
    match std::env::var_os("STEP47_TORTURE") {
        Some(_) => usual * 20,
        None => usual,
    }
}

/// For what one engine alone can do: several servers on one store, a database that hangs up.
macro_rules! on_postgres {
    ($($test:ident),+ $(,)?) => {
        mod postgres_only {
            use crate::support::{Engine, run};
            $(#[test] fn $test() { run(Engine::Postgres, super::$test) })+
        }
    };
}
pub(crate) use on_postgres;

/// A name that no other test uses.
pub fn unique(what: &str) -> String {
    format!("{what}-{}", uuid::Uuid::now_v7().simple())
}
