//! The list's state, which is its URL: what is shown and how far down.

use leptos_router::params::ParamsMap;

use crate::{
    components::{
        glyph::Shape,
        sidebar::{FilterGroup, FilterLink},
    },
    domain::{
        Counts, RunQuery, RunStatus,
        rules::needs::Alike,
        views::{
            search::{ME, no_such_status, status_of},
            words,
        },
    },
};

/// Statuses that always have a line in the sidebar; the others have one while there are such runs.
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

/// Built-in views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    #[default]
    All,
    /// Only what needs a person.
    Needs,
    /// Runs that I decided about or own.
    Mine,
}

/// What "costly" means in the built-in view, in dollars.
const COSTLY: i64 = 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub status: Option<RunStatus>,
    pub agent: Option<String>,
    pub label: Option<String>,
    /// The search box's text, prefixes and all.
    pub q: Option<String>,
    pub cursor: Option<String>,
    pub view: View,
    /// Runs that cost more than this.
    pub over: Option<i64>,
    /// Where and how runs stopped; an empty version or error is none.
    pub version: Option<String>,
    pub step: Option<String>,
    pub error: Option<String>,
    pub effects_unknown: Option<bool>,
    /// A worker that began a step of it.
    pub worker: Option<String>,
    /// What the address names as a status, and is none.
    pub no_status: Option<String>,
}

impl Filter {
    pub fn of(params: &ParamsMap) -> Self {
        let maybe_empty = |name| params.get_str(name).map(|it| it.trim().to_owned());
        let text = |name| maybe_empty(name).filter(|it| !it.is_empty());
        Self {
            status: text("status").and_then(|it| status_of(&it)),
            agent: text("agent"),
            label: text("label"),
            q: text("q"),
            cursor: text("cursor"),
            view: match params.get_str("view") {
                Some("needs") => View::Needs,
                Some("mine") => View::Mine,
                _ => View::All,
            },
            over: params.get_str("over").and_then(|it| it.parse().ok()),
            version: maybe_empty("version"),
            step: text("step"),
            error: maybe_empty("error"),
            effects_unknown: match params.get_str("effects") {
                Some("unknown") => Some(true),
                Some("known") => Some(false),
                _ => None,
            },
            worker: text("worker"),
            no_status: text("status").filter(|it| status_of(it).is_none()),
        }
    }

    /// What was asked for and cannot be meant, in words.
    pub fn hint(&self) -> Option<String> {
        let typed = self.q.as_deref().and_then(RunQuery::hint);
        typed.or_else(|| self.no_status.as_deref().map(no_such_status))
    }

    /// Exactly the runs of one cause.
    pub fn alike(alike: &Alike) -> Self {
        let query = alike.query();
        Self {
            status: query.status,
            agent: query.agent,
            version: query.version,
            step: query.step,
            error: query.error,
            effects_unknown: query.effects_unknown,
            ..Self::default()
        }
    }

    pub fn href(&self) -> String {
        let mut params = ParamsMap::new();
        let view = match self.view {
            View::All => None,
            View::Needs => Some("needs"),
            View::Mine => Some("mine"),
        };
        let effects = self.effects_unknown.map(|it| match it {
            true => "unknown",
            false => "known",
        });
        let pairs = [
            ("status", self.status.map(|it| it.as_str().to_owned())),
            ("agent", self.agent.clone()),
            ("label", self.label.clone()),
            ("version", self.version.clone()),
            ("step", self.step.clone()),
            ("error", self.error.clone()),
            ("effects", effects.map(str::to_owned)),
            ("worker", self.worker.clone()),
            ("over", self.over.map(|it| it.to_string())),
            ("q", self.q.clone()),
            ("cursor", self.cursor.clone()),
            ("view", view.map(str::to_owned)),
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
            version: self.version.clone(),
            step: self.step.clone(),
            error: self.error.clone(),
            effects_unknown: self.effects_unknown,
            over_usd: self.over,
            worker: self.worker.clone(),
            owner: (self.view == View::Mine).then(|| ME.to_owned()),
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
        let meant = Self {
            no_status: None,
            ..self.clone()
        };
        meant == Self::default()
    }

    pub fn needs(&self) -> bool {
        self.view == View::Needs
    }

    /// What may be an id or a key: one word, searched for by itself.
    pub fn pasted(&self) -> Option<String> {
        let text = self.q.as_deref()?;
        let word = text.strip_prefix("key:").unwrap_or(text);
        let alone = Self {
            q: self.q.clone(),
            ..Self::default()
        };
        let one = *self == alone && !word.is_empty() && !word.contains(char::is_whitespace);
        one.then(|| word.to_owned())
    }

    /// The filter without its place in the list.
    pub fn top(&self) -> Self {
        Self {
            cursor: None,
            no_status: None,
            view: match self.view {
                View::Needs => View::All,
                view => view,
            },
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
            "version",
            self.version.clone().map(said),
            Self {
                version: None,
                ..top.clone()
            },
        );
        chip(
            "at step",
            self.step.clone(),
            Self {
                step: None,
                ..top.clone()
            },
        );
        let crashed = self.status == Some(RunStatus::Crashed);
        let error = self.error.clone().map(|it| match it.is_empty() && crashed {
            true => "none, crashed mid-flight".to_owned(),
            false => said(it),
        });
        chip(
            "error",
            error,
            Self {
                error: None,
                ..top.clone()
            },
        );
        let effects = self.effects_unknown.map(|it| match it {
            true => "unknown".to_owned(),
            false => "none unknown".to_owned(),
        });
        chip(
            "effects",
            effects,
            Self {
                effects_unknown: None,
                ..top.clone()
            },
        );
        chip(
            "worker",
            self.worker.clone(),
            Self {
                worker: None,
                ..top.clone()
            },
        );
        chip(
            "cost",
            self.over.map(|usd| format!("over ${usd}")),
            Self {
                over: None,
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
                    view("Needs you", viewed(View::Needs)),
                    view("Mine", viewed(View::Mine)),
                    view(
                        "Over $20",
                        Self {
                            over: Some(COSTLY),
                            ..Self::default()
                        },
                    ),
                ],
            },
        ]
    }
}

fn viewed(view: View) -> Filter {
    Filter {
        view,
        ..Filter::default()
    }
}

fn said(value: String) -> String {
    match value.is_empty() {
        true => "none".to_owned(),
        false => value,
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
            error: Some(String::new()),
            effects_unknown: Some(false),
            worker: Some("w 7f3a".into()),
            view: View::Mine,
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
