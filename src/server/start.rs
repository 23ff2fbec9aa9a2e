//! From settings to a running server, and down again in good order.

use listenfd::ListenFd;
use std::{net::SocketAddr, time::Duration};
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    App,
    auth::Access,
    bodies,
    config::Config,
    connections,
    host::Hosts,
    live::{Follower, Hub},
    rooms::Rooms,
    router,
    site::Site,
    telemetry,
    workers::Workers,
    wrong_tokens::WrongTokens,
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
    /// Where `/metrics` has a listener of its own.
    pub metrics: Option<SocketAddr>,
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
                // A panic was logged when it happened.
                let _ = task.await;
            }
            self.store.close().await;
        };
        if timeout(self.deadline + CLOSING, ended).await.is_err() {
            tracing::warn!("the store did not close in time; what was acknowledged is stored");
        }
    }
}

pub async fn start(config: Config) -> Result<Running, Error> {
    let state_max = StateMax {
        bytes: config.limits.state_max,
        values: config.limits.values_max,
    };
    let store = Store::connect_within(&config.store, state_max).await?;
    let store = store.with_session_idle(config.session_idle);
    store.migrate().await?;
    store.come_back().await?;
    let (listener, addr) = match held()? {
        Some(held) => held,
        None => listen(config.listen).await?,
    };
    let aside = match config.metrics_addr {
        Some(addr) => Some(listen(addr).await?),
        None => None,
    };
    let stop = CancellationToken::new();
    let (limits, idle) = (config.limits, config.session_idle);
    let (app, follower) = assemble(store.clone(), config, stop.clone())?;
    let (access, workers) = (app.access.clone(), app.workers.clone());
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
        let settings = (limits.connections, app.tls);
        let router = router::router(app.clone()).map_err(Error::Setup)?;
        connections::serve(
            listener,
            router,
            settings,
            "step47_connections",
            stop.clone(),
        )
    };
    let metrics = aside.as_ref().map(|(_, addr)| *addr);
    let measure = aside.map(|(listener, _)| {
        let settings = (limits.connections, app.tls);
        let router = router::metrics(app);
        let gauge = "step47_metrics_connections";
        connections::serve(listener, router, settings, gauge, stop.clone())
    });
    let mut tasks = vec![
        tokio::spawn(follow),
        tokio::spawn(keep_time),
        tokio::spawn(hear),
        tokio::spawn(workers.remember(store.clone(), stop.clone())),
        tokio::spawn(access.open.watch(store.clone(), stop.clone())),
        tokio::spawn(access.seen.remember(store.clone(), idle, stop.clone())),
        tokio::spawn(store.clone().keep_counts(stop.clone())),
        tokio::spawn(serve),
    ];
    tasks.extend(measure.map(tokio::spawn));
    Ok(Running {
        addr,
        metrics,
        store,
        stop,
        tasks,
        deadline: limits.connections.shutdown(),
    })
}

/// The socket that a supervisor holds open for this process (systemd's `LISTEN_FDS`). On such a socket, connections wait while one
/// server ends and the next one starts; otherwise they are refused meanwhile.
fn held() -> Result<Option<(TcpListener, SocketAddr)>, Error> {
    let trouble = |e| Error::Setup(format!("cannot use the socket of LISTEN_FDS: {e}"));
    let socket = ListenFd::from_env().take_tcp_listener(0);
    let Some(socket) = socket.map_err(trouble)? else {
        return Ok(None);
    };
    socket.set_nonblocking(true).map_err(trouble)?;
    let listener = TcpListener::from_std(socket).map_err(trouble)?;
    let addr = listener.local_addr().map_err(trouble)?;
    Ok(Some((listener, addr)))
}

async fn listen(at: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let trouble = |e| Error::Setup(format!("cannot listen on {at}: {e}"));
    let listener = TcpListener::bind(at).await.map_err(trouble)?;
    let addr = listener.local_addr().map_err(trouble)?;
    Ok((listener, addr))
}

/// What every handler shares, and the task that feeds those who follow live.
pub(super) fn assemble(
    store: Store,
    config: Config,
    stop: CancellationToken,
) -> Result<(App, Follower), Error> {
    let limits = config.limits;
    let rooms = Rooms::new(&limits);
    let (live, follower) = Hub::new(rooms.viewers.clone());
    let site = Site::new(config.leptos.site_root.to_string().into());
    site.tell();
    let app = App {
        store,
        live,
        access: Access::new(config.behind_tls),
        workers: Workers::default(),
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
        metrics_public: config.metrics_public && config.metrics_addr.is_none(),
        stop,
    };
    Ok((app, follower))
}
