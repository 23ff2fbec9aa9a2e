//! Run × worker × operator against a small reference: random sequences of what each may do, in any order, also with
//! an old epoch, an old version or a key that is taken, and sent again. After each, store and reference must agree.
//!
//! A short slice runs with every test; `cargo xtask torture` runs 10,000 sequences on each engine. A failure names its
//! seed; `STEP47_TEST_SEED` plays the same sequences again.

mod operator;
mod ops;
mod reference;
mod world;

use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use crate::support::{Engine, block_on, seed};
use ops::{Kind, Op};
use reference::Reference;
use world::World;

fn op() -> impl Strategy<Value = Op> {
    let stale = prop::bool::weighted(0.15);
    let key = 0..4usize;
    prop_oneof![
        4 => Just(Op::Lease { takeover: false }),
        2 => Just(Op::Lease { takeover: true }),
        2 => (stale, prop::bool::weighted(0.2)).prop_map(|(stale, pause)| Op::Release { stale, pause }),
        8 => (key.clone(), stale, prop::bool::weighted(0.25)).prop_map(|(key, stale, other_name)| {
            Op::Begin { key, stale, other_name }
        }),
        6 => (key.clone(), stale, 0..3u8).prop_map(|(key, stale, value)| Op::Commit { key, stale, value }),
        1 => (stale, prop::option::of(0..3u8)).prop_map(|(stale, value)| Op::Fail { stale, value }),
        1 => (stale, any::<bool>()).prop_map(|(stale, done)| Op::Finish { stale, done }),
        1 => Just(Op::Expire),
        2 => Just(Op::Again),
        12 => (prop::sample::select(Kind::ALL), key, stale, any::<bool>()).prop_map(|(kind, key, stale, new)| {
            Op::Decide { kind, key, stale, new }
        }),
    ]
}

/// Most begin with a worker: without one there is little to do.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    let first = Just(Op::Lease { takeover: false });
    let first = prop::option::weighted(0.9, first);
    let rest = prop::collection::vec(op(), 1..40);
    (first, rest).prop_map(|(first, rest)| first.into_iter().chain(rest).collect())
}

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn sequences(engine: Engine, cases: u32) {
    if !engine.chosen() {
        return;
    }
    let seed = seed();
    block_on(async move {
        let world = World::open(engine).await;
        let handle = tokio::runtime::Handle::current();
        // The runner is not async: it works on a thread of its own and asks the runtime.
        let checked = tokio::task::spawn_blocking(move || {
            let config = Config {
                cases,
                failure_persistence: None,
                max_shrink_iters: 400,
                ..Config::default()
            };
            let mut runner = TestRunner::new_with_rng(config, rng(seed));
            let outcome = runner.run(&ops(), |ops| handle.block_on(agree(&world, &ops)));
            (outcome, world)
        });
        let (outcome, world) = checked.await.expect("the runner");
        world.close().await;
        if let Err(error) = outcome {
            panic!("seed {seed}: {error}");
        }
    });
}

/// Plays the sequence on both sides and compares after each step.
async fn agree(world: &World, ops: &[Op]) -> Result<(), TestCaseError> {
    let mut case = world.case().await;
    let mut reference = Reference::default();
    for op in ops {
        let told = world.play(&mut case, &reference, op).await;
        let expected = reference.play(op);
        prop_assert_eq!(&told, &expected, "what was answered to {:?}", op);
        let seen = world.look(&case.run).await;
        prop_assert_eq!(seen, reference.seen(), "what is recorded after {:?}", op);
        if let Some(fork) = reference.fork.take() {
            let made = world.case_of(case.fork.clone());
            let seen = world.look(&made.run).await;
            prop_assert_eq!(seen, fork.seen(), "what was forked by {:?}", op);
            case.fork = made.fork.clone();
            if matches!(op, Op::Decide { new: true, .. }) {
                (case, reference) = (made, *fork);
            }
        }
    }
    Ok(())
}

const SLICE: u32 = 60;
const CAMPAIGN: u32 = 10_000;

#[test]
fn run_worker_and_operator_follow_the_model_on_sqlite() {
    sequences(Engine::Sqlite, SLICE);
}

#[test]
fn run_worker_and_operator_follow_the_model_on_postgres() {
    sequences(Engine::Postgres, SLICE);
}

#[test]
#[ignore = "a campaign: cargo xtask torture"]
fn ten_thousand_sequences_follow_the_model_on_sqlite() {
    sequences(Engine::Sqlite, CAMPAIGN);
}

#[test]
#[ignore = "a campaign: cargo xtask torture"]
fn ten_thousand_sequences_follow_the_model_on_postgres() {
    sequences(Engine::Postgres, CAMPAIGN);
}
