//! A whole agent: it reads a ticket, asks a person, pays the money back, and survives being killed at any point.
//!
//! ```sh
//! export STEP47_URL=http://127.0.0.1:3047
//! export STEP47_TOKEN=$(step47 token create --role agent --name example)
//! cargo run --example agent --no-default-features --features client -- ticket-88121
//! ```
//!
//! Kill it, start it again with the same name: what is committed is not done again.

use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{env, fs, path::PathBuf, time::Duration};
use step47::client::{
    Answer, Client, CreateRun, DecisionKind, Effect, Error, Gate, Session, StepError,
};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Case {
    ticket: Option<Ticket>,
    approved: Option<bool>,
    refund: Option<Refund>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ticket {
    customer: String,
    complaint: String,
    cents: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Refund {
    reference: String,
}

async fn handle(session: Session<Case>) -> Result<String, Error> {
    let ticket = session
        .step("read", "read_ticket")
        .tool("helpdesk.get")
        .retry(3, Duration::from_millis(500))
        .run(
            |_| async {
                Ok(Ticket {
                    customer: "cus_Lk42".into(),
                    complaint: "The suitcase arrived with a broken wheel.".into(),
                    cents: 12_000,
                })
            },
            |case, ticket| case.ticket = Some(ticket.clone()),
        )
        .await?;

    let question = Gate {
        title: "Send €120.00 back to the customer?".into(),
        context: Some(json!({ "complaint": ticket.complaint })),
        schema: None,
        choices: None,
    };
    let answer = session
        .gate("approve", "approve_refund", question)
        .run(|case, answer: &Answer<serde_json::Value>| case.approved = Some(answer.approved()))
        .await?;
    if answer.decision != DecisionKind::Approve {
        return Ok("declined".into());
    }

    let refund = session
        .step("refund", "refund")
        .tool("bank.refund")
        .effect(Effect {
            target: "bank.refund".into(),
            description: Some("refund €120.00 to cus_Lk42".into()),
            dedupe_ms: None,
        })
        // After a crash in between, nobody knows whether the money went out. The bank does.
        .check(|ctx| async move { Ok(paid(ctx.idempotency_key())) })
        .run(
            |ctx| async move { pay(ctx.idempotency_key()) },
            |case, refund| case.refund = Some(refund.clone()),
        )
        .await?;
    Ok(refund.reference)
}

/// The bank of this example keeps one file per payment.
fn payment(key: &str) -> PathBuf {
    env::temp_dir().join(format!("step47-example-{}", key.replace(':', "-")))
}

fn paid(key: &str) -> Option<Refund> {
    let reference = fs::read_to_string(payment(key)).ok()?;
    Some(Refund { reference })
}

fn pay(key: &str) -> Result<Refund, StepError> {
    let reference = format!("re_{key}");
    fs::write(payment(key), &reference)?;
    Ok(Refund { reference })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = env::var("STEP47_URL").unwrap_or_else(|_| "http://127.0.0.1:3047".into());
    let client = Client::new(&url, &env::var("STEP47_TOKEN")?)?;
    let run = CreateRun {
        id: env::args().nth(1).map(|id| id.parse()).transpose()?,
        title: Some("Broken suitcase".into()),
        version: Some(env!("CARGO_PKG_VERSION").into()),
        ..CreateRun::new("refund-example")
    };
    let session = client.open(run, "example").await?;
    println!("run {}", session.id());
    session.settle(handle(session.clone()).await).await?;
    println!("{:?}", session.state());
    Ok(())
}
