//! The supply chain: what may be built in (`lint`), and what is said about it with a release (notices, bill of materials).

mod crates;
mod notices;
mod npm;
mod policy;
mod sbom;

use std::fs;

use anyhow::{Context, Result, bail};

pub use notices::write as write_notices;
pub use sbom::write as write_sbom;

use crate::{install, process, workspace::Workspace};
use policy::Policy;

/// Licences, sources and bans of `deny.toml`, read from cargo and npm's lock file: seconds, and nothing to install.
pub fn lint(workspace: &Workspace) -> Result<()> {
    process::step("lint: supply chain", || {
        let policy = fs::read_to_string(workspace.root.join("deny.toml"))?;
        let policy = Policy::parse(&policy).context("deny.toml")?;
        let crates = crates::all(workspace)?;
        let packages = npm::bundled(&workspace.root.join("editor"))?;
        let mut offences = policy.offences(&crates);
        offences.extend(npm::offences(&policy, &packages));
        for offence in &offences {
            eprintln!("   {offence}");
        }
        if !offences.is_empty() {
            bail!(
                "{} offences against deny.toml, each named above",
                offences.len()
            );
        }
        eprintln!(
            "   {} crates and {} npm packages keep to deny.toml: licences, sources, bans",
            crates.len(),
            packages.len()
        );
        advisories(workspace)
    })
}

/// What only cargo-deny can tell: advisories and yanked versions. Where it or its database is missing, that is said.
fn advisories(workspace: &Workspace) -> Result<()> {
    const NOT_CHECKED: &str = "   advisories and yanked versions are NOT checked here:";
    if install::find("cargo-deny").is_none() {
        eprintln!(
            "{NOT_CHECKED} cargo install --locked cargo-deny, with access to RustSec's database"
        );
        return Ok(());
    }
    let deny = |args: &[&str]| {
        let mut deny = workspace.cargo("deny");
        deny.args(args);
        deny
    };
    process::run(&mut deny(&["check", "licenses", "bans", "sources"]))?;
    match process::output(&mut deny(&["fetch", "db"])) {
        Ok(_) => process::run(&mut deny(&["check", "advisories"])),
        Err(why) => {
            eprintln!("{NOT_CHECKED} RustSec's database cannot be had: {why:#}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_checkout_keeps_to_its_own_policy() {
        lint(&Workspace::find().unwrap()).unwrap();
    }
}
