//! JSON Schema: whether a value fits, and where it does not.

use serde_json::Value;

use crate::domain::{Code, Problem};

/// Places named in one refusal.
const NAMED: usize = 5;

/// Refuses a value that the schema does not admit; the first place is the refusal's path, `under` names the value.
pub fn check(under: &str, schema: &Value, value: &Value) -> Result<(), Problem> {
    let validator = jsonschema::validator_for(schema).map_err(|error| {
        let why = format!("the schema itself cannot be used: {error}");
        Problem::new(Code::DecisionRefused, &why).with("why", &why)
    })?;
    let place = |path: &str| format!("{under}{path}");
    let errors: Vec<_> = validator
        .iter_errors(value)
        .take(NAMED)
        .map(|error| {
            (
                place(error.instance_path().as_str()),
                short(&error.to_string()),
            )
        })
        .collect();
    let Some((path, _)) = errors.first() else {
        return Ok(());
    };
    let all: Vec<_> = errors
        .iter()
        .map(|(path, why)| format!("{path}: {why}"))
        .collect();
    Err(Problem::new(Code::Invalid, all.join("; ")).with("path", path))
}

/// An error quotes the value, which may be long.
fn short(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_that_does_not_fit_is_refused_with_its_place() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        assert_eq!(check("state", &schema, &json!({"n": 1})), Ok(()));
        let problem = check("state", &schema, &json!({"n": "one"})).unwrap_err();
        assert_eq!(problem.fields["path"], "state/n");
        assert!(problem.detail.contains("state/n"), "{problem}");
        let broken = check("state", &json!({"type": "nonsense"}), &json!(1)).unwrap_err();
        assert_eq!(broken.code, Code::DecisionRefused);
    }
}
