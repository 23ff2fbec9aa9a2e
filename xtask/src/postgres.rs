//! A PostgreSQL server of our own: made in a temporary directory, reached on a free port of 127.0.0.1 with a random
//! password, stopped and removed when dropped.

use std::{
    fs::{self, File},
    io::Read as _,
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::{install, process};

/// The variable through which tests and benchmarks learn the server's URL.
pub const URL_VARIABLE: &str = "STEP47_TEST_POSTGRES";
/// The variable that names a script: it kills the server without a word and starts it again on the same data and port.
pub const CRASH_VARIABLE: &str = "STEP47_TEST_POSTGRES_CRASH";

#[derive(Clone, Copy, PartialEq)]
pub enum Durability {
    /// As in production: an acknowledged commit is on disk.
    Full,
    /// For tests: the server is thrown away, so it need not wait for the disk.
    None,
}

pub struct Postgres {
    bin: PathBuf,
    owner: Option<Owner>,
    directory: TempDir,
    pub url: String,
}

/// PostgreSQL refuses to run as root: another user that then owns the directory.
#[derive(Clone, Copy)]
struct Owner {
    uid: u32,
    gid: u32,
}

impl Postgres {
    pub fn start(durability: Durability) -> Result<Self> {
        let bin = install::postgres()?;
        process::step("start a throwaway PostgreSQL", || {
            Self::create(bin, durability)
        })
    }

    fn create(bin: PathBuf, durability: Durability) -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("step47-postgres-")
            .tempdir()?;
        let password = random_password()?;
        let password_file = directory.path().join("password");
        fs::write(&password_file, &password)?;
        let owner = if install::is_root()? {
            Some(Owner::find()?)
        } else {
            None
        };
        if let Some(Owner { uid, gid }) = owner {
            chown(directory.path(), Some(uid), Some(gid))?;
            chown(&password_file, Some(uid), Some(gid))?;
        }

        // Made before the server starts, so that its `Drop` also clears away a half-started one.
        let mut postgres = Self {
            bin,
            owner,
            directory,
            url: String::new(),
        };
        let mut initdb = postgres.command("initdb");
        initdb.args([
            "--username=step47",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        ]);
        initdb
            .arg("--pwfile")
            .arg(&password_file)
            .arg("--pgdata")
            .arg(postgres.data());
        process::output(&mut initdb)?;

        let port = free_port()?;
        postgres.launch(port, durability)?;
        postgres.url = format!("postgres://step47:{password}@127.0.0.1:{port}/postgres");
        eprintln!("   listening on 127.0.0.1:{port}");
        Ok(postgres)
    }

    /// A script for campaigns, see [`CRASH_VARIABLE`]. Its caller may be root, which PostgreSQL refuses to run as.
    pub fn crash_script(&self) -> Result<PathBuf> {
        let script = self.directory.path().join("crash.sh");
        let (bin, data) = (self.bin.display(), self.data());
        let data = data.display();
        let become_owner = match self.owner {
            Some(Owner { uid, gid }) => {
                format!("setpriv --reuid={uid} --regid={gid} --clear-groups ")
            }
            None => String::new(),
        };
        let text = format!(
            "set -eu\ncd '{data}'\nkill -9 $(head -n 1 postmaster.pid)\n\
             # Its children notice that it is gone and end; until then the data directory is in use.\n\
             n=0\nuntil {become_owner}'{bin}/pg_ctl' start --wait --timeout=30 --silent --log ../log --pgdata . \
             --options \"$(cat ../options)\" >/dev/null 2>&1 </dev/null; do n=$((n+1)); [ $n -lt 50 ]; sleep 0.2; done\n"
        );
        fs::write(&script, text)?;
        Ok(script)
    }

    fn launch(&self, port: u16, durability: Durability) -> Result<()> {
        let mut options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c max_connections=300"
        );
        if durability == Durability::None {
            options += " -c fsync=off -c full_page_writes=off";
        }
        fs::write(self.directory.path().join("options"), &options)?;
        let log = self.directory.path().join("log");
        let mut start = self.command("pg_ctl");
        start.args([
            "start",
            "--wait",
            "--timeout=60",
            "--silent",
            "--options",
            &options,
        ]);
        start
            .arg("--log")
            .arg(&log)
            .arg("--pgdata")
            .arg(self.data());
        // Run with the terminal's output, not a pipe: the server would inherit the pipe and keep it open.
        process::run(&mut start).with_context(|| {
            format!(
                "PostgreSQL's log says:\n{}",
                fs::read_to_string(&log).unwrap_or_default()
            )
        })
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// One of PostgreSQL's programs, run as the owner of the directory.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.current_dir(self.directory.path());
        if let Some(Owner { uid, gid }) = self.owner {
            command.uid(uid).gid(gid);
        }
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.data().join("postmaster.pid").exists() {
            let mut stop = self.command("pg_ctl");
            stop.args(["stop", "--wait", "--silent", "--mode=immediate", "--pgdata"])
                .arg(self.data());
            if let Err(error) = process::output(&mut stop) {
                eprintln!(
                    "PostgreSQL in {} was not stopped: {error:#}",
                    self.directory.path().display()
                );
            }
        }
    }
}

impl Owner {
    /// `postgres`, where Debian's package made it, or `nobody`.
    fn find() -> Result<Self> {
        let id = |flag: &str, name: &str| -> Option<u32> {
            process::output(Command::new("id").args([flag, name]))
                .ok()?
                .trim()
                .parse()
                .ok()
        };
        let find = |name| {
            Some(Self {
                uid: id("-u", name)?,
                gid: id("-g", name)?,
            })
        };
        ["postgres", "nobody"]
            .into_iter()
            .find_map(find)
            .context("no user to run PostgreSQL as: it refuses root")
    }
}

/// Asked of the system, so very likely still free a moment later.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn random_password() -> Result<String> {
    let mut bytes = [0; 16];
    File::open(Path::new("/dev/urandom"))?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throwaway_server_answers_survives_a_crash_and_leaves_nothing_behind() {
        let postgres = Postgres::start(Durability::None).unwrap();
        let directory = postgres.directory.path().to_owned();
        let query = process::output(postgres.command("psql").args([
            &postgres.url,
            "-Atc",
            "SELECT 40 + 7",
        ]));
        assert_eq!(query.unwrap().trim(), "47");
        let url = postgres.url.clone();
        let bin = postgres.bin.clone();
        let asked =
            |sql: &str| process::output(Command::new(bin.join("psql")).args([&url, "-Atc", sql]));
        asked("CREATE TABLE kept AS SELECT 47 AS n").unwrap();
        let crash = postgres.crash_script().unwrap();
        process::run(Command::new("sh").arg(crash)).unwrap();
        assert_eq!(asked("SELECT n FROM kept").unwrap().trim(), "47");
        drop(postgres);
        assert!(!directory.exists());
        assert!(
            process::output(Command::new(bin.join("psql")).args([&url, "-Atc", "SELECT 1"]))
                .is_err()
        );
    }
}
