//! Virtual environments under the target directory, each with the exact versions that a requirements file names.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use crate::{install, process, workspace::Workspace};

/// Major and minor.
pub type Version = (u32, u32);

pub struct Venv {
    pub home: PathBuf,
}

impl Venv {
    /// With what a requirements file names; made anew when that has changed.
    pub fn ready(
        workspace: &Workspace,
        name: &str,
        requirements: &Path,
        oldest: Version,
    ) -> Result<Self> {
        let shown = requirements
            .strip_prefix(&workspace.root)
            .unwrap_or(requirements);
        let title = format!("install {}", shown.display());
        let install = |pip: &mut Command| {
            pip.arg("-r").arg(requirements);
        };
        Self::filled(workspace, (name, &title), &[requirements], oldest, install)
    }

    /// With what `install` tells pip to install; made anew when one of the files that it depends on has changed.
    pub fn filled(
        workspace: &Workspace,
        (name, title): (&str, &str),
        depends_on: &[&Path],
        oldest: Version,
        install: impl Fn(&mut Command),
    ) -> Result<Self> {
        let venv = Self {
            home: workspace.target.join(name),
        };
        let mut asked = String::new();
        for file in depends_on {
            asked += &fs::read_to_string(file)?;
        }
        // Written last, so that what was interrupted is made again.
        let stamp = venv.home.join("requirements.txt");
        if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == asked) {
            process::step(title, || venv.make(oldest, install))?;
            fs::write(stamp, asked)?;
        }
        Ok(venv)
    }

    fn make(&self, oldest: Version, install: impl Fn(&mut Command)) -> Result<()> {
        let python = python(oldest)?;
        if self.home.exists() {
            fs::remove_dir_all(&self.home)?;
        }
        process::run(Command::new(python).args(["-m", "venv"]).arg(&self.home))?;
        self.pip(|pip| {
            install(pip);
            pip
        })
    }

    pub fn pip(&self, what: impl FnOnce(&mut Command) -> &mut Command) -> Result<()> {
        let mut pip = Command::new(self.bin("python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        process::run(what(&mut pip))
    }

    pub fn bin(&self, program: &str) -> PathBuf {
        self.home.join("bin").join(program)
    }
}

/// A Python that is new enough.
fn python(oldest: Version) -> Result<PathBuf> {
    let mut found = Vec::new();
    for name in [
        "python3",
        "python3.14",
        "python3.13",
        "python3.12",
        "python3.11",
        "python3.10",
    ] {
        let Some(python) = install::find(name) else {
            continue;
        };
        match version(&python) {
            Some(version) if version >= oldest => return Ok(python),
            Some((major, minor)) => found.push(format!("{name} is {major}.{minor}")),
            None => found.push(format!("{name} does not run")),
        }
    }
    let (major, minor) = oldest;
    let found = match found.is_empty() {
        true => "there is none".to_owned(),
        false => found.join(", "),
    };
    bail!(
        "Python {major}.{minor} or newer is missing ({found}): install it with its module venv (Debian's packages for it: python3 python3-venv)"
    )
}

fn version(python: &Path) -> Option<Version> {
    let asked = "import sys; print(*sys.version_info[:2])";
    let said = process::output(Command::new(python).args(["-c", asked])).ok()?;
    let (major, minor) = said.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
