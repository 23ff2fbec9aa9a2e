//! Where on a run's page one is, which is its URL: the page of steps, the selected step and its tab.

use leptos_router::params::ParamsMap;

use crate::{
    api::steps::{STEPS_BEFORE, STEPS_ON_A_PAGE},
    components::inspector::Tab,
    domain::RunId,
};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The page of steps begins after this one.
    pub after: Option<i64>,
    pub step: Option<i64>,
    pub tab: Tab,
}

impl Place {
    pub fn of(params: &ParamsMap) -> Self {
        let number = |name| params.get_str(name)?.parse().ok().filter(|n| *n >= 0);
        Self {
            after: number("after"),
            step: number("step"),
            tab: Tab::of(params.get_str("tab")),
        }
    }

    /// Where the page of steps begins; left to the server if the URL says nothing.
    pub fn after(&self) -> Option<i64> {
        self.after
            .or(self.step.map(|step| (step - STEPS_BEFORE).max(0)))
    }

    pub fn earlier(&self) -> Self {
        let after = self.after.map(|after| (after - STEPS_ON_A_PAGE).max(0));
        Self {
            after,
            ..self.clone()
        }
    }

    pub fn href(&self, run: &RunId) -> String {
        let mut params = ParamsMap::new();
        if let Some(after) = self.after {
            params.insert("after", after.to_string());
        }
        if let Some(step) = self.step {
            params.insert("step", step.to_string());
        }
        if self.tab != Tab::default() {
            params.insert("tab", self.tab.as_str().to_owned());
        }
        format!("/runs/{run}{}", params.to_query_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_step_shows_the_steps_around_it() {
        let place = Place {
            step: Some(47),
            ..Place::default()
        };
        assert_eq!(place.after(), Some(37));
        let run: RunId = "01JCR8V0Q4".parse().unwrap();
        assert_eq!(place.href(&run), "/runs/01JCR8V0Q4?step=47");
    }
}
