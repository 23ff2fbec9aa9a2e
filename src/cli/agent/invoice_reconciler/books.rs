//! The state: what is known of the month so far.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Books {
    pub customer: Value,
    pub invoices: BTreeMap<String, Value>,
    pub ledger: Ledger,
    pub messages: Vec<Message>,
    pub note: String,
    pub plan: Vec<String>,
    pub rates: Value,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    pub charged: Vec<Charge>,
    pub matched: Vec<Value>,
    pub pending_charge: Option<Charge>,
    pub refunds: Vec<Charge>,
}

/// Money, in cents.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Charge {
    pub customer: String,
    pub amount: i64,
    pub currency: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Message {
    pub role: String,
    pub content: Value,
}

impl Books {
    pub fn says(&mut self, output: &Value) {
        self.messages.push(Message {
            role: "assistant".into(),
            content: output["content"].clone(),
        });
    }

    /// A tool call and what it gave, as the model reads them later.
    pub fn called(&mut self, tool: &str, output: &Value) {
        self.messages.push(Message {
            role: "assistant".into(),
            content: json!({ "tool_call": tool }),
        });
        self.messages.push(Message {
            role: "tool".into(),
            content: output.clone(),
        });
    }
}

impl Charge {
    pub fn new(amount: i64) -> Self {
        Self {
            customer: "cus_R91".into(),
            amount,
            currency: "eur".into(),
            reference: None,
        }
    }

    /// As the provider answered: with its reference; nothing if an operator skipped the step.
    pub fn answered(output: &Value) -> Option<Self> {
        let reference = output["id"].as_str()?.to_owned();
        Some(Self {
            reference: Some(reference),
            ..Self::new(output["amount"].as_i64()?)
        })
    }
}

/// Cents as people write them.
pub fn euros(cents: i64) -> String {
    let (whole, rest) = (cents / 100, cents % 100);
    match whole {
        ..1_000 => format!("€{whole}.{rest:02}"),
        _ => format!("€{},{:03}.{rest:02}", whole / 1_000, whole % 1_000),
    }
}

pub struct Invoice {
    pub number: &'static str,
    pub order: i64,
    pub cents: i64,
    pub item: &'static str,
    pub finding: &'static str,
}

pub const INVOICES: [Invoice; 7] = [
    Invoice {
        number: "INV-2201",
        order: 7702,
        cents: 48_950,
        item: "pallet wrap, 40 rolls",
        finding: "The invoice says USD, the order EUR; the amounts agree in EUR.",
    },
    Invoice {
        number: "INV-2203",
        order: 7705,
        cents: 213_400,
        item: "dock leveller service, Duisburg",
        finding: "Two visits billed, two visits logged. Amounts agree.",
    },
    Invoice {
        number: "INV-2206",
        order: 7711,
        cents: 9_920,
        item: "thermal labels 100 × 150",
        finding: "Billed 16 boxes; 16 were received on 9 October.",
    },
    Invoice {
        number: "INV-2208",
        order: 7714,
        cents: 76_000,
        item: "forklift hire, two weeks",
        finding: "The hire ended a day early; the credit note CN-311 covers it.",
    },
    Invoice {
        number: "INV-2210",
        order: 7719,
        cents: 31_275,
        item: "safety boots, 15 pairs",
        finding: "Unit price is 20.85 as agreed in the frame contract.",
    },
    Invoice {
        number: "INV-2212",
        order: 7726,
        cents: 118_060,
        item: "freight Duisburg–Gdańsk",
        finding: "The freight surcharge of €50.00 is billed here and on INV-2208: once too often.",
    },
    Invoice {
        number: "INV-2214",
        order: 7731,
        cents: 129_900,
        item: "scanner batteries, 60 pieces",
        finding: "Matches PO 7731 line by line; still unpaid.",
    },
];
