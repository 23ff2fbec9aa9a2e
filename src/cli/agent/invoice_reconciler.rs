//! Reconciles a month of invoices with their purchase orders: 52 announced steps, and number 47 charges a card.

use serde_json::{Value, json};

use super::{line::Line, stage::Stage};
use crate::client::{CreateRun, Error, Session};

mod books;
mod gather;
mod reconcile;

use books::Books;

/// What a line's output does to the books.
type Fold = Box<dyn FnOnce(&mut Books, &Value) + Send>;
/// The script: each line with its fold.
type Script = Vec<(Line, Fold)>;

fn script() -> Script {
    let mut script = Script::new();
    gather::write(&mut script);
    reconcile::write(&mut script);
    script
}

pub fn create() -> CreateRun {
    CreateRun {
        title: Some("Reconcile October invoices".into()),
        version: Some("3.2.1".into()),
        model: Some("gpt-large-2".into()),
        input: json!({ "month": "2026-10", "customer": "cus_R91" }),
        labels: [("team", "finance"), ("env", "prod")]
            .map(|(key, label)| (key.into(), label.into()))
            .into(),
        plan: script().iter().map(|(line, _)| line.planned()).collect(),
        ..CreateRun::new("invoice-reconciler")
    }
}

pub async fn work(session: Session<Books>, stage: Stage) -> Result<Value, Error> {
    for (line, fold) in script() {
        stage.play(&session, line, fold).await?;
    }
    let books = session.state();
    Ok(json!({
        "matched": books.ledger.matched.len(),
        "refunded": books.ledger.refunds.iter().map(|refund| refund.amount).sum::<i64>(),
        "charged": books.ledger.charged.iter().map(|charge| charge.amount).sum::<i64>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Kind;
    use std::collections::BTreeSet;

    #[test]
    fn the_script_has_52_steps_with_the_charge_at_47() {
        let script = script();
        let at = |seq: usize| &script[seq - 1].0;
        assert_eq!(script.len(), 52);
        assert_eq!(at(19).kind, Kind::Milestone);
        assert_eq!(at(46).name, "compose_charge");
        assert_eq!(at(47).name, "charge_card");
        let effect = at(47).effect.clone().unwrap();
        assert_eq!(effect.target, "POST stripe /v1/charges");
        let keys: BTreeSet<_> = script.iter().map(|(line, _)| &line.key).collect();
        assert_eq!(keys.len(), 52, "keys are unique");
    }

    #[test]
    fn the_story_adds_up() {
        let mut books = Books::default();
        for (line, fold) in script() {
            fold(&mut books, &line.output);
        }
        assert_eq!(books.ledger.matched.len(), 7);
        assert_eq!(books.ledger.charged[0].amount, 124_900);
        assert!(books.ledger.pending_charge.is_none());
        assert!(books.messages.len() > 80);
    }
}
