//! A gate as it is stored. Stored JSON has its keys in order, so that each letter of it is vouched for; a schema whose
//! own order counts is kept as text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    domain::{Gate, RunId, nouns::ordered_json::OrderedJson},
    store::{
        Error,
        engine::{Connection, Row, params, read_json},
        rows::sealed,
    },
};

#[derive(Serialize, Deserialize)]
struct StoredGate {
    title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<Value>,
    /// As versions before wrote it: its order is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<OrderedJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<Value>>,
}

/// What the column holds.
pub fn stored(gate: &Gate) -> String {
    let text = |schema| serde_json::to_string(schema).unwrap_or_default();
    sealed(&StoredGate {
        title: gate.title.clone(),
        context: gate.context.clone(),
        schema: None,
        schema_text: gate.schema.as_ref().map(text),
        choices: gate.choices.clone(),
    })
}

/// Reads what [`stored`] wrote.
pub fn read(row: &mut Row) -> Result<Option<Gate>, Error> {
    row.opt_sealed::<StoredGate>()?.map(opened).transpose()
}

fn opened(gate: StoredGate) -> Result<Gate, Error> {
    let kept = gate.schema_text.map(|text| read_json(&text)).transpose()?;
    Ok(Gate {
        title: gate.title,
        context: gate.context,
        schema: kept.or(gate.schema),
        choices: gate.choices,
    })
}

/// The question of one step.
pub async fn load(conn: &mut dyn Connection, run: &RunId, seq: i64) -> Result<Option<Gate>, Error> {
    let sql = "SELECT gate FROM steps WHERE run = $1 AND seq = $2";
    match conn.fetch_one(sql, params![run.as_str(), seq]).await? {
        Some(mut row) => read(&mut row),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::seal::open;
    use serde_json::json;

    #[test]
    fn a_schema_comes_back_in_the_order_it_was_sent_in() {
        let schema = r#"{"type":"object","properties":{"when":{"type":"string"},"amount":{"type":"integer"}}}"#;
        let gate = Gate {
            title: "Refund?".into(),
            context: Some(json!({"order": 1})),
            schema: Some(serde_json::from_str(schema).unwrap()),
            choices: None,
        };
        let read = opened(open(&stored(&gate)).unwrap()).unwrap();
        assert_eq!(read, gate);
        assert_eq!(serde_json::to_string(&read.schema).unwrap(), schema);
    }

    #[test]
    fn a_gate_that_an_earlier_version_stored_is_read() {
        let older = sealed(&json!({"title": "Refund?", "schema": {"type": "object"}}));
        let read = opened(open(&older).unwrap()).unwrap();
        assert_eq!(read.schema.unwrap().value(), json!({"type": "object"}));
    }
}
