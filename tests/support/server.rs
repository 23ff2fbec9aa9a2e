//! A server of its own for a test, or two on one store; killed, restarted and stopped by its own pid.

use std::{
    ffi::OsString,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::Instant,
};

use super::{
    Api, Engine,
    engine::{administer, database},
    failing_disk::FailingDisk,
    process::{Address, Process, Start, Until, step47, tail},
    wait::{DEADLINE, pause},
};

/// How many stores live at once: each server holds its connections to PostgreSQL.
static STORES: Semaphore = Semaphore::const_new(6);

/// A fresh store, the ground of one or more servers.
pub struct Store {
    pub url: String,
    /// What the environment tells its servers.
    told: Vec<(&'static str, OsString)>,
    /// The test makes it fail: its servers may answer 500 then. They may not panic.
    may_fail: Arc<AtomicBool>,
    dir: TempDir,
    _permit: SemaphorePermit<'static>,
}

impl Store {
    async fn fresh(engine: Engine) -> Result<Self, String> {
        let permit = STORES.acquire().await.map_err(|e| e.to_string())?;
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let url = engine.fresh_store(dir.path()).await?;
        settings(dir.path(), "")?;
        Ok(Self {
            url,
            told: Vec::new(),
            may_fail: Arc::default(),
            dir,
            _permit: permit,
        })
    }

    /// An embedded store in this folder; what servers say goes elsewhere.
    async fn embedded_in(folder: &Path) -> Result<Self, String> {
        let mut store = Self::fresh(Engine::Sqlite).await?;
        store.url = Engine::Sqlite.fresh_store(folder).await?;
        Ok(store)
    }

    /// The file of an embedded store, or one of those beside it: `-wal`, `-shm`.
    pub fn file(&self, end: &str) -> PathBuf {
        let file = self.url.strip_prefix("sqlite:").expect("an embedded store");
        PathBuf::from(format!("{file}{end}"))
    }

    /// Runs a command of the binary on this store.
    pub async fn command(&self, arguments: &[&str]) -> Output {
        self.command_on(&self.url, arguments).await
    }

    /// The same on another store.
    pub async fn command_on(&self, url: &str, arguments: &[&str]) -> Output {
        let mut command = step47(self.dir.path());
        command.args(arguments).args(["--store", url]);
        tokio::task::spawn_blocking(move || command.output())
            .await
            .expect("the command is awaited")
            .expect("the command starts")
    }

    /// A new token; stdout is the token alone.
    pub async fn token(&self, role: &str, name: &str) -> Result<String, String> {
        let made = self
            .command(&["token", "create", "--role", role, "--name", name])
            .await;
        let token = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        match made.status.success() && !token.is_empty() && !token.contains(char::is_whitespace) {
            true => Ok(token),
            false => Err(format!("token create --role {role}: {made:?}")),
        }
    }

    /// Runs a statement against the PostgreSQL that holds this store; `{}` is the database's name.
    pub async fn administer(&self, statement: &str) {
        administer(statement.replace("{}", database(&self.url))).await;
    }
}

pub struct Server {
    // Before the store, so that the process is gone when its files are.
    process: Process,
    base: String,
    admin: String,
    /// The socket that it listens on, if that outlives it.
    socket: Option<TcpListener>,
    pub store: Arc<Store>,
}

impl Server {
    /// On a socket that is held open through its deploys.
    pub async fn start_on_held_socket(engine: Engine) -> Self {
        let store = Store::fresh(engine).await.unwrap_or_else(|e| panic!("{e}"));
        let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
        let at = Address::Held(socket.try_clone().expect("a socket"));
        let started = serve_at(&store, &at, Until::Here).await;
        let (process, base) = started.unwrap_or_else(|e| panic!("{e}"));
        let admin = store.token("admin", "tests").await;
        Self {
            process,
            base,
            admin: admin.unwrap_or_else(|e| panic!("{e}")),
            socket: Some(socket),
            store: Arc::new(store),
        }
    }

    pub async fn start(engine: Engine) -> Self {
        Self::try_start(engine, Until::Here)
            .await
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// With these lines in the section `[step47]` of its settings.
    pub async fn start_with(engine: Engine, settings: &str) -> Self {
        let store = Store::fresh(engine).await.unwrap_or_else(|e| panic!("{e}"));
        self::settings(store.dir.path(), settings).expect("settings");
        Self::on(Arc::new(store), Until::Here)
            .await
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// Logging what this filter lets through.
    pub async fn start_logging(engine: Engine, filter: &'static str) -> Self {
        let mut store = Store::fresh(engine).await.unwrap_or_else(|e| panic!("{e}"));
        store.told.push(("STEP47_LOG", filter.into()));
        Self::on(Arc::new(store), Until::Here)
            .await
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// With an embedded store on a disk that can be told to fail.
    pub async fn start_on(disk: &FailingDisk) -> Self {
        let mut store = Store::fresh(Engine::Sqlite)
            .await
            .unwrap_or_else(|e| panic!("{e}"));
        store.told = disk.environment(&store.file(""));
        let server = Self::on(Arc::new(store), Until::Here).await;
        let server = server.unwrap_or_else(|e| panic!("{e}"));
        let loaded = disk.is_loaded_by(server.pid());
        assert!(
            loaded,
            "the server does not take LD_PRELOAD: is it linked statically?"
        );
        server
    }

    /// With an embedded store in this folder.
    pub async fn start_in(folder: &Path) -> Self {
        Self::start_in_with(folder, "").await
    }

    /// The same, with these lines in the section `[step47]` of its settings.
    pub async fn start_in_with(folder: &Path, settings: &str) -> Self {
        let store = Store::embedded_in(folder).await;
        let store = store.unwrap_or_else(|e| panic!("{e}"));
        self::settings(store.dir.path(), settings).expect("settings");
        Self::on(Arc::new(store), Until::Here)
            .await
            .unwrap_or_else(|e| panic!("{e}"))
    }

    pub async fn try_start(engine: Engine, until: Until) -> Result<Self, String> {
        Self::on(Arc::new(Store::fresh(engine).await?), until).await
    }

    async fn on(store: Arc<Store>, until: Until) -> Result<Self, String> {
        let (process, base) = serve(&store, until).await?;
        let admin = store.token("admin", "tests").await?;
        Ok(Self {
            process,
            base,
            admin,
            socket: None,
            store,
        })
    }

    /// One more server on the same store.
    pub async fn another(&self) -> Self {
        let (process, base) = serve(&self.store, Until::Here)
            .await
            .unwrap_or_else(|e| panic!("{e}"));
        Self {
            process,
            base,
            admin: self.admin.clone(),
            socket: None,
            store: self.store.clone(),
        }
    }

    /// The wire, with an admin's token: it may do all that agents and operators may.
    pub fn api(&self) -> Api {
        Api::new(&self.base, &self.admin)
    }

    /// The wire, with a new token of this role.
    pub async fn api_as(&self, role: &str, name: &str) -> Api {
        let token = self.store.token(role, name).await;
        Api::new(&self.base, &token.unwrap_or_else(|e| panic!("{e}")))
    }

    /// What the server said on stdout.
    pub fn said(&self) -> String {
        self.process.said().unwrap_or_default()
    }

    pub fn log(&self) -> &Path {
        self.process.log()
    }

    /// The test makes the store fail: what its servers then answer with 500 fails no test. A panic still does.
    pub fn may_fail(&self) {
        self.store.may_fail.store(true, Ordering::Relaxed);
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Whether it ended by itself.
    pub fn ended(&mut self) -> bool {
        self.process.ended()
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// SIGTERM: it ends in good order, and in time.
    pub async fn terminates_within(&mut self, time: Duration) {
        super::signal(self.process.pid(), "TERM");
        let ended = super::eventually("the server ends", async || self.process.exit());
        let exit = tokio::time::timeout(time, ended)
            .await
            .expect("the server ends in time");
        assert!(exit.success(), "{exit}");
    }

    /// As a deploy does it: SIGTERM, and the next one listens on the same address.
    pub async fn redeploy(&mut self, time: Duration) {
        self.terminates_within(time).await;
        let at = match &self.socket {
            Some(socket) => Address::Held(socket.try_clone().expect("a socket")),
            None => Address::Own(self.base.trim_start_matches("http://").to_owned()),
        };
        let (process, base) = serve_at(&self.store, &at, Until::Here)
            .await
            .unwrap_or_else(|e| panic!("{e}"));
        self.process = process;
        self.base = base;
    }

    pub async fn restart(&mut self) {
        self.kill();
        let (process, base) = serve(&self.store, Until::Here)
            .await
            .unwrap_or_else(|e| panic!("{e}"));
        self.process = process;
        self.base = base;
    }
}

/// Tests send many wrong tokens from one address; what becomes of those has a test of its own.
fn settings(dir: &Path, lines: &str) -> Result<(), String> {
    let patient = match lines.contains("wrong_tokens") {
        true => "",
        false => "connections.wrong_tokens = 1_000_000",
    };
    let leptos = "[package.metadata.leptos]\noutput-name = \"step47\"\n";
    let file = format!("[step47]\n{patient}\n{lines}\n\n{leptos}");
    std::fs::write(dir.join("Leptos.toml"), file).map_err(|e| e.to_string())
}

async fn serve(store: &Store, until: Until) -> Result<(Process, String), String> {
    serve_at(store, &Address::Own("127.0.0.1:0".into()), until).await
}

async fn serve_at(store: &Store, at: &Address, until: Until) -> Result<(Process, String), String> {
    let mut process = Process::serve(Start {
        url: &store.url,
        dir: store.dir.path(),
        name: &super::unique("server"),
        told: &store.told,
        at,
        until,
        store_may_fail: store.may_fail.clone(),
    });
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(base) = process.address() {
            return Ok((process, base));
        }
        if process.ended() || Instant::now() > end {
            let said = tail(process.log());
            return Err(format!(
                "no `listening on http://…` from the server: {said}"
            ));
        }
        pause(10).await;
    }
}
