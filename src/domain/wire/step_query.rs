//! What is looked for among a run's steps.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{
        status::StepStatus,
        step::{Kind, Step},
    },
    views::words,
};

/// What follows `is:`.
const MARKS: [&str; 2] = ["effect", "retried"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Earlier,
    Later,
}

/// Words as in the search box: `status:failed kind:llm effect charge`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepQuery {
    pub status: Option<StepStatus>,
    pub kind: Option<Kind>,
    /// Only steps that change the world outside.
    pub effect: bool,
    /// Only steps that were tried more than once.
    pub retried: bool,
    /// Part of a name, tool or key, in any case.
    pub text: Option<String>,
}

impl StepQuery {
    pub fn of(text: &str) -> Self {
        let mut query = Self::default();
        let mut free = Vec::new();
        for word in text.split_whitespace() {
            match word.split_once(':') {
                Some(("status", value)) if value.parse::<StepStatus>().is_ok() => {
                    query.status = value.parse().ok();
                }
                Some(("kind", value)) if value.parse::<Kind>().is_ok() => {
                    query.kind = value.parse().ok();
                }
                Some(("is", "effect")) => query.effect = true,
                Some(("is", "retried")) => query.retried = true,
                _ => free.push(word.to_lowercase()),
            }
        }
        query.text = (!free.is_empty()).then(|| free.join(" "));
        query
    }

    /// What in the text cannot be meant as it stands, so that the page can say what is possible.
    pub fn hint(text: &str) -> Option<String> {
        text.split_whitespace()
            .find_map(|word| match word.split_once(':')? {
                ("status", value) if value.parse::<StepStatus>().is_err() => {
                    let all = StepStatus::ALL.iter().map(|it| it.as_str().to_owned());
                    Some(words::no_such("step status", value, all))
                }
                ("kind", value) if value.parse::<Kind>().is_err() => {
                    let all = Kind::ALL.iter().map(|it| it.as_str().to_owned());
                    Some(words::no_such("kind of step", value, all))
                }
                ("is", value) if !MARKS.contains(&value) => {
                    let all = MARKS.iter().map(|it| (*it).to_owned());
                    Some(words::no_such("mark of a step", value, all))
                }
                _ => None,
            })
    }

    pub fn admits(&self, step: &Step) -> bool {
        let mentions = |text: &String| {
            let has = |place: &str| place.to_lowercase().contains(text.as_str());
            has(&step.name) || step.tool.as_deref().is_some_and(has) || has(step.key.as_str())
        };
        self.status.is_none_or(|status| status == step.status)
            && self.kind.is_none_or(|kind| kind == step.kind)
            && (!self.effect || step.effect.is_some())
            && (!self.retried || step.tries > 1)
            && self.text.as_ref().is_none_or(mentions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_narrow_and_the_rest_is_text() {
        let query = StepQuery::of("status:failed kind:tool is:effect Charge card");
        assert_eq!(query.status, Some(StepStatus::Failed));
        assert_eq!(query.kind, Some(Kind::Tool));
        assert!(query.effect && !query.retried);
        assert_eq!(query.text.as_deref(), Some("charge card"));
        assert_eq!(StepQuery::of("  "), StepQuery::default());
    }

    #[test]
    fn a_value_that_there_is_not_is_told_which_there_are() {
        assert_eq!(
            StepQuery::hint("status:failed kind:llm is:effect a:b"),
            None
        );
        for (text, said) in [
            (
                "x status:broken",
                "There is no step status “broken”. It can be pending, running,",
            ),
            (
                "kind:robot",
                "There is no kind of step “robot”. It can be code, llm,",
            ),
            (
                "is:odd",
                "There is no mark of a step “odd”. It can be effect, retried.",
            ),
        ] {
            let hint = StepQuery::hint(text).unwrap();
            assert!(hint.starts_with(said), "{hint}");
        }
    }
}
