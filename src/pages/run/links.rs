//! Where the links of a run's page lead: each is the page's URL with one thing changed.

use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};

use super::run_url::RunUrl;
use crate::{
    components::{inspector::Tab, timeline::Go},
    domain::{DecisionKind, RunId},
};

#[derive(Clone, Copy)]
pub struct Links {
    run: StoredValue<RunId>,
    url: Memo<RunUrl>,
    /// The step that is shown, also where the URL names none.
    selected: Memo<Option<i64>>,
    navigate: Callback<(String, bool)>,
}

impl Links {
    pub fn new(run: RunId, url: Memo<RunUrl>, selected: Memo<Option<i64>>) -> Self {
        let navigate = use_navigate();
        Self {
            run: StoredValue::new(run),
            url,
            selected,
            navigate: Callback::new(move |(href, replace): (String, bool)| {
                let options = NavigateOptions {
                    replace,
                    scroll: false,
                    ..NavigateOptions::default()
                };
                navigate(&href, options);
            }),
        }
    }

    pub fn run(self) -> RunId {
        self.run.get_value()
    }

    fn to(self, url: &RunUrl) -> String {
        self.run.with_value(|run| url.href(run))
    }

    /// The URL, with the step that is shown named in it.
    fn at_selected(self) -> RunUrl {
        let step = self.selected.get();
        self.url.with(|it| RunUrl {
            step: it.step.or(step),
            ..it.clone()
        })
    }

    /// Where the timeline leads.
    pub fn timeline(self, go: Go) -> String {
        let to = self.url.with(|url| match go {
            Go::Axis(axis) => RunUrl {
                axis,
                window: None,
                ..url.clone()
            },
            Go::Window(window) => url.with_window(window),
            Go::Fold(fold) => RunUrl {
                fold: Some(fold),
                ..url.clone()
            },
            Go::Step(seq) => url.at_step(seq),
        });
        self.to(&to)
    }

    /// Goes to an address of this page, and replaces the entry in the history or adds one.
    pub fn visit(self, href: String, replace: bool) {
        self.navigate.run((href, replace));
    }

    /// Goes there. A window that is moved by hand leaves one entry in the history, not hundreds.
    pub fn go(self, go: Go) {
        let replace = matches!(go, Go::Window(_));
        self.visit(self.timeline(go), replace);
    }

    pub fn step(self, seq: i64) -> String {
        self.timeline(Go::Step(seq))
    }

    /// The list of steps from this row on.
    pub fn row(self, row: i64) -> String {
        self.to(&self.url.with(|it| RunUrl {
            row: Some(row),
            ..it.clone()
        }))
    }

    pub fn tab(self, tab: Tab) -> String {
        self.to(&RunUrl {
            tab,
            ..self.at_selected()
        })
    }

    pub fn follow(self, follow: bool) -> String {
        self.to(&self.url.with(|it| RunUrl {
            follow,
            step: None,
            row: None,
            ..it.clone()
        }))
    }

    /// Stays at the step that is shown: a reader who scrolls up while following wants to read there.
    pub fn stop_following(self) {
        if !self.url.with_untracked(|it| it.follow) {
            return;
        }
        let stays = self.url.with_untracked(|it| RunUrl {
            follow: false,
            step: self.selected.get_untracked(),
            ..it.clone()
        });
        self.visit(self.to(&stays), true);
    }

    /// Asks for a decision. Retry and commit are chosen in the plan.
    pub fn ask(self, kind: DecisionKind) -> String {
        match kind {
            DecisionKind::Edit => self.run.with_value(|run| format!("/runs/{run}/edit")),
            DecisionKind::Retry | DecisionKind::Commit => self.choose(kind),
            kind => self.to(&self.at_selected().asking(Some(kind))),
        }
    }

    /// Opens the plan with this chosen for the selected step.
    pub fn choose(self, kind: DecisionKind) -> String {
        self.to(&RunUrl {
            choose: Some(kind),
            ..self.at_selected().asking(Some(DecisionKind::Resume))
        })
    }
}
