//! All that a run's page reads. A server that cannot be reached for a moment leaves what is shown as it is.

use leptos::prelude::*;

use super::{run_id, run_url::RunUrl};
use crate::{
    api::{self, AppError},
    components::inspector::{Extra, Tab},
    domain::{
        AsOf, Code, DecisionKind, Run, RunId,
        nouns::worker::Asking,
        rules::decision::DecisionPage,
        views::{
            outline::StepWindow,
            sheet::{RunSheet, StepSheet},
            timeline::Timeline,
        },
        wire::protocol::StepPage,
    },
    pages::{
        last_answer::LastAnswer,
        open_plan::{Asks, OpenPlan},
    },
};

/// Cells of the timeline's picture: up to so many steps have a bar each.
const CELLS: i64 = 400;

type Answer<T> = Result<AsOf<T>, AppError>;

#[derive(Clone, Copy)]
pub struct Read {
    pub run: Resource<Answer<RunSheet>>,
    pub window: Resource<Answer<StepWindow>>,
    pub one: Resource<Answer<Option<StepSheet>>>,
    pub picture: Resource<Result<Timeline, AppError>>,
    pub beside: Resource<Result<Extra, AppError>>,
    pub found: Resource<Option<Result<StepPage, AppError>>>,
    /// Who asks for runs of this agent, if this one waits for a worker.
    pub asked: Resource<Option<Asking>>,
    /// What people decided about it, newest first.
    pub decided: Resource<Result<DecisionPage, AppError>>,
    /// The run that this one is a fork of.
    pub origin: Resource<Option<Run>>,
    /// The plan of what is asked above the page.
    pub plan: OpenPlan,
    /// The run as the newest frame has it, and that frame's event.
    pub newer: RwSignal<Option<(i64, Run)>>,
    /// The step that the run is at, for those who follow.
    pub newest: RwSignal<Option<i64>>,
    shown: ShownStep,
    over: StoredValue<bool>,
    last_run: LastAnswer<AsOf<RunSheet>>,
    last_step: LastAnswer<AsOf<Option<StepSheet>>>,
    last_picture: LastAnswer<Timeline>,
}

impl Read {
    pub fn new(id: Memo<String>, url: Memo<RunUrl>) -> Self {
        let shown = ShownStep::new();
        let newest = RwSignal::new(None);
        let selected = Memo::new(move |_| {
            url.with(|it| match it.follow {
                true => newest.get(),
                false => it.step,
            })
        });
        let row = Memo::new(move |_| url.with(|it| it.row));
        let picture = Memo::new(move |_| url.with(|it| it.timeline(CELLS)));
        let tab = Memo::new(move |_| url.with(|it| it.tab));
        let looked_for = Memo::new(move |_| url.with(|it| (it.find.clone(), it.after)));
        let asks = Memo::new(move |_| url.with(|it| asked(id.get(), it, newest)));
        let one = Resource::new_blocking(
            move || (id.get(), selected.get()),
            move |(id, seq)| async move {
                let seq = seq.or_else(|| shown.step(&id));
                api::steps::one(run_id(&id)?, seq).await
            },
        );
        // Others wait for it and keep it alive, also while it is read again for a page that the reader has left by now.
        let run = Resource::new_blocking(
            move || id.try_get().unwrap_or_default(),
            |id| async move { api::runs::one(run_id(&id)?).await },
        );
        Self {
            asked: Resource::new_blocking(
                move || (),
                move |()| async move {
                    let run = run.await.ok()?.value.run;
                    match run.status.runnable() {
                        true => api::workers::asking(run.agent).await.ok(),
                        false => None,
                    }
                },
            ),
            decided: Resource::new_blocking(
                move || id.get(),
                |id| async move { api::decisions::of_run(run_id(&id)?, None).await },
            ),
            origin: Resource::new_blocking(
                move || id.get(),
                move |id| async move {
                    let run = match run.await.ok()?.value.run {
                        run if run.id.as_str() == id => run,
                        // The reader went on to this run, and the one before is still there.
                        _ => api::runs::one(run_id(&id).ok()?).await.ok()?.value.run,
                    };
                    let parent = run.parent.filter(|_| run.forked_at.is_some())?;
                    let found = api::runs::some(vec![parent.run]).await.ok()?;
                    found.value.into_iter().next()
                },
            ),
            run,
            window: Resource::new_blocking(
                move || (id.get(), row.get()),
                move |(id, row)| async move {
                    let at = selected.get_untracked();
                    api::steps::window(run_id(&id)?, at, row).await
                },
            ),
            picture: Resource::new_blocking(
                move || (id.get(), picture.get()),
                |(id, query)| async move { api::timeline::read(run_id(&id)?, query).await },
            ),
            beside: Resource::new_blocking(
                move || (id.get(), selected.get(), tab.get()),
                move |(id, seq, tab)| async move {
                    let id = run_id(&id)?;
                    let seq = match seq.or_else(|| shown.step(id.as_str())) {
                        Some(seq) => Some(seq),
                        None => api::steps::opens_at(id.clone()).await?,
                    };
                    extra(id, seq, tab).await
                },
            ),
            found: Resource::new_blocking(
                move || (id.get(), looked_for.get()),
                |(id, (find, after))| async move {
                    let find = find?;
                    let id = match run_id(&id) {
                        Ok(id) => id,
                        Err(error) => return Some(Err(error)),
                    };
                    Some(api::steps::find(id, find, after.unwrap_or(0)).await)
                },
            ),
            one,
            plan: OpenPlan::new(asks, move |id| shown.step(id)),
            newer: RwSignal::new(None),
            newest,
            shown,
            over: StoredValue::new(false),
            last_run: LastAnswer::default(),
            last_step: LastAnswer::default(),
            last_picture: LastAnswer::default(),
        }
    }

    /// Makes the `Transition` around the page wait for all of it, also for what is only shown once something else is known:
    /// Leptos looks for further reads once more and no more, and would send a page without them that does not hydrate
    /// (`src/pages/README.md`).
    /// Only the server waits: in the browser the page's parts are there as soon as each is known.
    pub fn wait_for_all(self) {
        if !cfg!(feature = "ssr") {
            return;
        }
        self.run.with_untracked(|_| ());
        self.one.with_untracked(|_| ());
        self.window.with_untracked(|_| ());
        self.picture.with_untracked(|_| ());
        self.beside.with_untracked(|_| ());
        self.found.with_untracked(|_| ());
        self.asked.with_untracked(|_| ());
        self.decided.with_untracked(|_| ());
        self.origin.with_untracked(|_| ());
        self.plan.wait_for();
    }

    pub fn sheet_or_error(self, id: &str) -> Option<Result<RunSheet, AppError>> {
        let answer = self.last_run.or_last(id, self.run.get()?);
        Some(answer.map(|AsOf { event, value }| {
            let newer = self.newer.get();
            let sheet = match newer.filter(|(of, run)| *of > event && run.id == value.run.id) {
                Some((_, run)) => RunSheet { run, ..value },
                None => value,
            };
            self.over.set_value(sheet.run.status.over());
            sheet
        }))
    }

    /// The run is not over, as far as the page knows.
    pub fn goes_on(self) -> bool {
        !self.over.get_value()
    }

    /// The step of this run that is shown.
    pub fn selected(self, id: &str) -> Option<i64> {
        self.shown.step(id)
    }

    pub fn sheet(self, id: &RunId) -> Memo<Option<RunSheet>> {
        let id = id.to_string();
        Memo::new(move |_| self.sheet_or_error(&id)?.ok())
    }

    /// The event that the page's data goes on from.
    pub fn event(self) -> Option<i64> {
        self.run.get()?.ok().map(|it| it.event)
    }

    pub fn step(self, id: &RunId) -> Memo<Option<StepSheet>> {
        let id = id.to_string();
        Memo::new(move |_| {
            let step = self.last_step.or_last(&id, self.one.get()?).ok()?.value?;
            self.shown.hold(&id, step.detail.step.seq);
            Some(step)
        })
    }

    /// Why the selected step cannot be shown.
    pub fn step_error(self) -> Option<AppError> {
        let error = self.one.get()?.err()?;
        (!error.is(Code::Busy)).then_some(error)
    }

    pub fn timeline(self, id: &RunId) -> Memo<Option<Timeline>> {
        let id = id.to_string();
        Memo::new(move |_| self.last_picture.or_last(&id, self.picture.get()?).ok())
    }

    pub fn extra(self) -> Signal<Option<Result<Extra, AppError>>> {
        Signal::derive(move || self.beside.get())
    }
}

/// The plan that is asked for above the page. Who follows the run keeps the step that it was at by then.
fn asked(run: String, url: &RunUrl, newest: RwSignal<Option<i64>>) -> Option<Asks> {
    let plans = |kind: &DecisionKind| {
        matches!(
            kind,
            DecisionKind::Resume | DecisionKind::Rewind | DecisionKind::Fork
        )
    };
    let kind = url.ask.filter(plans)?;
    let step = match (kind, url.follow) {
        (DecisionKind::Resume, _) => None,
        (_, true) => newest.get_untracked(),
        (_, false) => url.step,
    };
    Some(Asks { run, kind, step })
}

/// What a tab of the inspector shows beside the step itself.
async fn extra(run: RunId, seq: Option<i64>, tab: Tab) -> Result<Extra, AppError> {
    let Some(seq) = seq else {
        return Ok(Extra::Nothing);
    };
    Ok(match tab {
        Tab::Events => Extra::Events(api::steps::events(run, seq).await?),
        Tab::Diff => Extra::Diff(Box::new(api::diffs::of_step(run, seq).await?)),
        Tab::State => Extra::State(Box::new(api::snapshots::after_step(run, seq).await?)),
        Tab::Call | Tab::Attempts | Tab::Log => Extra::Nothing,
    })
}

/// The step that a URL without one means: it is read once for where the run is, and stays that step while the run goes on.
#[derive(Clone, Copy)]
struct ShownStep(StoredValue<Option<(String, i64)>>);

impl ShownStep {
    fn new() -> Self {
        Self(StoredValue::new(None))
    }

    fn step(self, run: &str) -> Option<i64> {
        self.0
            .with_value(|it| it.as_ref().filter(|it| it.0 == run).map(|it| it.1))
    }

    fn hold(self, run: &str, step: i64) {
        self.0.set_value(Some((run.to_owned(), step)));
    }
}
