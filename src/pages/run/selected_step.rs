//! The right column: the selected step in full, what this reader may do about it, and its question if it is a gate.

use leptos::prelude::*;

use super::{links::Links, read::Read, run_url::RunUrl};
use crate::{
    components::{
        answer::Answer, excerpt::ExcerptBlock, inspector::Inspector, notice::Notice,
        notice::Refused, run_actions::StepActions,
    },
    domain::{
        Action, DecisionKind, Gate, Run, StepStatus,
        rules::offer::Standing,
        views::{
            sheet::{RunSheet, StepSheet},
            words,
        },
    },
    pages::{deciding::Deciding, look::look, shell::Shell},
};

/// What this reader may do about the run and its selected step.
#[derive(Clone, Copy)]
pub struct Offers {
    pub may: Memo<bool>,
    pub standing: Memo<Option<Standing>>,
    /// The selected step's status, and whether somebody decided about it already.
    step: Memo<Option<(StepStatus, bool)>>,
}

impl Offers {
    pub fn new(sheet: Memo<Option<RunSheet>>, step: Memo<Option<StepSheet>>) -> Self {
        let shell = expect_context::<Shell>();
        Self {
            may: Memo::new(move |_| shell.may(Action::Decide)),
            standing: Memo::new(move |_| {
                let standing = |it: &RunSheet| Standing {
                    not_undone: !it.after.not_undone.is_empty(),
                    ..Standing::of(&it.run)
                };
                sheet.with(|it| it.as_ref().map(standing))
            }),
            step: Memo::new(move |_| {
                let it = step.with(|it| it.as_ref().map(|it| it.detail.step.clone()))?;
                Some((it.status, it.decided()))
            }),
        }
    }

    /// The selected step's status, unless somebody decided about it already.
    pub fn open(self) -> Option<StepStatus> {
        let (status, _) = self.step.get().filter(|(_, decided)| !decided)?;
        Some(status)
    }

    /// The selected step's status.
    pub fn status(self) -> Option<StepStatus> {
        self.step.get().map(|(status, _)| status)
    }

    /// The address that acknowledges the run, if that may be done.
    pub fn acknowledge(self, links: Links) -> Option<String> {
        let kind = DecisionKind::Acknowledge;
        let offered = |it: Standing| it.offers(kind, None);
        let fits = self.may.get() && self.standing.get().is_some_and(offered);
        fits.then(|| links.ask(kind))
    }

    /// The address that skips the selected step: a gate by a decision of its own, any other in the plan.
    pub fn skip(self, links: Links) -> String {
        match self.step.get() {
            Some((StepStatus::Waiting, _)) => links.ask(DecisionKind::Skip),
            _ => links.choose(DecisionKind::Skip),
        }
    }
}

/// The gate that a step waits at and that may be answered, with the step's number.
pub fn waiting_gate(step: Memo<Option<StepSheet>>, offers: Offers) -> Memo<Option<(i64, Gate)>> {
    Memo::new(move |_| {
        let it = step.with(|it| it.as_ref().map(|it| it.detail.clone()))?;
        let answers = offers.standing.get()?.answers(it.step.status);
        it.gate.filter(|_| answers).map(|gate| (it.step.seq, gate))
    })
}

#[component]
pub fn SelectedStep(
    read: Read,
    url: Memo<RunUrl>,
    links: Links,
    offers: Offers,
    sheet: Memo<Option<RunSheet>>,
    run: Memo<Option<Run>>,
    step: Memo<Option<StepSheet>>,
    selected: Memo<Option<i64>>,
    /// The gate that the selected step waits at.
    gate: Memo<Option<(i64, Gate)>>,
) -> impl IntoView {
    let Offers { may, standing, .. } = offers;
    let acts = move || {
        let (status, decided) = offers.step.get()?;
        let standing = standing.get()?;
        (status.may_be_helped() && may.get()).then(|| {
            view! {
                <StepActions
                    standing
                    step=status
                    decided
                    edit=links.ask(DecisionKind::Edit)
                    retry=links.ask(DecisionKind::Retry)
                    skip=offers.skip(links)
                />
            }
        })
    };
    let deciding = Deciding::new(move |_| read.one.refetch(), move || read.run.refetch());
    let context = Memo::new(move |_| step.with(|it| it.as_ref().and_then(|it| it.context.clone())));
    let version = Signal::derive(move || run.with(|run| run.as_ref().map(|run| run.version)));
    let answer = move || {
        let (seq, gate) = gate.get()?;
        let on_decide = Callback::new(move |body| deciding.send(links.run(), body));
        let asks = gate.title.clone();
        let answer = match may.get() {
            true => view! {
                <Answer gate step=seq version id="step" busy=deciding.busy refused=deciding.refused on_decide/>
            }
            .into_any(),
            false => view! { <p class="dim">{words::VIEW_ONLY}</p> }.into_any(),
        };
        Some(view! {
            <section class="question" aria-label="Question">
                <h2><bdi>{asks}</bdi></h2>
                {move || view! { <ExcerptBlock title="context" excerpt=context.get()/> }}
                {answer}
            </section>
        })
    };
    let tab = Signal::derive(move || url.with(|it| it.tab));
    let tab_href = Callback::new(move |tab| links.tab(tab));
    let look = look(Callback::new(move |seq| links.step(seq)));
    let nothing =
        Memo::new(move |_| run.with(|run| run.as_ref().is_some_and(|run| run.steps == 0)));
    view! {
        {move || read.step_error().map(|error| view! { <Refused error/> })}
        {move || nothing.get().then(|| view! {
            <Notice title="No step has begun"><p>"The first one appears here the moment the agent begins it."</p></Notice>
        })}
        {move || selected.get().is_some().then(|| view! {
            <Inspector step run=sheet tab extra=read.extra() href=tab_href acts above=answer look/>
        })}
    }
    .into_any()
}
