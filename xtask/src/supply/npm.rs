//! The npm packages that the edit page's editor is bundled from.

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::Value;

use super::policy::Policy;

const REGISTRY: &str = "https://registry.npmjs.org/";

#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub licence: Option<String>,
    /// Where it lies below the directory of the lock file.
    pub place: String,
    /// Where it comes from; nothing for npm's own registry.
    resolved: Option<String>,
    has_hash: bool,
}

/// The packages that are bundled, sorted; those that only help to build are left out.
pub fn bundled(directory: &Path) -> Result<Vec<Package>> {
    let text = fs::read_to_string(directory.join("package-lock.json"))?;
    Ok(from_lock(&serde_json::from_str(&text)?))
}

fn from_lock(lock: &Value) -> Vec<Package> {
    let Some(packages) = lock["packages"].as_object() else {
        return Vec::new();
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    packages
        .iter()
        .filter(|(place, package)| !place.is_empty() && package["dev"] != true)
        .map(|(place, package)| {
            let (_, name) = place.rsplit_once("node_modules/").unwrap_or(("", place));
            Package {
                name: name.to_owned(),
                version: text(&package["version"]).unwrap_or_default(),
                licence: text(&package["license"]),
                place: place.clone(),
                resolved: text(&package["resolved"]),
                has_hash: package["integrity"].is_string(),
            }
        })
        .collect()
}

/// All that is wrong with these packages.
pub fn offences(policy: &Policy, packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .flat_map(|it| {
            let shown = format!("npm's {} {}", it.name, it.version);
            let elsewhere = |from: &String| !from.starts_with(REGISTRY);
            let stranger = it.resolved.as_ref().is_some_and(elsewhere) || !it.has_hash;
            let source = format!("{shown} does not come from {REGISTRY} with a hash");
            let licence = policy.licence(&shown, it.licence.as_deref());
            licence.into_iter().chain(stranger.then_some(source))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_bundled_is_checked_and_what_only_builds_is_left_out() {
        let policy = Policy::parse(include_str!("../../../deny.toml")).unwrap();
        let lock = |licence: &str, resolved: &str| {
            json!({"packages": {
                "": {"name": "editor"},
                "node_modules/esbuild": {"version": "1.0.0", "dev": true, "license": "GPL-3.0-only"},
                "node_modules/@codemirror/view": {"version": "6.0.0", "license": licence, "resolved": resolved,
                    "integrity": "sha512-AAAA"},
            }})
        };
        let good = from_lock(&lock("MIT", "https://registry.npmjs.org/a.tgz"));
        assert_eq!(good.len(), 1);
        assert_eq!(good[0].name, "@codemirror/view");
        assert_eq!(offences(&policy, &good), [""; 0]);
        let bad = from_lock(&lock("GPL-3.0-only", "https://elsewhere.example/a.tgz"));
        let found = offences(&policy, &bad);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("@codemirror/view 6.0.0 is under GPL-3.0-only"));
    }
}
