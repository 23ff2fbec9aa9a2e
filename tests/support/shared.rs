//! The server that quick tests share, each keeping to its own runs and agents: one per engine and test run.
//!
//! Under `cargo test` all tests live in one process. `cargo nextest` gives each test a process of its own: there
//! the first that needs the server starts it, the others find it, and it ends with the runner.

use serde_json::{Value, json};
use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
};
use tokio::sync::OnceCell;

use super::{
    Api, Engine, Server, found,
    process::{Until, tail},
};

/// Where the tests of one run find what they share, if they do not share a process.
pub fn meeting_point() -> Option<PathBuf> {
    let run = env::var("NEXTEST_RUN_ID").ok()?;
    Some(env::temp_dir().join(format!("step47-{run}")))
}

static SQLITE: OnceCell<Result<Shared, String>> = OnceCell::const_new();
static POSTGRES: OnceCell<Result<Shared, String>> = OnceCell::const_new();

struct Shared {
    api: Api,
    log: PathBuf,
}

impl Engine {
    pub async fn shared(self) -> Api {
        match self.cell().get_or_init(|| Shared::find(self)).await {
            Ok(shared) => shared.api.clone(),
            Err(why) => panic!("the shared server did not start: {why}"),
        }
    }

    /// What the shared server said last, if there is one.
    pub fn shared_log(self) -> String {
        let shared = self.cell().get().and_then(|shared| shared.as_ref().ok());
        shared.map_or(String::new(), |shared| tail(&shared.log))
    }

    /// What no test passes over, of the shared server; no test makes its store fail.
    pub fn found_in_shared(self) -> Vec<String> {
        let shared = self.cell().get().and_then(|shared| shared.as_ref().ok());
        shared.map_or(Vec::new(), |shared| found::in_log(&shared.log, false))
    }

    fn cell(self) -> &'static OnceCell<Result<Shared, String>> {
        match self {
            Self::Sqlite => &SQLITE,
            Self::Postgres => &POSTGRES,
        }
    }
}

impl Shared {
    async fn find(engine: Engine) -> Result<Self, String> {
        let Some(point) = meeting_point() else {
            return Self::start(engine, Until::Here).await;
        };
        fs::create_dir_all(&point).map_err(|e| e.to_string())?;
        let place = point.join(format!("{engine:?}"));
        let lock = File::create(place.with_extension("lock")).map_err(|e| e.to_string())?;
        lock.lock().map_err(|e| e.to_string())?;
        if let Some(shared) = Self::read(&place) {
            return Ok(shared);
        }
        let shared = Self::start(engine, Until::Runner).await?;
        let (base, token) = shared.api.parts();
        let told = json!({"base": base, "token": token, "log": shared.log});
        fs::write(&place, told.to_string()).map_err(|e| e.to_string())?;
        Ok(shared)
    }

    async fn start(engine: Engine, until: Until) -> Result<Self, String> {
        let server = Server::try_start(engine, until).await?;
        let shared = Self {
            api: server.api(),
            log: server.log().to_owned(),
        };
        // It outlives this test; its guard ends it.
        std::mem::forget(server);
        Ok(shared)
    }

    fn read(place: &Path) -> Option<Self> {
        let told: Value = serde_json::from_str(&fs::read_to_string(place).ok()?).ok()?;
        Some(Self {
            api: Api::new(told["base"].as_str()?, told["token"].as_str()?),
            log: told["log"].as_str()?.into(),
        })
    }
}
