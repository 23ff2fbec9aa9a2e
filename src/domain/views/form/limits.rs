//! Limits of a field, in words beside it; the same words say what is wrong.

use serde_json::Number;

use crate::domain::nouns::ordered_json::OrderedJson;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    of: Of,
    low: Option<Bound>,
    high: Option<Bound>,
    step: Option<Number>,
    /// Only the server can tell whether a text fits it.
    pattern: Option<String>,
    pub unique: bool,
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Of {
    #[default]
    Amount,
    Characters,
    Items,
}

#[derive(Debug, Clone, PartialEq)]
struct Bound {
    at: Number,
    /// The bound itself is allowed.
    with: bool,
}

impl Limits {
    pub fn of_number(schema: &OrderedJson) -> Self {
        let bound = |with, without| {
            let at = |key, with| {
                Some(Bound {
                    at: number(schema, key)?,
                    with,
                })
            };
            at(without, false).or_else(|| at(with, true))
        };
        Self {
            low: bound("minimum", "exclusiveMinimum"),
            high: bound("maximum", "exclusiveMaximum"),
            step: number(schema, "multipleOf"),
            ..Self::default()
        }
    }

    pub fn of_text(schema: &OrderedJson) -> Self {
        let pattern = schema.get("pattern").and_then(OrderedJson::text);
        Self {
            of: Of::Characters,
            low: counted(schema, "minLength"),
            high: counted(schema, "maxLength"),
            pattern: pattern.map(str::to_owned),
            ..Self::default()
        }
    }

    pub fn of_list(schema: &OrderedJson) -> Self {
        Self {
            of: Of::Items,
            low: counted(schema, "minItems"),
            high: counted(schema, "maxItems"),
            unique: schema.get("uniqueItems") == Some(&OrderedJson::Plain(true.into())),
            ..Self::default()
        }
    }

    /// The fewest and the most, where they are whole numbers.
    pub fn least(&self) -> u64 {
        self.low.as_ref().and_then(|it| it.at.as_u64()).unwrap_or(0)
    }

    pub fn most(&self) -> Option<u64> {
        self.high.as_ref()?.at.as_u64()
    }

    /// "1 to 500", "at most 80 characters"; nothing where there is no limit.
    pub fn said(&self) -> Option<String> {
        let mut parts: Vec<String> = self.range().into_iter().collect();
        parts.extend(self.step.as_ref().map(|step| format!("in steps of {step}")));
        parts.extend(
            self.pattern
                .as_ref()
                .map(|it| format!("by the pattern {it}")),
        );
        parts.extend(self.unique.then(|| "each only once".to_owned()));
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn range(&self) -> Option<String> {
        let amount = match (&self.low, &self.high) {
            (None, None) => return None,
            (Some(low), Some(high)) if low.with && high.with && low.at == high.at => {
                format!("exactly {}", low.at)
            }
            (Some(low), Some(high)) if low.with && high.with => {
                format!("{} to {}", low.at, high.at)
            }
            (low, high) => {
                let low = low.as_ref().map(|it| match it.with {
                    true => format!("at least {}", it.at),
                    false => format!("more than {}", it.at),
                });
                let high = high.as_ref().map(|it| match it.with {
                    true => format!("at most {}", it.at),
                    false => format!("less than {}", it.at),
                });
                let both: Vec<_> = low.into_iter().chain(high).collect();
                both.join(", ")
            }
        };
        let last = self.high.as_ref().or(self.low.as_ref());
        let one = last.is_some_and(|it| it.at.as_u64() == Some(1));
        Some(match (self.of, one) {
            (Of::Amount, _) => amount,
            (Of::Characters, true) => format!("{amount} character"),
            (Of::Characters, false) => format!("{amount} characters"),
            (Of::Items, true) => format!("{amount} item"),
            (Of::Items, false) => format!("{amount} items"),
        })
    }

    /// What is wrong with a number, or with so many characters or items.
    pub fn against(&self, amount: &Number) -> Option<String> {
        let n = amount.as_f64()?;
        let bound = |it: &Option<Bound>| {
            let bound = it.as_ref()?;
            Some((bound.at.as_f64()?, bound.with))
        };
        let under = bound(&self.low).is_some_and(|(low, with)| n < low || n == low && !with);
        let over = bound(&self.high).is_some_and(|(high, with)| n > high || n == high && !with);
        if under || over {
            let range = self.range()?;
            return Some(match self.of {
                Of::Amount => format!("must be {range}"),
                Of::Characters | Of::Items => format!("must have {range}: it has {amount}"),
            });
        }
        // Fractions are not exact here: the server judges those.
        let steps = self
            .step
            .as_ref()
            .and_then(Number::as_i64)
            .filter(|it| *it > 0);
        let off = steps
            .zip(amount.as_i64())
            .is_some_and(|(step, n)| n % step != 0);
        let step = self.step.as_ref().filter(|_| off)?;
        Some(format!("must be a multiple of {step}"))
    }
}

fn number(schema: &OrderedJson, key: &str) -> Option<Number> {
    match schema.get(key)? {
        OrderedJson::Plain(serde_json::Value::Number(n)) => Some(n.clone()),
        _ => None,
    }
}

fn counted(schema: &OrderedJson, key: &str) -> Option<Bound> {
    let at = number(schema, key)?;
    // "At least 0 characters" is no limit.
    (at.as_u64() != Some(0) || key.starts_with("max")).then_some(Bound { at, with: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_are_said_in_plain_words() {
        let number = |it| Limits::of_number(&OrderedJson::from(it)).said();
        assert_eq!(
            number(json!({"minimum": 1, "maximum": 500})).unwrap(),
            "1 to 500"
        );
        assert_eq!(number(json!({"maximum": 20000})).unwrap(), "at most 20000");
        let open = json!({"exclusiveMinimum": 0, "maximum": 9.5, "multipleOf": 0.5});
        assert_eq!(
            number(open).unwrap(),
            "more than 0, at most 9.5, in steps of 0.5"
        );
        assert_eq!(number(json!({})), None);
        let text = |it| Limits::of_text(&OrderedJson::from(it)).said();
        assert_eq!(
            text(json!({"maxLength": 80})).unwrap(),
            "at most 80 characters"
        );
        assert_eq!(
            text(json!({"minLength": 3, "maxLength": 3})).unwrap(),
            "exactly 3 characters"
        );
        assert_eq!(
            text(json!({"minLength": 1})).unwrap(),
            "at least 1 character"
        );
        assert_eq!(text(json!({"minLength": 0})), None);
        let list = |it| Limits::of_list(&OrderedJson::from(it)).said();
        let said = list(json!({"minItems": 1, "maxItems": 3, "uniqueItems": true}));
        assert_eq!(said.unwrap(), "1 to 3 items, each only once");
    }

    #[test]
    fn what_is_beyond_a_limit_is_told_what_the_limit_is() {
        let limits =
            Limits::of_number(&json!({"minimum": 1, "maximum": 500, "multipleOf": 5}).into());
        assert_eq!(limits.against(&501.into()).unwrap(), "must be 1 to 500");
        assert_eq!(
            limits.against(&12.into()).unwrap(),
            "must be a multiple of 5"
        );
        assert_eq!(limits.against(&500.into()), None);
        let text = Limits::of_text(&json!({"maxLength": 2}).into());
        let said = text.against(&3.into()).unwrap();
        assert_eq!(said, "must have at most 2 characters: it has 3");
    }
}
