//! Work that takes long is done aside: not on the threads that answer requests and write, and only so much of it at
//! once that these keep a core.

use std::{sync::LazyLock, thread::available_parallelism};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Semaphore,
    task::block_in_place,
};

/// Bytes of JSON from which on it is worth going aside.
pub const LONG: usize = 64 << 10;

static ROOM: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Semaphore::new((cores / 2).max(1))
});

/// Does the work when there is room for it; meanwhile another thread takes over what else this one had to do.
pub async fn aside<T>(work: impl FnOnce() -> T) -> T {
    // The semaphore is never closed; without a permit the work would only be less polite.
    let _room = ROOM.acquire().await;
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work(),
        _ => block_in_place(work),
    }
}

/// The same for work that also reads.
pub async fn aside_with<F: Future>(work: F) -> F::Output {
    let _room = ROOM.acquire().await;
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work.await,
        _ => block_in_place(|| Handle::current().block_on(work)),
    }
}
