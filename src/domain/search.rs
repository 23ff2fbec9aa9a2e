//! The search box's language: `status:crashed agent:invoice-reconciler label:team:billing` and free text.

use super::{query::RunQuery, run::Run, status::RunStatus};

impl RunQuery {
    /// Reads the words of a search into this query. A word with an unknown prefix or status is free text, so that
    /// a pasted id, URL or time is found as it stands.
    pub fn search(mut self, text: &str) -> Self {
        let mut free = Vec::new();
        for word in text.split_whitespace() {
            match word.split_once(':') {
                Some(("status", value)) if value.parse::<RunStatus>().is_ok() => {
                    self.status = value.parse().ok();
                }
                Some(("agent", value)) if !value.is_empty() => self.agent = Some(value.to_owned()),
                Some(("label", value)) if value.contains(':') => {
                    self.label = Some(value.to_owned());
                }
                _ => free.push(word),
            }
        }
        self.q = (!free.is_empty()).then(|| free.join(" "));
        self
    }

    /// Asks for every run, wherever in the list it begins.
    pub fn is_plain(&self) -> bool {
        let Self {
            status,
            agent,
            label,
            q,
            ..
        } = self;
        status.is_none() && agent.is_none() && label.is_none() && q.is_none()
    }

    /// Whether the list that this query asks for would show `run`.
    pub fn admits(&self, run: &Run) -> bool {
        let label = |wanted: &String| {
            let (key, value) = wanted.split_once(':').unwrap_or((wanted, ""));
            run.labels.get(key).is_some_and(|it| it == value)
        };
        self.status.is_none_or(|status| status == run.status)
            && self.agent.as_ref().is_none_or(|agent| *agent == run.agent)
            && self.label.as_ref().is_none_or(label)
            && self.q.as_ref().is_none_or(|text| mentions(run, text))
    }
}

/// A part of the title or the id, whatever its case.
fn mentions(run: &Run, text: &str) -> bool {
    let text = text.to_lowercase();
    let title = run.title.as_deref().unwrap_or_default().to_lowercase();
    title.contains(&text) || run.id.as_str().to_lowercase().contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample;

    #[test]
    fn prefixes_narrow_the_list_and_the_rest_is_text() {
        let query =
            RunQuery::default().search("october status:crashed label:team:billing invoices");
        assert_eq!(query.status, Some(RunStatus::Crashed));
        assert_eq!(query.label.as_deref(), Some("team:billing"));
        assert_eq!(query.q.as_deref(), Some("october invoices"));
    }

    #[test]
    fn what_looks_like_a_prefix_but_is_none_is_searched_as_text() {
        let query = RunQuery::default().search("status:wild 01JCR8V0Q4:47");
        assert_eq!(query.status, None);
        assert_eq!(query.q.as_deref(), Some("status:wild 01JCR8V0Q4:47"));
    }

    #[test]
    fn a_query_admits_what_its_list_would_show() {
        let mut run = sample::run("a");
        run.labels.insert("team".into(), "billing".into());
        assert!(
            RunQuery::default()
                .search("label:team:billing")
                .admits(&run)
        );
        assert!(!RunQuery::default().search("status:done").admits(&run));
    }
}
