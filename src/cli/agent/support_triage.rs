//! Works through a customer's complaint and asks a person before it sends money back.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{line::Line, stage::Stage};
use crate::client::{Answer, CreateRun, DecisionKind, Error, Gate, Session};

const CENTS: i64 = 12_000;
const FULL: &str = "Refund €120.00";
const HALF: &str = "Refund €60.00 and a voucher";
const NONE: &str = "Decline, offer a repair";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Case {
    ticket: Value,
    customer: Value,
    order: Value,
    messages: Vec<Value>,
    assessment: String,
    /// What a person decided, in words.
    decision: Option<String>,
    refund: Option<Value>,
}

pub fn create() -> CreateRun {
    let mut plan: Vec<_> = look().iter().map(|(line, _)| line.planned()).collect();
    plan.extend([
        refund(CENTS).planned(),
        reply(FULL).planned(),
        close().planned(),
    ]);
    CreateRun {
        title: Some("Refund dispute #88121".into()),
        version: Some("2.0.4".into()),
        model: Some("gpt-large-2".into()),
        input: json!({ "ticket": 88121 }),
        labels: [("team", "support"), ("queue", "disputes")]
            .map(|(key, label)| (key.into(), label.into()))
            .into(),
        plan,
        ..CreateRun::new("support-triage")
    }
}

pub async fn work(session: Session<Case>, stage: Stage) -> Result<Value, Error> {
    for (line, fold) in look() {
        stage.play(&session, line, fold).await?;
    }
    let answer = session
        .gate("approve", "send_refund", question(&session.state()))
        .release_while_waiting()
        .run(|case, answer| case.decision = Some(decided(answer).to_owned()))
        .await?;
    let decision = decided(&answer);
    let cents = match decision {
        FULL => CENTS,
        HALF => CENTS / 2,
        _ => 0,
    };
    if cents > 0 {
        let fold = |case: &mut Case, refund: &Value| case.refund = Some(refund.clone());
        stage.play(&session, refund(cents), fold).await?;
    }
    let say = |case: &mut Case, said: &Value| case.messages.push(said.clone());
    stage.play(&session, reply(decision), say).await?;
    stage
        .play(&session, close(), |case, ticket| {
            case.ticket = ticket.clone()
        })
        .await?;
    Ok(json!({ "decision": decision, "refunded": cents }))
}

/// The person's choice; a plain approval stands for the full refund.
fn decided(answer: &Answer<Value>) -> &'static str {
    let choice = answer
        .result
        .as_ref()
        .and_then(|result| result["choice"].as_str());
    match (answer.decision, choice) {
        (DecisionKind::Approve, None) => FULL,
        (_, Some(choice)) => [FULL, HALF]
            .into_iter()
            .find(|c| *c == choice)
            .unwrap_or(NONE),
        _ => NONE,
    }
}

fn question(case: &Case) -> Gate {
    Gate {
        title: "Send €120.00 back to the customer?".into(),
        context: Some(json!({
            "customer": case.customer["name"],
            "order": case.order["id"],
            "assessment": case.assessment,
            "policy": "Refunds above €100.00 need a person.",
        })),
        schema: Some(
            json!({
                "type": "object",
                "required": ["choice"],
                "properties": {
                    "choice": { "enum": [FULL, HALF, NONE] },
                    "note": { "type": "string", "maxLength": 500 },
                },
            })
            .into(),
        ),
        choices: Some(vec![json!(FULL), json!(HALF), json!(NONE)]),
    }
}

type Fold = fn(&mut Case, &Value);

/// What is found out before anybody is asked.
fn look() -> Vec<(Line, Fold)> {
    let hear: Fold = |case, said| case.messages.push(said.clone());
    let note: Fold = |case, seen| {
        let message = json!({ "role": "tool", "content": seen });
        case.messages.push(message);
    };
    let ticket: Fold = |case, ticket| {
        let message = json!({ "role": "user", "content": ticket["body"] });
        case.messages.push(message);
        case.ticket = ticket.clone();
    };
    let assess: Fold = |case, said| {
        case.assessment = said["content"].as_str().unwrap_or_default().to_owned();
        case.messages.push(said.clone());
    };
    vec![
        (read_ticket(), ticket),
        (Line::llm("classify", "classify", 3_100, CLASSIFIED), hear),
        (fetch_customer(), |case, found| {
            case.customer = found.clone()
        }),
        (fetch_order(), |case, found| case.order = found.clone()),
        (inspect_photos(), note),
        (query_carrier(), note),
        (check_policy(), note),
        (Line::llm("assess", "assess", 11_800, ASSESSED), assess),
    ]
}

const CLASSIFIED: &str = "Damage in transit; wants a refund; polite, first complaint.";
const ASSESSED: &str = "The carrier's own scan shows the drop. The claim is sound and within 30 days. \
    Recommend the full refund of €120.00; above the limit, so a person decides.";

fn read_ticket() -> Line {
    Line::tool("ticket", "read_ticket", "helpdesk.get")
        .input(json!({ "id": 88121 }))
        .output(json!({
            "id": 88121, "subject": "Suitcase arrived broken", "status": "open", "language": "de",
            "body": "Der Koffer kam mit gebrochener Rolle an. Ich möchte mein Geld zurück.",
        }))
}

fn fetch_customer() -> Line {
    Line::tool("customer", "fetch_customer", "http.get")
        .input(json!({ "email": "j.brandt@example.org" }))
        .output(json!({
            "id": "cus_Lk42", "name": "Jana Brandt", "orders": 6, "since": "2021-02-03",
        }))
}

fn fetch_order() -> Line {
    Line::tool("order", "fetch_order", "sql.query")
        .input(json!({ "customer": "cus_Lk42", "newest": 1 }))
        .output(json!({
            "id": "A-55718", "item": "Cabin suitcase 38 l", "paid": CENTS, "delivered": "2026-11-09",
        }))
}

fn inspect_photos() -> Line {
    Line::tool("photos", "inspect_photos", "vision.describe")
        .input(json!({ "files": ["wheel-1.jpg", "wheel-2.jpg"] }))
        .taking(2.2)
        .output(json!({
            "damage": "left rear wheel sheared off at the axle", "box": "crushed corner",
        }))
}

fn query_carrier() -> Line {
    Line::tool("carrier", "query_carrier", "http.get")
        .input(json!({ "parcel": "00340434161094015902" }))
        .taking(1.4)
        .output(json!({ "scans": 7, "incident": "dropped at hub Leipzig, 8 November 04:12" }))
}

fn check_policy() -> Line {
    Line::code("policy", "check_policy")
        .reads("file:policy/returns.md")
        .output(json!({ "window_days": 30, "days_since": 7, "limit_without_person": 10_000 }))
}

fn refund(cents: i64) -> Line {
    let description = format!("refund €{}.00 to cus_Lk42", cents / 100);
    Line::tool("refund", "refund", "stripe.refunds")
        .input(json!({ "customer": "cus_Lk42", "amount": cents, "currency": "eur" }))
        .effect("POST stripe /v1/refunds", &description, Some(86_400_000))
        .checks()
        .taking(1.3)
        .output(json!({ "id": "re_3QmLk42f", "amount": cents, "status": "succeeded" }))
}

fn reply(decision: &str) -> Line {
    let says = format!(
        "Guten Tag Frau Brandt, vielen Dank für die Fotos. Wir haben entschieden: {decision}."
    );
    Line::llm("reply", "write_reply", 12_600, says)
}

fn close() -> Line {
    Line::tool("close", "close_ticket", "helpdesk.put")
        .input(json!({ "id": 88121, "status": "solved" }))
        .effect(
            "PUT helpdesk /tickets/88121",
            "answer and close ticket 88121",
            None,
        )
        .checks()
        .output(json!({ "id": 88121, "status": "solved" }))
}
