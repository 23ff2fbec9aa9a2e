//! The list's state, which is its URL: what is shown and how far down.

use leptos_router::params::ParamsMap;

use crate::{
    components::{
        glyph::Shape,
        sidebar::{FilterGroup, FilterLink},
    },
    domain::{Counts, RunQuery, RunStatus, words},
};

/// Statuses that always have their line; the others come up when there are such runs.
const ALWAYS: [RunStatus; 7] = [
    RunStatus::Crashed,
    RunStatus::Failed,
    RunStatus::Waiting,
    RunStatus::Ready,
    RunStatus::Running,
    RunStatus::Done,
    RunStatus::Cancelled,
];
const SOMETIMES: [RunStatus; 2] = [RunStatus::Paused, RunStatus::Pending];

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub status: Option<RunStatus>,
    pub agent: Option<String>,
    pub label: Option<String>,
    /// The search box's text, prefixes and all.
    pub q: Option<String>,
    pub cursor: Option<String>,
    /// Only what needs a person.
    pub needs: bool,
}

impl Filter {
    pub fn of(params: &ParamsMap) -> Self {
        let text = |name| {
            params
                .get_str(name)
                .map(str::trim)
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
        };
        Self {
            status: params.get_str("status").and_then(|it| it.parse().ok()),
            agent: text("agent"),
            label: text("label"),
            q: text("q"),
            cursor: text("cursor"),
            needs: params.get_str("view") == Some("needs"),
        }
    }

    pub fn href(&self) -> String {
        let mut params = ParamsMap::new();
        let pairs = [
            ("status", self.status.map(|it| it.as_str().to_owned())),
            ("agent", self.agent.clone()),
            ("label", self.label.clone()),
            ("q", self.q.clone()),
            ("cursor", self.cursor.clone()),
            ("view", self.needs.then(|| "needs".into())),
        ];
        for (name, value) in pairs {
            if let Some(value) = value {
                params.insert(name, value);
            }
        }
        format!("/{}", params.to_query_string())
    }

    pub fn query(&self) -> RunQuery {
        let query = RunQuery {
            status: self.status,
            agent: self.agent.clone(),
            label: self.label.clone(),
            cursor: self.cursor.clone(),
            ..RunQuery::default()
        };
        match &self.q {
            Some(text) => query.search(text),
            None => query,
        }
    }

    /// All runs, from the newest on.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The filter without its place in the list.
    fn top(&self) -> Self {
        Self {
            cursor: None,
            needs: false,
            ..self.clone()
        }
    }

    /// What is filtered for, each with the link that takes it off.
    pub fn chips(&self) -> Vec<(String, String)> {
        let top = self.top();
        let mut chips = Vec::new();
        let mut chip = |name: &str, value: Option<String>, without: Self| {
            if let Some(value) = value {
                chips.push((format!("{name}: {value}"), without.href()));
            }
        };
        let status = self.status.map(|it| words::run_status(it).to_lowercase());
        chip(
            "status",
            status,
            Self {
                status: None,
                ..top.clone()
            },
        );
        chip(
            "agent",
            self.agent.clone(),
            Self {
                agent: None,
                ..top.clone()
            },
        );
        chip(
            "label",
            self.label.clone(),
            Self {
                label: None,
                ..top.clone()
            },
        );
        chip(
            "search",
            self.q.clone(),
            Self {
                q: None,
                ..top.clone()
            },
        );
        chips
    }

    pub fn groups(&self, counts: &Counts) -> Vec<FilterGroup> {
        let top = self.top();
        let status = |status: RunStatus| {
            let on = self.status == Some(status);
            let to = Self {
                status: (!on).then_some(status),
                ..top.clone()
            };
            FilterLink {
                text: words::run_status(status).into(),
                shape: Some(Shape::from(status)),
                href: to.href(),
                on,
                count: Some(counts.of(status)),
            }
        };
        let agent = |(agent, n): &(String, i64)| {
            let on = self.agent.as_ref() == Some(agent);
            let to = Self {
                agent: (!on).then(|| agent.clone()),
                ..top.clone()
            };
            FilterLink {
                text: agent.clone(),
                shape: None,
                href: to.href(),
                on,
                count: Some(*n),
            }
        };
        let there = SOMETIMES
            .into_iter()
            .filter(|it| counts.of(*it) > 0 || self.status == Some(*it));
        let view = |text: &str, to: Self| FilterLink {
            text: text.into(),
            shape: None,
            href: to.href(),
            on: *self == to,
            count: None,
        };
        vec![
            FilterGroup {
                title: "Status",
                links: ALWAYS.into_iter().chain(there).map(status).collect(),
            },
            FilterGroup {
                title: "Agent",
                links: counts.by_agent.iter().map(agent).collect(),
            },
            FilterGroup {
                title: "Views",
                links: vec![
                    view("All runs", Self::default()),
                    view(
                        "Needs you",
                        Self {
                            needs: true,
                            ..Self::default()
                        },
                    ),
                ],
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_gives_back_the_filter_it_was_made_from() {
        let filter = Filter {
            status: Some(RunStatus::Crashed),
            agent: Some("invoice & co".into()),
            q: Some("october label:team:billing".into()),
            ..Filter::default()
        };
        let href = filter.href();
        let mut params = ParamsMap::new();
        for pair in href.trim_start_matches("/?").split('&') {
            let (name, value) = pair.split_once('=').unwrap();
            params.insert(
                name.to_owned(),
                leptos_router::location::Url::unescape(value),
            );
        }
        assert_eq!(Filter::of(&params), filter);
    }

    #[test]
    fn a_filter_that_is_on_links_to_itself_taken_off() {
        let filter = Filter {
            status: Some(RunStatus::Done),
            ..Filter::default()
        };
        let groups = filter.groups(&Counts::default());
        let done = groups[0]
            .links
            .iter()
            .find(|link| link.text == "Done")
            .unwrap();
        assert!(done.on);
        assert_eq!(done.href, "/");
    }
}
