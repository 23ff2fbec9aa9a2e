//! `cargo xtask fixture`: a small store with every kind of row, written by this code, for later versions to open.

use anyhow::Result;

use crate::{
    postgres::{Durability, Postgres, URL_VARIABLE},
    process,
    workspace::Workspace,
};

pub fn run(workspace: &Workspace) -> Result<()> {
    let postgres = Postgres::start(Durability::None)?;
    process::step("make the fixture of the newest schema", || {
        let mut cargo = workspace.cargo("test");
        cargo.args(["--features", "ssr", "--test", "contract", "--"]);
        cargo.args([
            "--ignored",
            "--exact",
            "durability::older_stores::make_a_fixture",
        ]);
        process::run(
            cargo
                .env("STEP47_FIXTURE", "1")
                .env(URL_VARIABLE, &postgres.url),
        )
    })
}
