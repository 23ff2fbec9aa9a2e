//! The plan that a page has open. It is read once with the page and only while it is asked for; when its run moves, it is read
//! again and renewed where it stands.

use std::time::Duration;

use leptos::{prelude::*, task::spawn_local};
use serde::{Deserialize, Serialize};

use super::run::run_id;
use crate::{
    api::{self, AppError},
    components::{notice::Refused, renewed::LivePlan},
    domain::{
        AsOf, DecisionKind, RunId,
        rules::{
            decision::Decision,
            plan::{Plan, PlanQuery},
        },
    },
    live::{Live, Message, Throttle},
};

/// Where steps go on and the run's version does not, the plan is read again at most this often.
const LATER: Duration = Duration::from_millis(3_000);

/// Which plan is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asks {
    /// The run, as the URL names it.
    pub run: String,
    /// Resume, rewind or fork.
    pub kind: DecisionKind,
    /// The step of a rewind or fork; without it the one that the page shows.
    pub step: Option<i64>,
}

/// The plan, and the step of a rewind or fork.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    pub step: Option<i64>,
    plan: AsOf<Plan>,
}

type Answer = Result<Planned, AppError>;

#[derive(Clone, Copy)]
pub struct OpenPlan {
    asks: Memo<Option<Asks>>,
    /// An answer names what it answers: the one before is still there while the next is read.
    read: Resource<Option<(Asks, Answer)>>,
}

impl OpenPlan {
    /// `shown` answers which step of this run the page shows.
    pub fn new(
        asks: Memo<Option<Asks>>,
        shown: impl Fn(&str) -> Option<i64> + Copy + Send + Sync + 'static,
    ) -> Self {
        let read = Resource::new_blocking(
            move || asks.get(),
            move |asks| async move {
                let asks = asks?;
                let shown = shown(&asks.run);
                let answer = planned(&asks, shown).await;
                Some((asks, answer))
            },
        );
        let plan = Self { asks, read };
        plan.keep_current(expect_context::<Live>());
        plan
    }

    /// Makes the `Transition` around the page wait for the plan, on the server: what is read only once something else is known
    /// would be missing from the page.
    pub fn wait_for(self) {
        if cfg!(feature = "ssr") {
            self.read.with_untracked(|_| ());
        }
    }

    pub fn refetch(self) {
        self.read.refetch();
    }

    /// Reads a resource: only below `Transition`, or in an effect.
    fn answer(self) -> Option<Answer> {
        let (of, answer) = self.read.get()??;
        self.asks
            .with(|asks| asks.as_ref() == Some(&of))
            .then_some(answer)
    }

    /// A plan that changed is read again before anyone sends it: at once when the run's version or status moved.
    fn keep_current(self, live: Live) {
        let seen = StoredValue::new(None);
        let later = Throttle::after(live, LATER, move || self.refetch());
        let again = Throttle::patiently(live, move || self.refetch());
        live.listen(move |message| {
            let Some(asks) = self.asks.get_untracked() else {
                return;
            };
            let frame = match message {
                Message::Frame(frame) => frame,
                Message::ReadAgain => return again.ask(),
            };
            let ours = frame.runs.iter().find(|run| run.id.as_str() == asks.run);
            let Some(run) = ours else { return };
            let now = Some((run.id.clone(), run.status, run.version));
            let before = seen.try_update_value(|seen| std::mem::replace(seen, now.clone()));
            match before == Some(now) {
                true => later.ask(),
                false => self.refetch(),
            }
        });
    }
}

async fn planned(asks: &Asks, shown: Option<i64>) -> Answer {
    let run = run_id(&asks.run)?;
    let step = match (asks.kind, asks.step.or(shown)) {
        (DecisionKind::Resume, _) => None,
        (_, None) => api::steps::opens_at(run.clone()).await?,
        (_, step) => step,
    };
    let query = PlanQuery {
        rewind: step.filter(|_| asks.kind == DecisionKind::Rewind),
        // A run without a step is forked from its end, which is its beginning.
        fork: (asks.kind == DecisionKind::Fork).then_some(step.unwrap_or(1)),
        ..PlanQuery::default()
    };
    let plan = api::plan::read(run, query).await?;
    Ok(Planned { step, plan })
}

/// Shows a plan as soon as it is known, and from then on renews it in place. Stands below `Transition`.
#[component]
pub fn WithPlan(
    plan: OpenPlan,
    /// What was decided on it is under way or taken: it stays as it was sent.
    #[prop(into)]
    sent: Signal<bool>,
    /// Shows the plan of a rewind or fork from before this step, or of a resume.
    show: Callback<(Option<i64>, LivePlan), AnyView>,
) -> impl IntoView {
    // What is shown once is not taken away by a server that cannot be reached for a moment.
    let first = Memo::new(move |before: Option<&Option<Answer>>| {
        let now = plan.answer();
        match before {
            Some(Some(Ok(first))) => Some(Ok(first.clone())),
            _ => now,
        }
    });
    move || {
        Some(match first.get()? {
            Err(error) => view! { <Refused error/> }.into_any(),
            Ok(Planned { step, plan: first }) => {
                let shown = LivePlan::new(first.value);
                keep_renewed(plan, step, shown, sent);
                show.run((step, shown))
            }
        })
    }
}

fn keep_renewed(plan: OpenPlan, step: Option<i64>, shown: LivePlan, sent: Signal<bool>) {
    Effect::new(move || {
        let Some(Ok(newer)) = plan.answer() else {
            return;
        };
        let stays = newer.step != step || sent.get();
        if stays
            || shown
                .now
                .with_untracked(|it| it.reads_like(&newer.plan.value))
        {
            return;
        }
        let (run, version) = shown.now.with_untracked(|it| (it.run.clone(), it.version));
        shown.renew(newer.plan.value);
        say_by_whom(shown, run, version);
    });
}

/// Whoever decided since this version of the run changed its plan.
fn say_by_whom(shown: LivePlan, run: RunId, version: i64) {
    spawn_local(async move {
        let made = api::decisions::of_run(run, None).await;
        let newest = made.ok().and_then(|page| {
            let since = |it: &Decision| it.version >= version && it.kind.moves_version();
            page.decisions.into_iter().find(since)
        });
        // The plan may be closed by now.
        shown.by.try_set(newest);
    });
}
