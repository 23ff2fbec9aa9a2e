//! What `deny.toml` allows: the part of cargo-deny's policy that can be checked without cargo-deny.

use anyhow::{Context, Result, bail, ensure};
use semver::VersionReq;
use spdx::{Expression, Licensee, ParseMode};
use toml::{Table, Value};

use super::crates::Crate;

pub struct Policy {
    licences: Vec<Licensee>,
    registries: Vec<String>,
    bans: Vec<Ban>,
}

struct Ban {
    name: String,
    version: VersionReq,
    /// Only a second version of it is banned.
    second: bool,
    /// Who may still use it.
    wrappers: Vec<String>,
    reason: String,
}

impl Policy {
    pub fn parse(text: &str) -> Result<Self> {
        let table: Table = text.parse()?;
        let licences = texts(&table["licenses"]["allow"])?;
        let licences = licences
            .iter()
            .map(|it| Licensee::parse(it).with_context(|| format!("{it} is no licence")));
        let sources = &table["sources"];
        for unknown in ["unknown-registry", "unknown-git"] {
            ensure!(
                sources[unknown].as_str() == Some("deny"),
                "{unknown} must be \"deny\": xtask knows no other way"
            );
        }
        let bans = table["bans"]["deny"].as_array().context("bans.deny")?;
        Ok(Self {
            licences: licences.collect::<Result<_>>()?,
            registries: texts(&sources["allow-registry"])?,
            bans: bans.iter().map(Ban::parse).collect::<Result<_>>()?,
        })
    }

    /// Why this licence does not do; `of` is what has it.
    pub fn licence(&self, of: &str, licence: Option<&str>) -> Option<String> {
        let Some(licence) = licence else {
            return Some(format!("{of} names no licence"));
        };
        // Old packages write MIT/Apache-2.0.
        match Expression::parse_mode(licence, ParseMode::LAX) {
            Err(why) => Some(format!("{of}: {licence:?} is no licence: {}", why.reason)),
            Ok(expression) => {
                let allowed = expression
                    .evaluate(|needed| self.licences.iter().any(|it| it.satisfies(needed)));
                (!allowed)
                    .then(|| format!("{of} is under {licence}, which deny.toml does not allow"))
            }
        }
    }

    /// All that is wrong with these crates.
    pub fn offences(&self, crates: &[Crate]) -> Vec<String> {
        let strangers = crates.iter().filter(|it| !it.ours);
        let licences = strangers
            .clone()
            .filter_map(|it| self.licence(&it.to_string(), it.licence.as_deref()));
        let sources = strangers.filter_map(|it| self.source(it));
        let bans = self.bans.iter().flat_map(|ban| ban.offences(crates));
        licences.chain(sources).chain(bans).collect()
    }

    fn source(&self, it: &Crate) -> Option<String> {
        let source = it
            .source
            .as_deref()
            .unwrap_or("a path outside the checkout");
        let registry = source.strip_prefix("registry+").unwrap_or_default();
        let known = self.registries.iter().any(|known| known == registry);
        (!known).then(|| format!("{it} comes from {source}, which deny.toml does not allow"))
    }
}

impl Ban {
    fn parse(value: &Value) -> Result<Self> {
        let of = |key: &str| value.get(key).and_then(Value::as_str);
        let name = of("name").context("a ban names a crate")?.to_owned();
        let wrappers = value.get("wrappers").map(texts).transpose()?;
        Ok(Self {
            version: of("version").unwrap_or("*").parse()?,
            second: value.get("deny-multiple-versions").and_then(Value::as_bool) == Some(true),
            wrappers: wrappers.unwrap_or_default(),
            reason: of("reason").unwrap_or("there must be one of it").to_owned(),
            name,
        })
    }

    fn offences(&self, crates: &[Crate]) -> Vec<String> {
        let found: Vec<&Crate> = crates
            .iter()
            .filter(|it| it.name == self.name && self.version.matches(&it.version))
            .collect();
        if self.second && found.len() < 2 {
            return Vec::new();
        }
        found
            .iter()
            .filter_map(|it| {
                let strangers: Vec<_> = it
                    .users
                    .iter()
                    .filter(|user| !self.wrappers.contains(user))
                    .map(String::as_str)
                    .collect();
                if !self.wrappers.is_empty() && strangers.is_empty() {
                    return None;
                }
                let users = strangers.join(", ");
                Some(format!("{it} (used by {users}): {}", self.reason))
            })
            .collect()
    }
}

fn texts(value: &Value) -> Result<Vec<String>> {
    let Some(list) = value.as_array() else {
        bail!("{value} is no list");
    };
    list.iter()
        .map(|it| Ok(it.as_str().context("a text")?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        [sources]
        unknown-registry = "deny"
        unknown-git = "deny"
        allow-registry = ["https://index"]
        [bans]
        deny = [
            { name = "old", version = "<2", reason = "it loses data" },
            { name = "once", deny-multiple-versions = true },
            { name = "stale", wrappers = ["keeper"], reason = "unmaintained" },
        ]
    "#;

    fn named(name: &str, version: &str) -> Crate {
        Crate {
            name: name.into(),
            version: version.parse().unwrap(),
            licence: Some("MIT".into()),
            source: Some("registry+https://index".into()),
            users: ["somebody".into()].into(),
            ..Crate::default()
        }
    }

    #[track_caller]
    fn refused(crates: &[Crate], words: &[&str]) {
        let offences = Policy::parse(POLICY).unwrap().offences(crates);
        assert_eq!(offences.len(), words.len(), "{offences:?}");
        for (offence, words) in offences.iter().zip(words) {
            assert!(offence.contains(words), "no {words:?} in {offence:?}");
        }
    }

    #[test]
    fn a_licence_that_is_not_allowed_is_refused() {
        let under = |licence: Option<&str>| {
            let licence = licence.map(str::to_owned);
            [Crate {
                licence,
                ..named("a", "1.0.0")
            }]
        };
        refused(&under(Some("MIT/Apache-2.0")), &[]);
        refused(&under(Some("GPL-3.0-only OR MIT")), &[]);
        refused(&under(Some("(MIT OR GPL-3.0-only) AND Apache-2.0")), &[]);
        refused(
            &under(Some("GPL-3.0-only")),
            &["a 1.0.0 is under GPL-3.0-only"],
        );
        refused(&under(Some("MIT AND GPL-3.0-only")), &["does not allow"]);
        refused(
            &under(Some("Apache-2.0 WITH LLVM-exception")),
            &["does not allow"],
        );
        refused(&under(Some("my own")), &["is no licence"]);
        refused(&under(None), &["names no licence"]);
    }

    #[test]
    fn only_the_registry_and_the_checkout_itself_are_sources() {
        let from = |source: Option<&str>| Crate {
            source: source.map(str::to_owned),
            ..named("a", "1.0.0")
        };
        refused(
            &[from(Some("git+https://host/a#1234"))],
            &["comes from git+https"],
        );
        refused(&[from(Some("registry+https://elsewhere"))], &["elsewhere"]);
        refused(&[from(None)], &["a path outside the checkout"]);
        let ours = Crate {
            ours: true,
            licence: None,
            ..from(None)
        };
        refused(&[ours], &[]);
    }

    #[test]
    fn banned_versions_second_versions_and_new_users_are_refused() {
        refused(&[named("old", "2.0.0")], &[]);
        refused(
            &[named("old", "1.9.0")],
            &["old 1.9.0 (used by somebody): it loses data"],
        );
        refused(&[named("once", "1.0.0")], &[]);
        refused(
            &[named("once", "1.0.0"), named("once", "2.0.0")],
            &["once 1.0.0", "once 2.0.0"],
        );
        let kept = Crate {
            users: ["keeper".into()].into(),
            ..named("stale", "1.0.0")
        };
        refused(&[kept], &[]);
        refused(
            &[named("stale", "1.0.0")],
            &["used by somebody): unmaintained"],
        );
    }

    #[test]
    fn the_policy_of_this_checkout_reads() {
        Policy::parse(include_str!("../../../deny.toml")).unwrap();
    }
}
