//! The search box's language: `status:crashed agent:invoice-reconciler label:team:billing key:charge-42
//! worker:w-7f3a` and free text.

use crate::domain::{
    nouns::{run::Run, status::RunStatus},
    views::words,
    wire::query::RunQuery,
};

/// Who asks, in place of a person's name.
pub const ME: &str = "@me";

impl RunQuery {
    /// Reads the words of a search into this query. A word with an unknown prefix or status is free text, so that
    /// a pasted id, URL or time is found as it stands.
    pub fn search(mut self, text: &str) -> Self {
        let mut free = Vec::new();
        for word in text.split_whitespace() {
            match word.split_once(':') {
                Some(("status", value)) if status_of(value).is_some() => {
                    self.status = status_of(value);
                }
                Some(("agent", value)) if !value.is_empty() => self.agent = Some(value.to_owned()),
                Some(("label", value)) if value.contains(':') => {
                    self.label = Some(value.to_owned());
                }
                Some(("key", value)) if !value.is_empty() => self.key = Some(value.to_owned()),
                Some(("worker", value)) if !value.is_empty() => {
                    self.worker = Some(value.to_owned());
                }
                _ => free.push(word),
            }
        }
        self.q = (!free.is_empty()).then(|| free.join(" "));
        self
    }

    /// What in the search cannot be meant as it stands, so that the page can say what is possible.
    pub fn hint(text: &str) -> Option<String> {
        text.split_whitespace()
            .find_map(|word| match word.split_once(':')? {
                ("status", value) if status_of(value).is_none() => Some(no_such_status(value)),
                ("label", value) if !value.contains(':') => Some(format!(
                    "“label:{value}” names no value. A label is found by its key and value: label:team:billing."
                )),
                _ => None,
            })
    }

    /// `@me` is this person.
    pub fn asked_by(self, name: &str) -> Self {
        let owner = self.owner.map(|owner| match owner == ME {
            true => name.to_owned(),
            false => owner,
        });
        Self { owner, ..self }
    }

    /// Asks for every run, wherever in the list it begins.
    pub fn is_plain(&self) -> bool {
        let all = Self {
            limit: self.limit,
            cursor: self.cursor.clone(),
            ..Self::default()
        };
        *self == all
    }

    /// Whether the list that this query asks for surely shows `run`. What only the store knows (step names, keys,
    /// decisions, workers) is not.
    pub fn admits(&self, run: &Run) -> bool {
        self.fits(run)
            && self.key.is_none()
            && self.owner.is_none()
            && self.worker.is_none()
            && self.q.as_ref().is_none_or(|text| mentions(run, text))
    }

    /// All that a run's own row can answer for.
    pub fn fits(&self, run: &Run) -> bool {
        let label = |wanted: &String| {
            let (key, value) = wanted.split_once(':').unwrap_or((wanted, ""));
            run.labels.get(key).is_some_and(|it| it == value)
        };
        let same = |wanted: &Option<String>, is: Option<&str>| {
            wanted
                .as_ref()
                .is_none_or(|it| it == is.unwrap_or_default())
        };
        let over = |usd: i64| run.usage.cost_usd.is_some_and(|cost| cost > usd as f64);
        self.status.is_none_or(|status| run.counts_as(status))
            && self.agent.as_ref().is_none_or(|agent| *agent == run.agent)
            && self.label.as_ref().is_none_or(label)
            && same(&self.step, run.at.as_ref().map(|at| at.name.as_str()))
            && same(&self.error, run.error_kind.as_deref())
            && same(&self.version, run.code_version.as_deref())
            && self
                .effects_unknown
                .is_none_or(|it| it == run.effects_unknown)
            && self.over_usd.is_none_or(over)
    }
}

/// Says which statuses there are.
pub fn no_such_status(value: &str) -> String {
    let all = RunStatus::ALL.iter().map(|it| status_word(*it));
    words::no_such("status", value, all)
}

/// The word that pages show for a status, or its own where that is no single word.
fn status_word(status: RunStatus) -> String {
    let shown = words::run_status(status).to_lowercase();
    match shown.contains(' ') {
        true => status.as_str().to_owned(),
        false => shown,
    }
}

/// A status by its own word, by the word that pages show for it, or by the one that they showed before.
pub fn status_of(word: &str) -> Option<RunStatus> {
    let shown = |it: &&RunStatus| words::run_status(**it).eq_ignore_ascii_case(word);
    let released = word.eq_ignore_ascii_case("released");
    let known = word.parse().ok().or(released.then_some(RunStatus::Ready));
    known.or_else(|| RunStatus::ALL.iter().find(shown).copied())
}

/// Each word is part of the title or the id, whatever its case.
pub fn mentions(run: &Run, text: &str) -> bool {
    mentioned(run.id.as_str(), run.title.as_deref(), text)
}

pub fn mentioned(id: &str, title: Option<&str>, text: &str) -> bool {
    let title = title.unwrap_or_default().to_lowercase();
    let id = id.to_lowercase();
    let mut words = text.split_whitespace().map(str::to_lowercase);
    words.all(|word| title.contains(&word) || id.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::sample;

    #[test]
    fn a_status_is_known_by_its_word_on_the_page_too() {
        let query = RunQuery::default().search("status:released");
        assert_eq!(query.status, Some(RunStatus::Ready));
        assert_eq!(query.q, None);
        assert_eq!(RunQuery::hint("status:Done label:team:billing x"), None);
        let said = RunQuery::hint("x status:broken").unwrap();
        assert!(
            said.starts_with("There is no status “broken”. It can be pending, running,"),
            "{said}"
        );
        assert!(said.contains("queued") && !said.contains("ready"), "{said}");
    }

    #[test]
    fn every_status_that_is_named_can_be_searched_for() {
        for status in RunStatus::ALL {
            assert_eq!(status_of(&status_word(*status)), Some(*status));
        }
    }

    #[test]
    fn a_label_without_a_value_is_told_how_one_is_written() {
        let said = RunQuery::hint("october label:team").unwrap();
        assert!(said.contains("label:team:billing"), "{said}");
    }

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
