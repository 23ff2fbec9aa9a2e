//! The Python SDK in `clients/python/`: format, lints, types and tests, in a virtual environment under the target directory.

use std::{path::PathBuf, process::Command};

use anyhow::Result;

use crate::{
    found, process, server,
    venv::{Venv, Version},
    workspace::Workspace,
};

/// What `clients/python/pyproject.toml` asks for.
const OLDEST: Version = (3, 10);
/// How many tests run at once: most of them wait for a process.
const AT_ONCE: &str = "4";
/// Scripts beside the package that are held to the same rules.
const ALSO: &str = "../../tests/wire";

/// The pinned tools and the package.
struct Environment {
    venv: Venv,
    sources: PathBuf,
}

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let environment = Environment::ready(workspace)?;
    process::step("format and lints of the Python code", || {
        let rules = ["--config", "pyproject.toml", ".", ALSO];
        process::run(
            environment
                .tool("ruff")
                .args(["format", "--check"])
                .args(rules),
        )?;
        process::run(environment.tool("ruff").arg("check").args(rules))
    })?;
    process::step("types of clients/python/", || {
        process::run(&mut environment.tool("mypy"))?;
        let mut pyright = environment.tool("pyright");
        let python = environment.venv.bin("python");
        process::run(pyright.arg("--pythonpath").arg(python))
    })?;
    let binary = server::chosen(workspace)?;
    process::step("Python tests", || {
        let mut pytest = environment.tool("pytest");
        pytest.args(["-n", AT_ONCE, "-p", "no:cacheprovider"]);
        pytest.args(args).env("STEP47_BIN", &binary);
        process::run(pytest.env(found::VARIABLE, found::file(workspace)))
    })
}

/// A Python for the demo's LangGraph agent: the package, and of its extra the versions that the tests use.
pub fn for_demo(workspace: &Workspace) -> Result<PathBuf> {
    let sources = workspace.root.join("clients/python");
    let pinned = sources.join("requirements-dev.txt");
    let names = ("demo-python", "install LangGraph for the demo");
    let depends_on = [&*pinned, &*sources.join("pyproject.toml")];
    let venv = Venv::filled(workspace, names, &depends_on, OLDEST, |pip| {
        // In place, so that it is never older than the checkout.
        let package = format!("{}[langgraph]", sources.display());
        pip.arg("-c").arg(&pinned).arg("-e").arg(package);
    })?;
    Ok(venv.bin("python"))
}

impl Environment {
    /// The package is installed each time, as its users install it.
    fn ready(workspace: &Workspace) -> Result<Self> {
        let sources = workspace.root.join("clients/python");
        let requirements = sources.join("requirements-dev.txt");
        let venv = Venv::ready(workspace, "python", &requirements, OLDEST)?;
        process::step("install the Python package", || {
            let install = ["--no-deps", "--no-build-isolation", "--force-reinstall"];
            venv.pip(|pip| pip.args(install).arg(&sources))
        })?;
        Ok(Self { venv, sources })
    }

    /// A program of the environment; what it keeps for the next time stays out of the checkout.
    fn tool(&self, program: &str) -> Command {
        let home = &self.venv.home;
        let mut tool = Command::new(self.venv.bin(program));
        tool.current_dir(&self.sources)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("RUFF_CACHE_DIR", home.join("cache/ruff"))
            .env("MYPY_CACHE_DIR", home.join("cache/mypy"))
            .env("PYRIGHT_PYTHON_CACHE_DIR", home.join("cache/pyright"))
            .env("PYRIGHT_PYTHON_IGNORE_WARNINGS", "1");
        tool
    }
}
