//! `step47 demo`: everything at once, to look at.

use super::Failure;

/// Show everything: a server with sample agents at work, one of them killed at step 47.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args) -> Result<(), Failure> {
    Ok(())
}
