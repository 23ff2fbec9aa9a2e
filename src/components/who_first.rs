//! Who decided before the reader did, what, and how long ago, in the words of the run's history.

use leptos::prelude::*;
use serde_json::Value;

use super::time::AgoInFull;
use crate::domain::{Problem, Time, rules::decision::Decision, views::run_words};

/// A decision that came first.
#[derive(Debug, Clone, PartialEq)]
pub struct First {
    by: String,
    what: String,
    at: Time,
}

impl First {
    /// The one that a refusal names.
    pub fn of_refusal(problem: &Problem) -> Option<Self> {
        let text = |name: &str| {
            let value = problem.fields.get(name).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let at = problem.fields.get("decided_at")?.clone();
        Some(Self {
            by: text("decided_by")?,
            what: text("decided_what")?,
            at: serde_json::from_value(at).ok()?,
        })
    }

    pub fn of_decision(it: &Decision) -> Self {
        Self {
            by: it.author.clone(),
            what: run_words::decided_what(it),
            at: it.at,
        }
    }
}

/// "ana answered “Refund €120.00” 4 seconds ago"
#[component]
pub fn WhoFirst(first: First) -> impl IntoView {
    view! { <b><bdi>{first.by}</bdi>" "<bdi>{first.what}</bdi></b>" "<AgoInFull at=first.at/> }
        .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Code;

    #[test]
    fn a_refusal_names_who_was_first_only_where_somebody_was() {
        let problem = Problem::new(Code::VersionConflict, "already decided");
        let none = problem.clone().with("decided_by", None::<String>);
        assert_eq!(First::of_refusal(&none), None);
        let first = First {
            by: "ana".into(),
            what: "approved step 13".into(),
            at: Time(1_000_000),
        };
        let named = problem
            .with("decided_by", &first.by)
            .with("decided_at", first.at)
            .with("decided_what", &first.what);
        assert_eq!(First::of_refusal(&named), Some(first));
    }
}
