//! `Leptos.toml` (read by the running server) and `Cargo.toml` (read by `cargo leptos`) say the same.
#![cfg(feature = "ssr")]

use leptos::config::get_config_from_str;
use toml::{Table, Value};

const LEPTOS_TOML: &str = include_str!("../Leptos.toml");
const CARGO_TOML: &str = include_str!("../Cargo.toml");

fn leptos_section(text: &str) -> Table {
    let file: Table = text.parse().expect("valid TOML");
    match &file["package"]["metadata"]["leptos"] {
        Value::Table(section) => section.clone(),
        other => panic!("[package.metadata.leptos] is a table, not {other}"),
    }
}

#[test]
fn leptos_toml_agrees_with_cargo_toml() {
    let cargo = leptos_section(CARGO_TOML);
    for (key, value) in leptos_section(LEPTOS_TOML) {
        assert_eq!(
            cargo.get(&key),
            Some(&value),
            "`{key}` differs between the two files"
        );
    }
}

#[test]
fn leptos_reads_its_options_from_leptos_toml() {
    let options = get_config_from_str(LEPTOS_TOML).expect("Leptos accepts the file");
    assert_eq!(&*options.output_name, "step47");
    assert_eq!(options.site_addr.port(), 3047);
}

#[test]
fn leptos_toml_holds_step47_settings_beside_the_options_of_leptos() {
    let file: Table = LEPTOS_TOML.parse().expect("valid TOML");
    assert_eq!(file["step47"]["store"].as_str(), Some("sqlite:step47.db"));
}
