//! `step47 licenses`: whose work is in the binary, and under which licences.

use std::io::{self, ErrorKind, Write as _};

use super::Failure;
use crate::server::site;

/// Where `cargo xtask build` puts the notices in the site.
const NOTICES: &str = "/pkg/licenses.txt";

/// Print the third-party software in this binary, with its licences
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: Args) -> Result<(), Failure> {
    let notices = site::embedded(NOTICES).ok_or(
        "this binary was built without its notices: `cargo xtask build` makes one that holds them, \
         and writes the bill of materials beside it",
    )?;
    match io::stdout().lock().write_all(notices) {
        // Whoever read them has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}
