//! The server asked by its own description: requests made from `/v1/openapi.json`, right and wrong ones, by schemathesis in
//! a virtual environment under the target directory.

use std::process::Command;

use anyhow::Result;

use crate::{
    found, process, server,
    venv::{Venv, Version},
    workspace::Workspace,
};

/// What schemathesis asks for.
const OLDEST: Version = (3, 11);

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let sources = workspace.root.join("tests/wire");
    let venv = Venv::ready(workspace, "wire", &sources.join("requirements.txt"), OLDEST)?;
    let binary = server::chosen(workspace)?;
    process::step("requests made from /v1/openapi.json", || {
        let mut python = Command::new(venv.bin("python"));
        python.arg(sources.join("run.py")).args(args);
        python.env("STEP47_BIN", &binary);
        process::run(python.env(found::VARIABLE, found::file(workspace)))
    })
}
