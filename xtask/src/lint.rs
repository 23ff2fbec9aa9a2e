//! `cargo xtask lint`: clippy on every feature set that is shipped, where a warning is an error, and the supply chain.
//!
//! The passes are builds, not checks ([`Workspace::linting`]): `cargo xtask test` runs what they made.

use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::{install, process, site::Kind, supply, wasm, workspace::Workspace};

/// Lints with a workspace of [`Workspace::linting`].
pub fn run(workspace: &Workspace) -> Result<()> {
    install::wasm_target()?;
    supply::lint(workspace)?;
    let passes: [(&str, Command); 4] = [
        (
            "server, with tests",
            cargo(
                workspace,
                "test",
                &["--no-run", "--features", "ssr", "--all-targets"],
            ),
        ),
        ("browser", wasm::cargo(workspace, Kind::Dev)),
        // Nothing runs the SDK without the server, so checking it is enough.
        (
            "agents' SDK",
            cargo(workspace, "check", &["--features", "client", "--lib"]),
        ),
        (
            "xtask",
            cargo(
                workspace,
                "test",
                &["--no-run", "--package", "xtask", "--all-targets"],
            ),
        ),
    ];
    let mut found = 0;
    for (name, mut cargo) in passes {
        process::step(&format!("lint: {name}"), || {
            let mut warnings = 0;
            cargo.arg("--message-format=json-diagnostic-rendered-ansi");
            let built = process::run_reading(&mut cargo, |line| {
                if let Some(rendered) = diagnostic(line) {
                    eprintln!("{rendered}");
                    warnings += 1;
                }
            });
            found += warnings;
            built
        })?;
    }
    if found > 0 {
        bail!("{found} warnings of the compiler or of clippy, each named above");
    }
    Ok(())
}

fn cargo(workspace: &Workspace, subcommand: &str, args: &[&str]) -> Command {
    let mut cargo = workspace.cargo(subcommand);
    cargo.args(args);
    cargo
}

/// The text of a warning or an error, if this line of cargo's is one. Cargo tells them again for a crate that it need
/// not compile again.
fn diagnostic(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-message" {
        return None;
    }
    let message = &message["message"];
    // "1 warning emitted" stands at the end of a crate, and points at nothing.
    let names_a_place = !message["spans"].as_array()?.is_empty() || !message["code"].is_null();
    let counts = matches!(message["level"].as_str()?, "warning" | "error") && names_a_place;
    counts.then(|| {
        message["rendered"]
            .as_str()
            .unwrap_or_default()
            .trim_end()
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(reason: &str, level: &str, spans: Value) -> String {
        let message =
            json!({"level": level, "spans": spans, "code": null, "rendered": "warning: unused\n"});
        json!({"reason": reason, "message": message}).to_string()
    }

    #[test]
    fn a_warning_counts_and_what_cargo_tells_beside_it_does_not() {
        let place = json!([{"file_name": "src/lib.rs"}]);
        let warning = line("compiler-message", "warning", place.clone());
        assert_eq!(diagnostic(&warning).as_deref(), Some("warning: unused"));
        assert!(diagnostic(&line("compiler-message", "error", place.clone())).is_some());
        assert!(diagnostic(&line("compiler-message", "note", place.clone())).is_none());
        assert!(diagnostic(&line("compiler-message", "warning", json!([]))).is_none());
        assert!(diagnostic(&line("compiler-artifact", "warning", place)).is_none());
        assert!(diagnostic("running 3 tests").is_none());
    }
}
