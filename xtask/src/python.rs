//! The Python SDK in `clients/python/`: format, lints, types and tests, in a virtual environment under the target directory.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use crate::{install, process, server, workspace::Workspace};

/// What `clients/python/pyproject.toml` asks for.
const OLDEST: (u32, u32) = (3, 10);
/// How many tests run at once: most of them wait for a process.
const AT_ONCE: &str = "4";

/// A virtual environment with the pinned tools and the package.
struct Environment {
    home: PathBuf,
    sources: PathBuf,
}

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let environment = Environment::ready(workspace)?;
    process::step("format and lints of clients/python/", || {
        process::run(environment.tool("ruff").args(["format", "--check", "."]))?;
        process::run(environment.tool("ruff").args(["check", "."]))
    })?;
    process::step("types of clients/python/", || {
        process::run(&mut environment.tool("mypy"))?;
        let mut pyright = environment.tool("pyright");
        process::run(pyright.arg("--pythonpath").arg(environment.bin("python")))
    })?;
    let binary = match env::var_os("STEP47_BIN") {
        Some(binary) => binary.into(),
        None => server::compile(workspace)?,
    };
    process::step("Python tests", || {
        let mut pytest = environment.tool("pytest");
        pytest.args(["-n", AT_ONCE, "-p", "no:cacheprovider"]);
        process::run(pytest.args(args).env("STEP47_BIN", &binary))
    })
}

impl Environment {
    /// Made anew when the requirements have changed; the package is installed each time, as its users install it.
    fn ready(workspace: &Workspace) -> Result<Self> {
        let environment = Self {
            home: workspace.target.join("python"),
            sources: workspace.root.join("clients/python"),
        };
        let requirements = fs::read_to_string(environment.sources.join("requirements-dev.txt"))?;
        // Written last, so that what was interrupted is made again.
        let stamp = environment.home.join("requirements-dev.txt");
        if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements) {
            process::step("install what checks clients/python/", || environment.make())?;
            fs::write(stamp, requirements)?;
        }
        process::step("install the Python package", || {
            let install = ["--no-deps", "--no-build-isolation", "--force-reinstall"];
            environment.pip(|pip| pip.args(install).arg(&environment.sources))
        })?;
        Ok(environment)
    }

    fn make(&self) -> Result<()> {
        let python = python()?;
        if self.home.exists() {
            fs::remove_dir_all(&self.home)?;
        }
        process::run(Command::new(python).args(["-m", "venv"]).arg(&self.home))?;
        self.pip(|pip| pip.arg("-r").arg(self.sources.join("requirements-dev.txt")))
    }

    fn pip(&self, what: impl FnOnce(&mut Command) -> &mut Command) -> Result<()> {
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

    fn bin(&self, program: &str) -> PathBuf {
        self.home.join("bin").join(program)
    }

    /// A program of the environment; what it keeps for the next time stays out of the checkout.
    fn tool(&self, program: &str) -> Command {
        let mut tool = Command::new(self.bin(program));
        tool.current_dir(&self.sources)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("RUFF_CACHE_DIR", self.home.join("cache/ruff"))
            .env("MYPY_CACHE_DIR", self.home.join("cache/mypy"))
            .env("PYRIGHT_PYTHON_CACHE_DIR", self.home.join("cache/pyright"))
            .env("PYRIGHT_PYTHON_IGNORE_WARNINGS", "1");
        tool
    }
}

/// A Python that is new enough.
fn python() -> Result<PathBuf> {
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
            Some(version) if version >= OLDEST => return Ok(python),
            Some((major, minor)) => found.push(format!("{name} is {major}.{minor}")),
            None => found.push(format!("{name} does not run")),
        }
    }
    let (major, minor) = OLDEST;
    let found = match found.is_empty() {
        true => "there is none".to_owned(),
        false => found.join(", "),
    };
    bail!(
        "Python {major}.{minor} or newer is missing ({found}): install it with its module venv (Debian's packages for it: python3 python3-venv)"
    )
}

fn version(python: &Path) -> Option<(u32, u32)> {
    let asked = "import sys; print(*sys.version_info[:2])";
    let said = process::output(Command::new(python).args(["-c", asked])).ok()?;
    let (major, minor) = said.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
