//! Where things are: the checkout, cargo, and the target directory that cargo says it uses.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{install, process};

pub struct Workspace {
    /// The checkout, with `Cargo.toml`.
    pub root: PathBuf,
    /// Where cargo puts what it built: `target`, unless the environment or a cargo setting names another place.
    pub target: PathBuf,
    /// Clippy, where it compiles our own crates in rustc's place; see [`Workspace::linting`].
    clippy: Option<PathBuf>,
}

impl Workspace {
    pub fn find() -> Result<Self> {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = xtask
            .parent()
            .context("xtask lies in the checkout")?
            .to_owned();
        let mut metadata = cargo();
        metadata
            .args(["metadata", "--no-deps", "--format-version=1"])
            .current_dir(&root);
        let metadata: serde_json::Value = serde_json::from_str(&process::output(&mut metadata)?)?;
        let target = metadata["target_directory"]
            .as_str()
            .context("cargo metadata names the target directory")?;
        Ok(Self {
            root,
            target: target.into(),
            clippy: None,
        })
    }

    /// The same checkout, where each build of our own crates also lints them.
    ///
    /// Clippy's driver is a whole compiler: what it has linted can be run. `cargo clippy` would only check, and so need
    /// the metadata of every dependency a second time, and our own crates analysed once to lint and once more to run them.
    pub fn linting(self) -> Result<Self> {
        Ok(Self {
            clippy: Some(install::clippy()?),
            ..self
        })
    }

    /// `cargo SUBCOMMAND` in the checkout.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = cargo();
        command.arg(subcommand).current_dir(&self.root);
        if let Some(clippy) = &self.clippy {
            command.env("RUSTC_WORKSPACE_WRAPPER", clippy);
        }
        command
    }

    pub fn end2end(&self) -> PathBuf {
        self.root.join("end2end")
    }
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}
