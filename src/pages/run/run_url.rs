//! Where on a run's page one is, which is its URL: the selected step and its tab, the part of the timeline, what is
//! looked for among the steps.

use leptos_router::params::ParamsMap;

use crate::{
    components::inspector::Tab,
    domain::{
        DecisionKind, RunId,
        views::timeline::{Axis, Stretch, TimelineQuery},
    },
};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunUrl {
    pub step: Option<i64>,
    /// None is named: a crashed effect opens on its tool call.
    pub tab: Tab,
    /// The first row of the list, for pages that cannot scroll by themselves.
    pub row: Option<i64>,
    pub axis: Axis,
    /// The part of the timeline that is shown; all of it if absent.
    pub window: Option<Stretch>,
    /// Whether long idle times are left out; if absent, when they are most of it.
    pub fold: Option<bool>,
    /// What is looked for among the steps.
    pub find: Option<String>,
    /// Steps found begin after this one.
    pub after: Option<i64>,
    /// The step where the run is, whichever that is by now.
    pub follow: bool,
    /// The decision that is asked for above the page; `resume` is the plan.
    pub ask: Option<DecisionKind>,
    /// What the plan has chosen at first.
    pub choose: Option<DecisionKind>,
}

impl RunUrl {
    pub fn of(params: &ParamsMap) -> Self {
        let number = |name| params.get_str(name)?.parse().ok().filter(|n| *n >= 0);
        let window = number("from").zip(number("to"));
        Self {
            step: number("step"),
            tab: Tab::of(params.get_str("tab")),
            row: number("row"),
            axis: params
                .get_str("by")
                .and_then(|it| it.parse().ok())
                .unwrap_or_default(),
            window: window
                .filter(|(from, to)| from < to)
                .map(|(from, to)| Stretch { from, to }),
            fold: match params.get_str("idle") {
                Some("hide") => Some(true),
                Some("show") => Some(false),
                _ => None,
            },
            find: params
                .get_str("find")
                .map(str::trim)
                .filter(|it| !it.is_empty())
                .map(str::to_owned),
            after: number("after"),
            follow: params.get_str("follow") == Some("1"),
            ask: params.get_str("ask").and_then(|it| it.parse().ok()),
            choose: params.get_str("choose").and_then(|it| it.parse().ok()),
        }
    }

    /// With nothing asked above the page.
    pub fn plain(&self) -> Self {
        self.asking(None)
    }

    pub fn asking(&self, ask: Option<DecisionKind>) -> Self {
        Self {
            ask,
            choose: None,
            ..self.clone()
        }
    }

    pub fn timeline(&self, cells: i64) -> TimelineQuery {
        TimelineQuery {
            axis: self.axis,
            window: self.window,
            cells,
            fold: self.fold,
        }
    }

    /// With this step selected.
    pub fn at_step(&self, seq: i64) -> Self {
        Self {
            step: Some(seq),
            row: None,
            follow: false,
            ..self.clone()
        }
    }

    pub fn with_window(&self, window: Option<Stretch>) -> Self {
        Self {
            window,
            ..self.clone()
        }
    }

    pub fn href(&self, run: &RunId) -> String {
        let mut params = ParamsMap::new();
        let number = |n: Option<i64>| n.map(|n| n.to_string());
        let tab = (self.tab != Tab::default()).then(|| self.tab.as_str().to_owned());
        let fold = self.fold.map(|hide| if hide { "hide" } else { "show" });
        let pairs = [
            ("step", number(self.step)),
            ("tab", tab),
            ("row", number(self.row)),
            ("by", (self.axis == Axis::Steps).then(|| "steps".into())),
            ("from", number(self.window.map(|it| it.from))),
            ("to", number(self.window.map(|it| it.to))),
            ("idle", fold.map(str::to_owned)),
            ("find", self.find.clone()),
            ("after", number(self.after)),
            ("follow", self.follow.then(|| "1".into())),
            ("ask", self.ask.map(|it| it.as_str().to_owned())),
            ("choose", self.choose.map(|it| it.as_str().to_owned())),
        ];
        for (name, value) in pairs {
            if let Some(value) = value {
                params.insert(name, value);
            }
        }
        format!("/runs/{run}{}", params.to_query_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_url_is_read_back_as_it_was_made() {
        let url = RunUrl {
            step: Some(47),
            tab: Tab::Log,
            axis: Axis::Steps,
            window: Some(Stretch { from: 10, to: 90 }),
            fold: Some(false),
            find: Some("status:failed charge".into()),
            ask: Some(DecisionKind::Resume),
            choose: Some(DecisionKind::Skip),
            ..RunUrl::default()
        };
        let run: RunId = "01JCR8V0Q4".parse().unwrap();
        let href = url.href(&run);
        let mut params = ParamsMap::new();
        for pair in href.split_once('?').unwrap().1.split('&') {
            let (name, value) = pair.split_once('=').unwrap();
            params.insert(
                name.to_owned(),
                leptos_router::location::Url::unescape(value),
            );
        }
        assert_eq!(RunUrl::of(&params), url);
        assert_eq!(RunUrl::default().href(&run), "/runs/01JCR8V0Q4");
    }
}
