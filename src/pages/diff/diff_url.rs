//! Which two states are compared and how they are shown, which is the page's URL.

use leptos_router::params::ParamsMap;

use crate::domain::{RunId, views::diff_sheet::DiffQuery};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    #[default]
    Tree,
    Side,
    Raw,
}

impl View {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Side => "side",
            Self::Raw => "raw",
        }
    }

    fn of(name: Option<&str>) -> Self {
        match name {
            Some("side") => Self::Side,
            Some("raw") => Self::Raw,
            _ => Self::Tree,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffUrl {
    pub query: DiffQuery,
    pub view: View,
    pub find: Option<String>,
    /// The row that the page begins with.
    pub after: Option<i64>,
}

impl DiffUrl {
    pub fn of(params: &ParamsMap) -> Self {
        let number = |name| params.get_str(name)?.parse().ok().filter(|n: &i64| *n >= 0);
        let text = |name| {
            let text = params.get_str(name).map(str::trim);
            text.filter(|it| !it.is_empty()).map(str::to_owned)
        };
        Self {
            query: DiffQuery {
                from: number("from"),
                to: number("to"),
                other: text("other").and_then(|it| it.parse().ok()),
            },
            view: View::of(params.get_str("view")),
            find: text("find"),
            after: number("after"),
        }
    }

    pub fn between(from: i64, to: i64) -> Self {
        Self {
            query: DiffQuery {
                from: Some(from),
                to: Some(to),
                other: None,
            },
            ..Self::default()
        }
    }

    pub fn with_after(&self, after: Option<i64>) -> Self {
        Self {
            after,
            ..self.clone()
        }
    }

    pub fn href(&self, run: &RunId) -> String {
        let mut params = ParamsMap::new();
        let number = |n: Option<i64>| n.map(|n| n.to_string());
        let view = (self.view != View::Tree).then(|| self.view.as_str().to_owned());
        let pairs = [
            ("from", number(self.query.from)),
            ("to", number(self.query.to)),
            ("other", self.query.other.as_ref().map(RunId::to_string)),
            ("view", view),
            ("find", self.find.clone()),
            ("after", number(self.after)),
        ];
        for (name, value) in pairs {
            if let Some(value) = value {
                params.insert(name, value);
            }
        }
        format!("/runs/{run}/diff{}", params.to_query_string())
    }
}
