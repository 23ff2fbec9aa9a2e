//! From settings to a running server, and down again in good order.

use listenfd::ListenFd;
use std::{net::SocketAddr, time::Duration};
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    App, auth::Access, bodies, config::Config, connections, host::Hosts, live::Hub, rooms::Rooms,
    router, site::Site, telemetry, workers::Workers, wrong_tokens::WrongTokens,
};
use crate::{
    domain::tree::StateMax,
    store::{Error, Store},
};

/// After the last connection is closed: for the store.
const CLOSING: Duration = Duration::from_secs(5);

/// A server that answers.
pub struct Running {
    pub addr: SocketAddr,
    pub store: Store,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    deadline: Duration,
}

impl Running {
    /// Ends streams and long polls, answers what is under way, closes the store; all of it within a deadline.
    pub async fn stop(self) {
        self.stop.cancel();
        let ended = async {
            for task in self.tasks {
                // A task that panicked has said so already.
                let _ = task.await;
            }
            self.store.close().await;
        };
        if timeout(self.deadline + CLOSING, ended).await.is_err() {
            tracing::warn!("the store did not close in time; what was acknowledged is stored");
        }
    }
}

/// The socket that a supervisor holds open for this process (systemd's `LISTEN_FDS`), or one of its own. On a socket that is held,
/// connections wait while one server ends and the next one starts; otherwise they are refused meanwhile.
async fn listener(listen: SocketAddr) -> Result<TcpListener, Error> {
    let held = ListenFd::from_env().take_tcp_listener(0);
    let held = held.map_err(|e| Error::Setup(format!("LISTEN_FDS holds no TCP socket: {e}")))?;
    match held {
        Some(socket) => {
            let listener = socket
                .set_nonblocking(true)
                .and_then(|()| TcpListener::from_std(socket));
            listener.map_err(|e| Error::Setup(format!("cannot use the socket of LISTEN_FDS: {e}")))
        }
        None => TcpListener::bind(listen)
            .await
            .map_err(|e| Error::Setup(format!("cannot listen on {listen}: {e}"))),
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
    let listener = listener(config.listen).await?;
    let addr = listener
        .local_addr()
        .map_err(|e| Error::Setup(e.to_string()))?;
    let stop = CancellationToken::new();
    let limits = config.limits;
    let rooms = Rooms::new(&limits);
    let (live, follower) = Hub::new(rooms.viewers.clone());
    let workers = Workers::default();
    let access = Access::new(config.behind_tls);
    let site = Site::new(config.leptos.site_root.to_string().into());
    site.tell();
    let app = App {
        store: store.clone(),
        live,
        access: access.clone(),
        workers: workers.clone(),
        site,
        leptos: config.leptos,
        metrics: telemetry::metrics().map_err(Error::Setup)?,
        limits,
        rooms,
        bodies: bodies::budget(&limits),
        wrong_tokens: WrongTokens::new(limits.connections.wrong_tokens),
        tls: config.behind_tls,
        hosts: Hosts::new(config.listen, config.public_url.as_deref(), &config.hosts),
        public_url: config.public_url,
        metrics_public: config.metrics_public,
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
        let (connections, behind_tls) = (limits.connections, app.tls);
        let router = router::router(app);
        connections::serve(listener, router, connections, behind_tls, stop.clone())
    };
    let tasks = vec![
        tokio::spawn(follow),
        tokio::spawn(keep_time),
        tokio::spawn(hear),
        tokio::spawn(workers.remember(store.clone(), stop.clone())),
        tokio::spawn(access.open.watch(store.clone(), stop.clone())),
        tokio::spawn(store.clone().keep_counts(stop.clone())),
        tokio::spawn(serve),
    ];
    Ok(Running {
        addr,
        store,
        stop,
        tasks,
        deadline: limits.connections.shutdown(),
    })
}
