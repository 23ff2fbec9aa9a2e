//! Steps 20–52: each invoice is matched, then the money moves.

use serde_json::{Value, json};

use super::{
    Script,
    books::{Books, Charge, INVOICES, Invoice, euros},
};
use crate::cli::agent::line::Line;

const DAY_MS: i64 = 86_400_000;
const REFUND: i64 = 5_000;
const CHARGE: i64 = 124_900;

pub fn write(script: &mut Script) {
    for (n, invoice) in (0..).zip(&INVOICES) {
        match_invoice(script, n, invoice);
    }
    refund(script);
    charge(script);
    close(script);
}

/// Plan, fetch, match: three steps for each invoice.
fn match_invoice(script: &mut Script, n: i64, invoice: &'static Invoice) {
    let number = invoice.number;
    let says = format!(
        "Next is {number}, {}: compare it with order {}.",
        invoice.item, invoice.order
    );
    think(script, format!("plan:{number}"), 52_000 + n * 5_200, says);
    script.push((
        Line::tool(format!("fetch:{number}"), "fetch_invoice", "http.get")
            .input(json!({ "url": format!("https://billing.rheinwerk.example/invoices/{number}") }))
            .taking(0.8)
            .output(json!({
                "number": number, "total": invoice.cents, "currency": "EUR", "order": invoice.order,
                "lines": [{ "item": invoice.item, "net": invoice.cents * 100 / 119, "vat": "19 %" }],
                "issued": format!("2026-10-{:02}", 3 + 4 * n), "due_days": 14,
                "supplier": { "name": "Rheinwerk Logistik GmbH", "iban": "DE02 3504 0038 0712 3456 00" },
            })),
        Box::new(|books, output| books.called("http.get", output)),
    ));
    script.push((
        Line::tool(format!("match:{number}"), "match_po", "sql.query")
            .input(json!({ "order": invoice.order, "total": invoice.cents }))
            .taking(0.3)
            .output(
                json!({ "invoice": number, "order": invoice.order, "finding": invoice.finding }),
            ),
        Box::new(|books, output| {
            books.ledger.matched.push(output.clone());
            books.called("sql.query", output);
        }),
    ));
}

fn think(script: &mut Script, key: String, read: i64, says: String) {
    script.push((
        Line::llm(key, "plan_next", read, says),
        Box::new(Books::says),
    ));
}

fn refund(script: &mut Script) {
    think(
        script,
        "plan:refund".into(),
        88_000,
        "All seven match. The surcharge on INV-2212 was paid twice: refund €50.00 first.".into(),
    );
    script.push((
        Line::tool("approve:refund", "approve_refund", "policy.check")
            .input(json!({ "amount": REFUND, "limit": 10_000 }))
            .output(json!({ "approved": true, "rule": "refunds up to €100.00 need no person" })),
        Box::new(|books, output| books.called("policy.check", output)),
    ));
    let description = format!("refund {} to cus_R91", euros(REFUND));
    script.push((
        Line::tool("refund:INV-2212", "refund", "stripe.refunds")
            .input(json!({ "customer": "cus_R91", "amount": REFUND, "currency": "eur" }))
            .effect("POST stripe /v1/refunds", &description, Some(DAY_MS))
            .checks()
            .taking(1.2)
            .output(json!({ "id": "re_3QkR91dM", "amount": REFUND, "status": "succeeded" })),
        Box::new(|books, output| {
            books.ledger.refunds.extend(Charge::answered(output));
            books.called("stripe.refunds", output);
        }),
    ));
}

fn charge(script: &mut Script) {
    think(
        script,
        "plan:charge".into(),
        91_000,
        "INV-2214 is open: €1,299.00, less the refund. Look at the card on file.".into(),
    );
    script.push((
        Line::tool("customer", "fetch_customer", "http.get")
            .input(json!({ "id": "cus_R91" }))
            .taking(0.5)
            .output(json!({
                "id": "cus_R91", "name": "Rheinwerk Logistik GmbH", "email": "rechnung@rheinwerk.example",
                "card": { "brand": "visa", "last4": "4242", "expires": "08/28" }, "currency": "eur",
                "address": "Am Innenhafen 12, 47059 Duisburg", "since": "2019-04-11", "risk": "low",
            })),
        Box::new(|books, output| {
            books.customer = output.clone();
            books.called("http.get", output);
        }),
    ));
    let amount = euros(CHARGE);
    let says = format!("Invoice INV-2214 matches PO 7731. Charging {amount} to the card on file.");
    script.push((
        Line::llm("compose:INV-2214", "compose_charge", 93_000, says).taking(3.0),
        Box::new(|books, output| {
            books.ledger.pending_charge = Some(Charge::new(CHARGE));
            books.note = "Charge after refund 43 cleared, total adjusted by -€50.00".into();
            books.says(output);
        }),
    ));
    script.push((
        Line::tool("charge:INV-2214", "charge_card", "stripe.charges")
            .input(json!({ "customer": "cus_R91", "amount": CHARGE, "currency": "eur", "invoice": "INV-2214" }))
            .effect("POST stripe /v1/charges", &format!("charge {amount} to cus_R91"), Some(DAY_MS))
            .logs(&[
                "card visa •••• 4242, expires 08/28",
                "POST https://api.stripe.example/v1/charges",
            ])
            .hangs(30.0)
            .taking(1.2)
            .output(json!({ "id": "ch_3QkR91xT", "amount": CHARGE, "status": "succeeded" })),
        Box::new(|books, output| {
            books.ledger.pending_charge = None;
            books.ledger.charged.extend(Charge::answered(output));
            books.called("stripe.charges", output);
        }),
    ));
}

fn close(script: &mut Script) {
    let called = |tool: &'static str| -> super::Fold {
        Box::new(move |books: &mut Books, output: &Value| books.called(tool, output))
    };
    script.push((
        Line::tool("ledger", "record_ledger", "sql.insert")
            .input(json!({ "table": "ledger", "rows": 9 }))
            .output(json!({ "inserted": 9 })),
        called("sql.insert"),
    ));
    script.push((
        Line::tool("receipt", "email_receipt", "smtp.send")
            .input(json!({ "to": "rechnung@rheinwerk.example", "template": "receipt-de" }))
            .effect(
                "smtp.send",
                "e-mail the receipt to rechnung@rheinwerk.example",
                None,
            )
            .taking(0.9)
            .output(json!({ "message_id": "<2214.r91@step47.example>" })),
        called("smtp.send"),
    ));
    script.push((
        Line::llm("summary", "summarise", 97_000,
            "October is settled: seven invoices matched, €50.00 refunded, €1,249.00 charged, nothing left open."),
        Box::new(Books::says),
    ));
    script.push((
        Line::tool("close", "close_period", "sql.update")
            .input(json!({ "period": "2026-10", "status": "closed" }))
            .output(json!({ "updated": 1 })),
        called("sql.update"),
    ));
    script.push((
        Line::milestone("phase:reconcile", "Reconcile"),
        Box::new(|_, _| ()),
    ));
}
