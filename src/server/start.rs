//! From settings to a running server, and down again in good order.

use std::net::SocketAddr;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    App, auth::Access, config::Config, live::Hub, router, site::Site, telemetry, workers::Workers,
};
use crate::{
    domain::tree::StateMax,
    store::{Error, Store},
};

/// A server that answers.
pub struct Running {
    pub addr: SocketAddr,
    pub store: Store,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Running {
    /// Ends streams and long polls, answers what is under way, closes the store.
    pub async fn stop(self) {
        self.stop.cancel();
        for task in self.tasks {
            // A task that panicked has said so already.
            let _ = task.await;
        }
        self.store.close().await;
    }
}

pub async fn start(config: Config) -> Result<Running, Error> {
    let state_max = StateMax {
        bytes: config.limits.state_max,
        values: config.limits.values_max,
    };
    let store = Store::connect_within(&config.store, state_max).await?;
    store.migrate().await?;
    store.come_back().await?;
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|e| Error::Setup(format!("cannot listen on {}: {e}", config.listen)))?;
    let addr = listener
        .local_addr()
        .map_err(|e| Error::Setup(e.to_string()))?;
    let stop = CancellationToken::new();
    let (live, follower) = Hub::new(config.limits.viewers_max);
    let workers = Workers::default();
    let app = App {
        store: store.clone(),
        live,
        access: Access::default(),
        workers: workers.clone(),
        site: Site::new(config.leptos.site_root.to_string().into()),
        leptos: config.leptos,
        metrics: telemetry::metrics().map_err(Error::Setup)?,
        limits: config.limits,
        tls: config.behind_tls,
        stop: stop.clone(),
    };
    let head = store.head().await?;
    let follow = follower.follow(store.clone(), head, stop.clone());
    let keep_time = {
        let (store, stop) = (store.clone(), stop.clone());
        async move { store.keep_time(stop).await }
    };
    let hear = {
        let (store, stop) = (store.clone(), stop.clone());
        async move { store.hear(stop).await }
    };
    let serve = {
        let (router, stop) = (router::router(app), stop.clone());
        async move {
            let serving =
                axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::error!(%error, "the server stopped");
            }
        }
    };
    let tasks = vec![
        tokio::spawn(follow),
        tokio::spawn(keep_time),
        tokio::spawn(hear),
        tokio::spawn(workers.remember(store.clone(), stop.clone())),
        tokio::spawn(serve),
    ];
    Ok(Running {
        addr,
        store,
        stop,
        tasks,
    })
}
