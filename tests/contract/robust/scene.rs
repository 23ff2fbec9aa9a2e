//! Where the server is now, and the tasks around it that go on until they are told to end.

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::cast::{Cast, Part};
use crate::support::Api;

pub struct Scene {
    door: watch::Sender<Api>,
    cast: Arc<Cast>,
    /// Odd while a fault is happening.
    faults: Arc<AtomicUsize>,
    stop: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A task's view of it.
#[derive(Clone)]
pub struct SceneHandle {
    door: watch::Receiver<Api>,
    cast: Arc<Cast>,
    faults: Arc<AtomicUsize>,
    stop: CancellationToken,
}

impl Scene {
    pub fn new(api: Api, cast: Arc<Cast>) -> Self {
        Self {
            door: watch::channel(api).0,
            cast,
            faults: Arc::default(),
            stop: CancellationToken::new(),
            tasks: Mutex::default(),
        }
    }

    /// The server came back, and listens here.
    pub fn moved_to(&self, api: Api) {
        self.door.send_replace(api);
    }

    /// While this goes on, nobody measures how long anything takes.
    pub async fn disturbed_by(&self, fault: impl Future<Output = ()>) {
        self.faults.fetch_add(1, Ordering::SeqCst);
        fault.await;
        self.faults.fetch_add(1, Ordering::SeqCst);
    }

    /// Repeats `act` until the end, with a pause in between.
    pub fn repeat<F>(&self, pause: Duration, act: impl Fn(SceneHandle) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send,
    {
        let place = SceneHandle {
            door: self.door.subscribe(),
            cast: self.cast.clone(),
            faults: self.faults.clone(),
            stop: self.stop.clone(),
        };
        let stop = self.stop.clone();
        let task = tokio::spawn(async move {
            while !stop.is_cancelled() {
                act(place.clone()).await;
                place.rest(pause).await;
            }
        });
        self.tasks.lock().expect("no task panics").push(task);
    }

    /// Nobody found anything wrong so far: a campaign must not go on for minutes after that.
    pub fn goes_on(&self) {
        let tasks = self.tasks.lock().expect("no task panics");
        let ended = tasks.iter().filter(|task| task.is_finished()).count();
        assert_eq!(ended, 0, "tasks ended before their time; why stands above");
    }

    /// Ends all tasks; what one of them found wrong is told here.
    pub async fn end(self) {
        self.stop.cancel();
        let tasks = std::mem::take(&mut *self.tasks.lock().expect("no task panics"));
        for task in tasks {
            if let Err(failed) = task.await {
                std::panic::resume_unwind(failed.into_panic());
            }
        }
    }
}

impl SceneHandle {
    /// The server as this part sees it.
    pub fn api(&self, part: Part) -> Api {
        self.cast.api(part, &self.door.borrow())
    }

    /// After which fault this is; nothing while one is happening.
    pub fn calm(&self) -> Option<usize> {
        let faults = self.faults.load(Ordering::SeqCst);
        faults.is_multiple_of(2).then_some(faults)
    }

    /// A pause that ends early with everything else.
    pub async fn rest(&self, time: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(time) => {}
        }
    }
}
