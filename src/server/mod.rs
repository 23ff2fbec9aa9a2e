//! The axum server: what answers a request.

mod agent;
mod audit;
mod auth;
mod bodies;
pub(crate) mod body;
mod broken;
pub mod config;
mod connections;
mod decide;
pub(crate) mod failed;
mod functions;
mod health;
mod host;
mod live;
mod pages;
mod peer;
mod problem;
mod rooms;
mod router;
mod scope;
mod seats;
mod settings;
mod signin;
pub mod site;
mod sse;
mod start;
pub mod telemetry;
mod workers;
mod wrong_tokens;

pub use router::declared;
pub use start::{Running, start};

use leptos::config::LeptosOptions;
use tokio_util::sync::CancellationToken;

use crate::store::Store;

/// What every handler shares.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    live: live::Hub,
    access: auth::Access,
    workers: workers::Workers,
    site: site::Site,
    leptos: LeptosOptions,
    metrics: metrics_exporter_prometheus::PrometheusHandle,
    limits: config::Limits,
    rooms: rooms::Rooms,
    /// Bytes of bodies under way.
    bodies: seats::Seats<String>,
    wrong_tokens: wrong_tokens::WrongTokens,
    /// Cookies are marked Secure: TLS is in front.
    tls: bool,
    /// How people reach this server, where that is set.
    public_url: Option<String>,
    hosts: host::Hosts,
    /// Everybody may read `/metrics`.
    metrics_public: bool,
    stop: CancellationToken,
}

impl axum::extract::FromRef<App> for LeptosOptions {
    fn from_ref(app: &App) -> Self {
        app.leptos.clone()
    }
}
