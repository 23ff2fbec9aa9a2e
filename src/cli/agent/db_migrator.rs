//! Moves a tenant's tables to another region; one copy fails and is tried again, or fails for good.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::{
    line::{Fails, Line},
    random::Random,
    stage::Stage,
};
use crate::client::{CreateRun, Error, Session};

const TABLES: [&str; 6] = [
    "account",
    "member",
    "project",
    "document",
    "comment",
    "audit_log",
];
/// The table whose copy gets into trouble.
const TROUBLE: &str = "document";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Migration {
    source: Value,
    target: Value,
    /// Rows copied, by table.
    copied: BTreeMap<String, i64>,
    checksums: BTreeMap<String, String>,
    notes: Vec<String>,
    switched: bool,
}

#[derive(Debug, Deserialize)]
struct Input {
    tenant: String,
    fails_for_good: bool,
}

pub fn create(fails_for_good: bool) -> CreateRun {
    let tenant = if fails_for_good {
        "acme-eu"
    } else {
        "globex-us"
    };
    CreateRun {
        title: Some(format!("Migrate tenant {tenant}")),
        version: Some("1.8.0".into()),
        input: json!({ "tenant": tenant, "fails_for_good": fails_for_good }),
        labels: [("team", "platform"), ("tenant", tenant)]
            .map(|(key, label)| (key.into(), label.into()))
            .into(),
        plan: script(tenant, fails_for_good)
            .iter()
            .map(|(line, _)| line.planned())
            .collect(),
        ..CreateRun::new("db-migrator")
    }
}

pub async fn work(session: Session<Migration>, stage: Stage) -> Result<Value, Error> {
    let input: Input = session.input()?;
    for (line, fold) in script(&input.tenant, input.fails_for_good) {
        stage.play(&session, line, fold).await?;
    }
    Ok(json!({ "tables": TABLES.len(), "rows": session.state().copied.values().sum::<i64>() }))
}

type Fold = fn(&mut Migration, &Value);

fn script(tenant: &str, fails_for_good: bool) -> Vec<(Line, Fold)> {
    let mut script: Vec<(Line, Fold)> = vec![
        (
            Line::tool("inspect", "inspect_source", "sql.query")
                .input(json!({ "tenant": tenant, "region": "eu-west-1" }))
                .output(json!({ "region": "eu-west-1", "tables": TABLES.len(), "size": "41 GB" })),
            |state, source| state.source = source.clone(),
        ),
        (
            Line::tool("provision", "provision_target", "terraform.apply")
                .input(
                    json!({ "tenant": tenant, "region": "eu-central-1", "class": "db.r7.large" }),
                )
                .effect("terraform apply", "create the target database", None)
                .checks()
                .taking(4.0)
                .output(json!({ "region": "eu-central-1", "host": "pg-7.internal" })),
            |state, target| state.target = target.clone(),
        ),
        (
            Line::code("schema", "create_schema")
                .taking(0.8)
                .output(json!({ "migrations": 212 })),
            |state, done| {
                state
                    .notes
                    .push(format!("{} migrations applied", done["migrations"]))
            },
        ),
    ];
    for table in TABLES {
        let mut copy = copy(table);
        if table == TROUBLE {
            let times = if fails_for_good { i64::MAX } else { 2 };
            copy = copy.fails(Fails {
                times,
                of: 3,
                kind: "SerializationFailure",
                message: "ERROR 40001: could not serialize access due to concurrent update on relation \"document\"",
            });
        }
        script.push((copy, |state, done| {
            let table = done["table"].as_str().unwrap_or_default().to_owned();
            state
                .copied
                .insert(table, done["rows"].as_i64().unwrap_or(0));
        }));
    }
    script.push((Line::milestone("phase:copy", "Copy"), |_, _| ()));
    for table in TABLES {
        script.push((verify(table), |state, done| {
            let text = |field: &str| done[field].as_str().unwrap_or_default().to_owned();
            state.checksums.insert(text("table"), text("checksum"));
        }));
    }
    script.push((
        Line::tool("switch", "switch_traffic", "dns.update")
            .input(json!({ "tenant": tenant, "to": "pg-7.internal" }))
            .effect(
                "dns.update",
                "send the tenant's traffic to the new database",
                None,
            )
            .output(json!({ "ttl": 30 })),
        |state, _| state.switched = true,
    ));
    script.push((Line::milestone("phase:switch", "Switch"), |_, _| ()));
    script
}

fn copy(table: &str) -> Line {
    let rows = Random::of(table).between(8_000, 2_400_000);
    Line::tool(format!("copy:{table}"), "copy_table", "pg.copy")
        .input(json!({ "table": table, "batch": 50_000 }))
        .taking(1.0 + rows as f64 / 600_000.0)
        .output(json!({ "table": table, "rows": rows }))
}

fn verify(table: &str) -> Line {
    let checksum = blake3::hash(table.as_bytes()).to_hex()[..16].to_owned();
    Line::tool(format!("verify:{table}"), "verify_table", "sql.query")
        .input(json!({ "table": table, "method": "sum of row hashes" }))
        .taking(0.9)
        .output(json!({ "table": table, "checksum": checksum, "equal": true }))
}
