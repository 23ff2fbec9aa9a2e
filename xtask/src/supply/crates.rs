//! What cargo says about the dependencies: all of them, and those that end up in what is shipped.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::PathBuf,
    process::Command,
};

use anyhow::{Context, Result};
use semver::Version;
use serde_json::Value;
use toml::Table;

use crate::{process, workspace::Workspace};

const WASM: &str = "wasm32-unknown-unknown";

/// A package of crates.io, or one of the checkout.
#[derive(Clone, Debug)]
pub struct Crate {
    pub name: String,
    pub version: Version,
    pub licence: Option<String>,
    /// Where it comes from; nothing for a path.
    pub source: Option<String>,
    pub repository: Option<String>,
    /// SHA-256 of its package, as Cargo.lock has it.
    pub checksum: Option<String>,
    pub directory: PathBuf,
    /// A member of the workspace.
    pub ours: bool,
    /// Names of the crates that depend on it.
    pub users: BTreeSet<String>,
    /// What it depends on when it runs, as `name version`.
    pub needs: BTreeSet<String>,
}

impl Default for Crate {
    fn default() -> Self {
        Self {
            name: String::new(),
            version: Version::new(0, 0, 0),
            licence: None,
            source: None,
            repository: None,
            checksum: None,
            directory: PathBuf::new(),
            ours: false,
            users: BTreeSet::new(),
            needs: BTreeSet::new(),
        }
    }
}

impl fmt::Display for Crate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// Every crate that is built for this machine (with all features) or for the browser; sorted.
pub fn all(workspace: &Workspace) -> Result<Vec<Crate>> {
    let lock: Table = fs::read_to_string(workspace.root.join("Cargo.lock"))?.parse()?;
    let checksums = checksums(&lock);
    let mut crates = BTreeMap::new();
    for args in [
        ["--all-features", "--filter-platform", &host()?],
        ["--features=hydrate", "--filter-platform", WASM],
    ] {
        let mut cargo = workspace.cargo("metadata");
        cargo.args(["--locked", "--format-version=1"]).args(args);
        let metadata: Value = serde_json::from_str(&process::output(&mut cargo)?)?;
        add(&metadata, &checksums, &mut crates)?;
    }
    let mut crates: Vec<Crate> = crates.into_values().collect();
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

/// Adds what cargo's resolver took, by id.
fn add(
    metadata: &Value,
    checksums: &BTreeMap<String, String>,
    crates: &mut BTreeMap<String, Crate>,
) -> Result<()> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let members = list(&metadata["workspace_members"]);
    // Packages of other platforms are listed too; only what is built has a node.
    let nodes = list(&metadata["resolve"]["nodes"]);
    let built: BTreeSet<String> = nodes.iter().filter_map(|node| text(&node["id"])).collect();
    for package in list(&metadata["packages"]) {
        let id = text(&package["id"]).context("a package has an id")?;
        if !built.contains(&id) || crates.contains_key(&id) {
            continue;
        }
        let manifest = PathBuf::from(text(&package["manifest_path"]).unwrap_or_default());
        let mut made = Crate {
            name: text(&package["name"]).context("a package has a name")?,
            version: text(&package["version"]).unwrap_or_default().parse()?,
            licence: text(&package["license"]),
            source: text(&package["source"]),
            repository: text(&package["repository"]),
            directory: manifest.parent().map(Into::into).unwrap_or_default(),
            ours: members.contains(&package["id"]),
            ..Crate::default()
        };
        made.checksum = checksums.get(&made.to_string()).cloned();
        crates.insert(id, made);
    }
    for node in nodes {
        let user = text(&node["id"]).context("a node has an id")?;
        for dependency in list(&node["deps"]) {
            let needed = text(&dependency["pkg"]).context("a dependency has an id")?;
            let kinds = list(&dependency["dep_kinds"]);
            let at_run_time = kinds.iter().any(|kind| kind["kind"].is_null());
            let (user_name, shown) = (crates[&user].name.clone(), crates[&needed].to_string());
            if let Some(needed) = crates.get_mut(&needed) {
                needed.users.insert(user_name);
            }
            if let Some(user) = crates.get_mut(&user).filter(|_| at_run_time) {
                user.needs.insert(shown);
            }
        }
    }
    Ok(())
}

/// Checksums by `name version`.
fn checksums(lock: &Table) -> BTreeMap<String, String> {
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let checksum = |package: &toml::Value| {
        let of = |key: &str| package.get(key)?.as_str().map(str::to_owned);
        Some((
            format!("{} {}", of("name")?, of("version")?),
            of("checksum")?,
        ))
    };
    packages
        .into_iter()
        .flatten()
        .filter_map(checksum)
        .collect()
}

/// What is shipped: in the server's binary, in the browser's module, or in both.
pub struct Shipped {
    server: BTreeSet<String>,
    browser: BTreeSet<String>,
}

impl Shipped {
    pub fn find(workspace: &Workspace) -> Result<Self> {
        Ok(Self {
            server: tree(workspace, &["--features", "ssr", "--target", &host()?])?,
            browser: tree(workspace, &["--features", "hydrate", "--target", WASM])?,
        })
    }

    /// Where a crate ends up; empty if it only helps to build or to test.
    pub fn parts(&self, it: &Crate) -> Vec<&'static str> {
        let shown = it.to_string();
        [("server", &self.server), ("browser", &self.browser)]
            .into_iter()
            .filter(|(_, set)| set.contains(&shown))
            .map(|(name, _)| name)
            .collect()
    }
}

/// What cargo compiles into the product, proc macros and build scripts left out, as `name version`.
fn tree(workspace: &Workspace, args: &[&str]) -> Result<BTreeSet<String>> {
    let mut cargo = workspace.cargo("tree");
    cargo
        .args(["--locked", "--package", "step47"])
        .args(["--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--format", "{p}"])
        .args(args);
    let printed = process::output(&mut cargo)?;
    Ok(printed.lines().filter_map(named).collect())
}

/// `serde v1.0.229 (*)` is `serde 1.0.229`.
fn named(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    Some(format!(
        "{} {}",
        words.next()?,
        words.next()?.strip_prefix('v')?
    ))
}

fn host() -> Result<String> {
    let said = process::output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names its host")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_of_this_checkout_is_known_with_its_checksum() {
        let workspace = Workspace::find().unwrap();
        let (crates, shipped) = (all(&workspace).unwrap(), Shipped::find(&workspace).unwrap());
        let find = |name: &str| crates.iter().find(|it| it.name == name).unwrap();
        assert_eq!(shipped.parts(find("leptos")), ["server", "browser"]);
        assert_eq!(shipped.parts(find("axum")), ["server"]);
        assert_eq!(shipped.parts(find("serde_derive")), [""; 0], "a proc macro");
        assert_eq!(shipped.parts(find("walrus")), [""; 0], "xtask's own");
        assert_eq!(find("axum").checksum.as_ref().map(String::len), Some(64));
        assert!(find("leptos").users.contains("step47"));
        assert!(find("step47").ours && find("xtask").ours);
    }
}
