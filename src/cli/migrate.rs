//! `step47 migrate`: bring a store to this version's schema. `serve` does it too.

use super::{Failure, StoreArgs, say::say};

/// Bring the store to this version's schema (`serve` does it at its start)
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    store: StoreArgs,
}

pub async fn run(args: Args) -> Result<(), Failure> {
    let store = args.store.open().await?;
    say!(
        "the {} store has this version's schema",
        store.engine_name()
    );
    Ok(())
}
