//! The demo's child processes: this same binary with other arguments, each with its own log.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tokio::{
    process::{Child, ChildStdout, Command},
    sync::watch,
    time::{Instant, timeout_at},
};

use crate::cli::Failure;

/// How long processes may take to end by themselves once they were asked to.
const GRACE: Duration = Duration::from_secs(8);

/// How a process ended, once it has.
pub type Ended = watch::Receiver<Option<String>>;

pub struct Children {
    binary: PathBuf,
    folder: PathBuf,
    /// Where agents find the server, and by what right.
    connection: Vec<(&'static str, String)>,
    agents: Vec<(Child, String)>,
    server: Option<(u32, Ended)>,
}

impl Children {
    pub fn new(folder: &Path) -> Result<Self, Failure> {
        Ok(Self {
            binary: std::env::current_exe()?,
            folder: folder.to_owned(),
            connection: Vec::new(),
            agents: Vec::new(),
            server: None,
        })
    }

    pub fn connect(&mut self, url: &str, token: &str) {
        self.connection = vec![
            ("STEP47_URL", url.to_owned()),
            ("STEP47_TOKEN", token.to_owned()),
        ];
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(&self.binary);
        command.args(args);
        command
    }

    /// Another program, told where the server is.
    pub fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .envs(self.connection.iter().cloned())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            // Ctrl-C is ours to pass on: agents first, the server last.
            .process_group(0);
        command
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// A command that ends by itself; what it printed.
    pub async fn output(&self, args: &[&str]) -> Result<String, Failure> {
        let output = self.command(args).output().await?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout)?.trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().into()),
        }
    }

    /// The server, what it prints, and a way to learn that it ended.
    pub fn server(&mut self, args: &[&str]) -> Result<(ChildStdout, Ended), Failure> {
        let log = self.log("server");
        let mut child = self
            .command(args)
            .stdout(Stdio::piped())
            .stderr(own_file(&log)?)
            .spawn()?;
        let id = child.id().ok_or("the server ended at once")?;
        let stdout = child.stdout.take().ok_or("the server has no stdout")?;
        let (tell, ended) = watch::channel(None);
        tokio::spawn(async move {
            let status = child.wait().await.map(|status| status.to_string());
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            let words = log.lines().last().unwrap_or("it said nothing");
            tell.send_replace(Some(format!("{}: {words}", status.unwrap_or_default())));
        });
        self.server = Some((id, ended.clone()));
        Ok((stdout, ended))
    }

    /// An agent; the number is for [`kill`](Self::kill).
    pub fn agent(&mut self, agent: &str, args: &[&str]) -> Result<usize, Failure> {
        let mut command = self.command(&["agent", agent]);
        command.args(args);
        self.start(agent, command)
    }

    /// An agent that is not this binary.
    pub fn start(&mut self, agent: &str, mut command: Command) -> Result<usize, Failure> {
        let name = format!("{}-{agent}", self.agents.len() + 1);
        let child = command
            .stdout(Stdio::null())
            .stderr(own_file(&self.log(&name))?)
            .spawn()?;
        self.agents.push((child, name));
        Ok(self.agents.len() - 1)
    }

    /// SIGKILL: no destructor, no goodbye. Returns the process id.
    pub async fn kill(&mut self, agent: usize) -> Result<u32, Failure> {
        let (child, name) = self.agents.get_mut(agent).ok_or("no such agent")?;
        let id = child
            .id()
            .ok_or_else(|| format!("{name} ended by itself"))?;
        child.kill().await?;
        Ok(id)
    }

    /// Asks all to end, agents first, and kills those that don't.
    pub async fn stop(&mut self) {
        for (child, _) in &self.agents {
            signal("TERM", child.id()).await;
        }
        let grace = Instant::now() + GRACE;
        for (child, name) in &mut self.agents {
            if timeout_at(grace, child.wait()).await.is_err() {
                tracing::warn!(agent = name, "killed: it did not end by itself");
                let _ = child.kill().await;
            }
        }
        if let Some((id, ended)) = &mut self.server {
            signal("TERM", Some(*id)).await;
            let gone = ended.wait_for(Option::is_some);
            if timeout_at(Instant::now() + GRACE, gone).await.is_err() {
                signal("KILL", Some(*id)).await;
            }
        }
    }
}

/// To one process, by its id; an id that is gone is no error.
async fn signal(name: &str, process: Option<u32>) {
    if let Some(id) = process {
        let kill = format!("kill -{name} {id}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &kill]).stderr(Stdio::null());
        let _ = shell.status().await;
    }
}

/// A new file for its owner alone: a log tells of runs.
fn own_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
