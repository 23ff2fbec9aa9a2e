//! What a person may answer at a gate.

use serde_json::{Value, json};

use crate::{
    domain::{DecisionKind, Gate, Problem},
    store::json_schema::Checker,
};

/// The result of this answer, if the gate takes it.
pub async fn answer(
    schemas: &Checker,
    kind: DecisionKind,
    gate: Gate,
    given: Option<&Value>,
) -> Result<Value, Problem> {
    let result = match &gate.choices {
        Some(choices) => chosen(kind, choices, given)?,
        None => given.cloned().unwrap_or_default(),
    };
    // A rejected question needs no answer, so the schema is not asked.
    let silent = kind == DecisionKind::Reject && given.is_none();
    match gate.schema {
        Some(schema) if !silent => {
            schemas
                .check("result", schema.value(), result.clone())
                .await?
        }
        _ => {}
    }
    Ok(result)
}

/// One of the choices, bare or as `{choice}`; approve and reject may be choices by their own names.
fn chosen(kind: DecisionKind, choices: &[Value], given: Option<&Value>) -> Result<Value, Problem> {
    let named = json!(kind);
    let choice = match given {
        Some(value) if choices.contains(value) => Some(value),
        Some(Value::Object(map)) if map.len() == 1 => map.get("choice"),
        Some(_) => None,
        None if choices.contains(&named) => Some(&named),
        None if kind == DecisionKind::Reject => return Ok(Value::Null),
        None => None,
    };
    match choice.filter(|choice| choices.contains(choice)) {
        Some(choice) => Ok(json!({"choice": choice})),
        None => Err(Problem::invalid(
            "result",
            format!("must be {{\"choice\": …}} with one of {}", json!(choices)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(choices: Option<Value>, schema: Option<Value>) -> Gate {
        Gate {
            title: "Refund?".into(),
            context: None,
            schema: schema.map(Into::into),
            choices: choices.map(|it| it.as_array().unwrap().clone()),
        }
    }

    #[tokio::test]
    async fn one_of_the_choices_is_the_result_and_nothing_else() {
        let gate = gate(Some(json!(["full", "half"])), None);
        let take = async |kind, given: Option<Value>| {
            answer(&Checker::default(), kind, gate.clone(), given.as_ref()).await
        };
        let full = Ok(json!({"choice": "full"}));
        let named = take(DecisionKind::Answer, Some(json!({"choice": "full"}))).await;
        assert_eq!(named, full);
        assert_eq!(take(DecisionKind::Answer, Some(json!("full"))).await, full);
        let none = take(DecisionKind::Answer, Some(json!({"choice": "none"}))).await;
        assert!(none.is_err());
        assert!(take(DecisionKind::Approve, None).await.is_err());
        assert_eq!(take(DecisionKind::Reject, None).await, Ok(Value::Null));
    }

    #[tokio::test]
    async fn an_answer_fits_the_schema() {
        let gate = gate(
            None,
            Some(json!({"type": "object", "required": ["amount"]})),
        );
        let take = async |kind, given: Option<Value>| {
            answer(&Checker::default(), kind, gate.clone(), given.as_ref()).await
        };
        let given = json!({"amount": 1});
        assert_eq!(
            take(DecisionKind::Answer, Some(given.clone())).await,
            Ok(given)
        );
        let wrong = take(DecisionKind::Answer, Some(json!({}))).await;
        assert_eq!(wrong.unwrap_err().fields["path"], "result");
        assert_eq!(take(DecisionKind::Reject, None).await, Ok(Value::Null));
    }
}
