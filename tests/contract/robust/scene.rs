//! Where the server is now, and the tasks around it that go on until they are told to end.

use std::{future::Future, sync::Mutex, time::Duration};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::support::Api;

pub struct Scene {
    door: watch::Sender<Api>,
    stop: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A task's view of it.
#[derive(Clone)]
pub struct SceneHandle {
    door: watch::Receiver<Api>,
    stop: CancellationToken,
}

impl Scene {
    pub fn new(api: Api) -> Self {
        Self {
            door: watch::channel(api).0,
            stop: CancellationToken::new(),
            tasks: Mutex::default(),
        }
    }

    /// The server came back, and listens here.
    pub fn moved_to(&self, api: Api) {
        self.door.send_replace(api);
    }

    /// Repeats `act` until the end, with a pause in between.
    pub fn repeat<F>(&self, pause: Duration, act: impl Fn(SceneHandle) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send,
    {
        let place = SceneHandle {
            door: self.door.subscribe(),
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
    pub fn api(&self) -> Api {
        self.door.borrow().clone()
    }

    /// A pause that ends early with everything else.
    pub async fn rest(&self, time: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(time) => {}
        }
    }
}
