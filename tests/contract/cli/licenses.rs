//! What the binary says about the work of others in it. That a release names them is checked where it is built.

use crate::support::{Cli, Engine, block_on};

#[test]
fn a_build_without_notices_says_which_one_has_them() {
    block_on(async {
        let cli = Cli::of(&Engine::Sqlite.shared().await);
        let said = cli.says(&["licenses"]).await;
        said.refused("cargo xtask build");
    });
}
