//! The command line as an operator uses it: the real binary against a running server, or on a store.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;

use super::{Api, process::step47};

pub struct Cli {
    /// What the environment tells it.
    told: Vec<(&'static str, String)>,
    /// Where it works and keeps its files.
    home: TempDir,
    editor: Option<String>,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Cli {
    /// Against the same server, as the same token.
    pub fn of(api: &Api) -> Self {
        let (url, token) = api.parts();
        Self::bare()
            .told("STEP47_URL", url)
            .told("STEP47_TOKEN", token)
    }

    /// On this store, without a server in between.
    pub fn on_store(url: &str) -> Self {
        Self::bare().told("STEP47_STORE", url)
    }

    /// In an empty folder, told nothing.
    pub fn bare() -> Self {
        Self {
            told: Vec::new(),
            home: tempfile::tempdir().expect("a folder"),
            editor: None,
        }
    }

    /// With this in its environment, too.
    pub fn told(mut self, name: &'static str, value: &str) -> Self {
        self.told.push((name, value.to_owned()));
        self
    }

    /// With an editor that does this to the file `$1`.
    pub fn editing(api: &Api, script: &str) -> Self {
        let cli = Self::of(api);
        let editor = cli.home().join("editor.sh");
        fs::write(&editor, script).expect("a script");
        Self {
            editor: Some(format!("sh {}", editor.display())),
            ..cli
        }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// A file beside the command.
    pub fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.home().join(name), text).expect("a file");
        name.to_owned()
    }

    /// Names of the files in its folder.
    pub fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.home()).expect("a folder").flatten();
        files
            .map(|it| it.file_name().to_string_lossy().into_owned())
            .collect()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = step47(self.home());
        command
            .args(arguments)
            .envs(self.told.iter().map(|(name, value)| (name, value)))
            .env("NO_PROXY", "127.0.0.1")
            .env("TMPDIR", self.home())
            .env("EDITOR", self.editor.as_deref().unwrap_or("false"))
            .env_remove("VISUAL")
            .stdin(Stdio::null());
        command
    }

    pub async fn says(&self, arguments: &[&str]) -> Said {
        let mut command = self.command(arguments);
        let output = tokio::task::spawn_blocking(move || command.output())
            .await
            .expect("the command is awaited")
            .expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

impl Said {
    /// It was done; gives what was said.
    #[track_caller]
    pub fn done(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.out
    }

    /// It was not done, and these words say why.
    #[track_caller]
    pub fn refused(&self, words: &str) {
        assert!(matches!(self.code, Some(1 | 2)), "{self:?}");
        assert!(self.err.contains(words), "no {words:?} in {self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
    }
}
