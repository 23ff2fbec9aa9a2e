//! The bill of materials of a release, as CycloneDX 1.5: the same for the same Cargo.lock, so without time or serial number.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{
    crates::{self, Crate, Shipped},
    npm::{self, Package},
};
use crate::{process, workspace::Workspace};

/// Writes the bill to `file`.
pub fn write(workspace: &Workspace, file: &Path) -> Result<()> {
    process::step("write the bill of materials (CycloneDX)", || {
        let (crates, shipped) = (crates::all(workspace)?, Shipped::find(workspace)?);
        let packages = npm::bundled(&workspace.root.join("editor"))?;
        let bill = bill(&crates, &packages, |it| shipped.parts(it))?;
        fs::write(file, serde_json::to_string_pretty(&bill)? + "\n")?;
        eprintln!("   {}", file.display());
        Ok(())
    })
}

fn bill(
    crates: &[Crate],
    packages: &[Package],
    parts: impl Fn(&Crate) -> Vec<&'static str>,
) -> Result<Value> {
    let product = crates
        .iter()
        .find(|it| it.ours && it.name == "step47")
        .context("step47 is a member of the workspace")?;
    let shipped: Vec<(&Crate, Vec<&str>)> = crates
        .iter()
        .filter(|it| !it.ours)
        .map(|it| (it, parts(it)))
        .filter(|(_, parts)| !parts.is_empty())
        .collect();
    let mut components: Vec<Value> = shipped
        .iter()
        .map(|(it, parts)| library(it, parts))
        .collect();
    components.extend(packages.iter().map(npm_library));

    let known: BTreeSet<String> = shipped.iter().map(|(it, _)| it.to_string()).collect();
    let dependencies: Vec<Value> = std::iter::once(product)
        .chain(shipped.iter().map(|(it, _)| *it))
        .map(|it| {
            let needs = it.needs.iter().filter(|need| known.contains(*need));
            let mut needs: Vec<String> = needs.map(|need| purl(need)).collect();
            if it.ours {
                needs.extend(packages.iter().map(npm_purl));
            }
            json!({"ref": purl(&it.to_string()), "dependsOn": needs})
        })
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application",
            "bom-ref": purl(&product.to_string()),
            "name": product.name,
            "version": product.version.to_string(),
            "licenses": licences(product.licence.as_deref()),
        }},
        "components": components,
        "dependencies": dependencies,
    }))
}

fn library(it: &Crate, parts: &[&str]) -> Value {
    let purl = purl(&it.to_string());
    let hashes: Vec<Value> = it
        .checksum
        .iter()
        .map(|sum| json!({"alg": "SHA-256", "content": sum}))
        .collect();
    let parts: Vec<Value> = parts
        .iter()
        .map(|part| json!({"name": "step47:part", "value": part}))
        .collect();
    json!({
        "type": "library",
        "bom-ref": purl,
        "name": it.name,
        "version": it.version.to_string(),
        "purl": purl,
        "licenses": licences(it.licence.as_deref()),
        "hashes": hashes,
        "properties": parts,
    })
}

fn npm_library(it: &Package) -> Value {
    json!({
        "type": "library",
        "bom-ref": npm_purl(it),
        "name": it.name,
        "version": it.version,
        "purl": npm_purl(it),
        "licenses": licences(it.licence.as_deref()),
        "properties": [{"name": "step47:part", "value": "editor"}],
    })
}

/// `serde 1.0.229` is `pkg:cargo/serde@1.0.229`; the `+` of build metadata is escaped.
fn purl(shown: &str) -> String {
    format!("pkg:cargo/{}", shown.replace(' ', "@").replace('+', "%2B"))
}

fn npm_purl(it: &Package) -> String {
    format!("pkg:npm/{}@{}", it.name.replace('@', "%40"), it.version)
}

/// CycloneDX wants an SPDX expression; old packages write MIT/Apache-2.0.
fn licences(licence: Option<&str>) -> Vec<Value> {
    let expression = |it: &str| json!({"expression": it.replace('/', " OR ")});
    licence.map(expression).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_names_what_is_shipped_and_nothing_else() {
        let named = |name: &str| Crate {
            name: name.into(),
            version: "1.0.0+x".parse().unwrap(),
            licence: Some("MIT/Apache-2.0".into()),
            checksum: Some("ab".into()),
            ..Crate::default()
        };
        let product = Crate {
            ours: true,
            needs: ["serde 1.0.0+x".into(), "walrus 1.0.0+x".into()].into(),
            ..named("step47")
        };
        let crates = [named("serde"), product, named("walrus")];
        let made = || {
            bill(&crates, &[], |it| match it.name.as_str() {
                "serde" => vec!["server"],
                _ => vec![],
            })
            .unwrap()
        };
        let bill = made();
        let purl = "pkg:cargo/serde@1.0.0%2Bx";
        assert_eq!(bill["components"].as_array().unwrap().len(), 1);
        assert_eq!(bill["components"][0]["purl"], purl);
        assert_eq!(
            bill["components"][0]["licenses"][0]["expression"],
            "MIT OR Apache-2.0"
        );
        assert_eq!(bill["components"][0]["hashes"][0]["content"], "ab");
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!([purl]));
        assert_eq!(bill["metadata"]["component"]["name"], "step47");
        assert_eq!(bill.to_string(), made().to_string());
    }
}
