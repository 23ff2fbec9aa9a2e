//! Steps 1–19: everything is fetched and read.

use serde_json::{Value, json};

use super::{
    Script,
    books::{Books, INVOICES, Invoice, Message, euros},
};
use crate::cli::agent::line::{Fails, Line};

const PLAN: &str = "Fetch the statement, the invoices and the orders; read each invoice; match; \
    settle what is left.";
const PHASES: [&str; 5] = [
    "gather",
    "match",
    "refund what was paid twice",
    "charge what is open",
    "close the period",
];
const GATHERED: &str = "Seven invoices, seven orders. Five look clean; INV-2201 names the wrong currency, \
    and a surcharge is billed twice.";
const TASK: &str = "You reconcile invoices with purchase orders. Never charge what is not matched.";

pub fn write(script: &mut Script) {
    start(script);
    INVOICES.iter().for_each(|invoice| read(script, invoice));
    compare(script);
}

fn start(script: &mut Script) {
    let policy = Line::code("policy", "load_policy")
        .reads("file:policy/refunds.md")
        .output(
            json!({ "refund_limit": 10_000, "charge_needs": "a matched order and a card on file" }),
        );
    script.push((
        policy,
        Box::new(|books: &mut Books, policy| {
            let say = |role: &str, content: Value| Message {
                role: role.into(),
                content,
            };
            books.messages.extend([
                say("system", json!({ "text": TASK, "policy": policy })),
                say("user", json!("Reconcile October for cus_R91.")),
            ]);
            books.note = "Charge after manual review".into();
        }),
    ));
    script.push((
        Line::llm("plan", "plan", 6_200, PLAN),
        Box::new(|books, plan| {
            books.plan = PHASES.map(str::to_owned).into();
            books.says(plan);
        }),
    ));
    let month = json!({ "from": "2026-10-01", "to": "2026-10-31", "customer": "cus_R91" });
    tool(
        script,
        Line::tool("statement", "fetch_statement", "http.get")
            .input(month.clone())
            .taking(1.1)
            .output(json!({ "bank": "Sparkasse Duisburg", "lines": 34, "balance": "€18,204.77" })),
    );
    let listed: Vec<_> = INVOICES.iter().map(|invoice| invoice.number).collect();
    tool(
        script,
        Line::tool("invoices", "list_invoices", "http.get")
            .input(month)
            .taking(0.7)
            .output(json!({ "open": listed })),
    );
    let orders: Vec<_> = INVOICES.iter().map(|invoice| invoice.order).collect();
    tool(
        script,
        Line::tool("orders", "list_purchase_orders", "sql.query")
            .input(json!({ "sql": "select no, total from purchase_order where customer = $1 and month = $2" }))
            .reads("file:exports/po.csv")
            .output(json!({ "orders": orders })),
    );
}

/// A model reads the scanned invoice.
fn read(script: &mut Script, invoice: &'static Invoice) {
    let says = format!(
        "{}: {} for {}, order {}.",
        invoice.number,
        euros(invoice.cents),
        invoice.item,
        invoice.order
    );
    script.push((
        Line::llm(
            format!("read:{}", invoice.number),
            "read_invoice",
            24_500,
            says,
        )
        .input(json!({ "model": "gpt-large-2", "file": format!("scans/{}.pdf", invoice.number) })),
        Box::new(move |books, output| {
            let known =
                json!({ "total": invoice.cents, "order": invoice.order, "item": invoice.item });
            books.invoices.insert(invoice.number.into(), known);
            books.messages.push(Message {
                role: "user".into(),
                content: json!({ "file": format!("scans/{}.pdf", invoice.number), "pages": 2 }),
            });
            books.says(output);
        }),
    ));
}

fn compare(script: &mut Script) {
    tool(
        script,
        Line::tool("credit-notes", "fetch_credit_notes", "http.get")
            .input(json!({ "customer": "cus_R91", "since": "2026-09-01" }))
            .taking(0.6)
            .output(json!({ "notes": [{ "id": "CN-311", "amount": 5_400, "for": "INV-2208" }] })),
    );
    tool(
        script,
        Line::code("duplicates", "find_duplicates").output(
            json!({ "suspects": [["INV-2208", "INV-2212"]], "why": "same surcharge, same day" }),
        ),
    );
    tool(
        script,
        Line::code("currencies", "check_currencies")
            .output(json!({ "eur": 6, "usd": 1, "unclear": ["INV-2201"] })),
    );
    tool(
        script,
        Line::tool("receipts", "fetch_receipts", "sql.query")
            .input(json!({ "sql": "select po, received_at, quantity from goods_receipt where po = any($1)" }))
            .output(json!({ "receipts": 11, "missing": [] })),
    );
    script.push((
        Line::tool("rates", "fetch_rates", "http.get")
            .input(json!({ "base": "EUR", "date": "2026-10-30" }))
            .taking(0.9)
            .fails(Fails {
                times: 1,
                of: 4,
                kind: "HttpError",
                message: "GET api.ecb.example/rates: 503 Service Unavailable",
            })
            .output(json!({ "USD": 1.0817, "PLN": 4.2603 })),
        Box::new(|books, rates| {
            books.rates = rates.clone();
            books.called("http.get", rates);
        }),
    ));
    script.push((
        Line::llm("gathered", "summarise_gathered", 41_000, GATHERED),
        Box::new(Books::says),
    ));
    script.push((
        Line::milestone("phase:gather", "Gather"),
        Box::new(|_, _| ()),
    ));
}

/// A step whose output is only read by the model later.
fn tool(script: &mut Script, line: Line) {
    let tool = line.tool.unwrap_or("code");
    script.push((
        line,
        Box::new(move |books, output| books.called(tool, output)),
    ));
}
