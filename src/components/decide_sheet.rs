//! One decision about a run, in a dialog: what will happen, the reason, "Back" and a verb.

use leptos::{ev, prelude::*};

use super::{dialog::Dialog, keyboard, refusal::Refusal, unknown_effects::UnknownEffects};
use crate::{
    api::AppError,
    domain::{
        DecisionKind, Run,
        rules::{
            doubt::UNCHECKED,
            offer::Standing,
            plan::{LeftBehind, NAMED_MAX},
        },
        views::words,
        wire::protocol::{Decide, DecideAnswer},
    },
};

/// What the button says.
pub fn verb(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Pause => "Pause run",
        DecisionKind::Cancel => "Cancel run",
        DecisionKind::Note => "Add note",
        DecisionKind::Pin => "Pin run",
        DecisionKind::Claim => "I'm on it",
        DecisionKind::Acknowledge => "Acknowledge",
        DecisionKind::Skip => "Skip step",
        DecisionKind::Rewind => "Rewind run",
        DecisionKind::Fork => "Fork run",
        DecisionKind::Approve => "Approve",
        DecisionKind::Reject => "Reject",
        DecisionKind::Retry | DecisionKind::Commit | DecisionKind::Answer => "Decide",
        DecisionKind::Edit | DecisionKind::Resume => "Decide",
    }
}

/// What will happen to this run.
fn consequence(kind: DecisionKind, run: &Run) -> String {
    let live = run.lease.is_some();
    match kind {
        // Only a run that failed, crashed or was cancelled leaves “Needs you” by it.
        DecisionKind::Acknowledge if !Standing::of(run).offers(kind, None) => "“Not undone” disappears from the run's page. Nothing else changes.".into(),
        DecisionKind::Pause if live => "The worker is asked to stop at its next step boundary. What is in flight may still commit.".into(),
        DecisionKind::Pause => "The run stops at once: no worker holds it. It goes on when someone resumes it.".into(),
        DecisionKind::Cancel if live => "The worker is asked to stop at its next step boundary, for good. What is in flight may still commit. Nothing that the run did outside is undone.".into(),
        DecisionKind::Cancel => "The run ends here, for good: it cannot be resumed, only forked. Nothing that it did outside is undone.".into(),
        DecisionKind::Note => "Everyone who opens this run sees the note. It changes nothing.".into(),
        DecisionKind::Pin => "Retention keeps all states of this run from now on.".into(),
        DecisionKind::Claim => "Others see that you are on it. Others can still decide. It ends after 15 minutes.".into(),
        DecisionKind::Acknowledge if run.unchecked() => format!("The run stays cancelled. “{}” disappears from its page and its line.", words::capital(UNCHECKED.into())),
        DecisionKind::Acknowledge => format!("The run stays {} and leaves “Needs you”. “Not undone” disappears from its page.", run.status),
        DecisionKind::Skip => "The step is not executed. The agent goes on with null as its result.".into(),
        DecisionKind::Approve => "The agent goes on, told that it was approved.".into(),
        DecisionKind::Reject => "The agent goes on, told that it was rejected.".into(),
        // These have a plan or a form of their own.
        DecisionKind::Retry | DecisionKind::Commit | DecisionKind::Answer => String::new(),
        DecisionKind::Edit | DecisionKind::Resume => String::new(),
        DecisionKind::Rewind | DecisionKind::Fork => String::new(),
    }
}

/// What nobody knows of the world outside, where the decision would leave it so: a sentence, and each effect.
fn unknown(
    kind: DecisionKind,
    run: &Run,
    effects: &[LeftBehind],
) -> Option<(String, Vec<LeftBehind>)> {
    let leaves = kind.leaves_unknown();
    let may = "it may have happened, not happened, or still be under way";
    match effects {
        _ if !leaves || !run.effects_unknown => None,
        [] => Some((
            format!("An effect of this run is unknown: {may}."),
            Vec::new(),
        )),
        [one] => {
            let step = format!("{} {}", words::number(one.seq), one.name);
            let said = format!("The effect of step {step} is unknown: {may}.");
            Some((said, effects.to_vec()))
        }
        several => {
            let n = words::number(several.len() as i64);
            let n = match several.len() < NAMED_MAX {
                true => n,
                false => format!("At least {n}"),
            };
            let said = format!(
                "{n} effects are unknown. Each may have happened, not happened, or still be under way:"
            );
            Some((said, several.to_vec()))
        }
    }
}

#[component]
pub fn DecideSheet(
    kind: DecisionKind,
    #[prop(into)] run: Signal<Option<Run>>,
    /// The run's effects of which nobody knows whether they happened.
    #[prop(into)]
    effects: Signal<Vec<LeftBehind>>,
    /// The question that is answered.
    asks: Option<String>,
    /// Where "Back" leads.
    back: String,
    #[prop(into)] busy: Signal<bool>,
    #[prop(into)] refused: Signal<Option<AppError>>,
    on_decide: Callback<Decide>,
) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let note = kind == DecisionKind::Note;
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let said = text.get_untracked().trim().to_owned();
        let needs_version = kind.needs_version() || kind == DecisionKind::Cancel;
        let version = run.with_untracked(|run| run.as_ref().map(|run| run.version));
        on_decide.run(Decide {
            if_version: version.filter(|_| needs_version),
            text: note.then(|| said.clone()),
            reason: (!note).then_some(said).filter(|it| !it.is_empty()),
            ..Decide::new(kind)
        });
    };
    let verb = match (kind, &asks) {
        (DecisionKind::Approve, Some(question)) => words::approve(question),
        _ => verb(kind).to_owned(),
    };
    let title = match note {
        true => "Add a note".to_owned(),
        false => verb.clone(),
    };
    let words = move || run.with(|run| run.as_ref().map(|run| consequence(kind, run)));
    let unknown = move || {
        let (run, effects) = (run.get()?, effects.get());
        unknown(kind, &run, &effects)
    };
    view! {
        <Dialog title back=back.clone()>
            {asks.map(|asks| view! { <p class="sheet-text"><b><bdi>{asks}</bdi></b></p> })}
            <p class="sheet-text">{words}</p>
            {move || unknown().map(|(said, each)| view! {
                <p class="sheet-text tone-crashed"><b><bdi>{said}</bdi></b></p>
                {(!each.is_empty()).then(|| view! { <UnknownEffects effects=each/> })}
            })}
            {move || refused.get().map(|error| view! { <Refusal error/> })}
            <form on:submit=submit on:keydown=keyboard::send_form>
                {(kind != DecisionKind::Claim).then(|| view! {
                    <label class="field">
                        {if note { "Note" } else { "Reason" }}
                        <textarea name="reason" rows="2" required=note || kind.needs_reason() maxlength="1000" autofocus=true
                            prop:value=move || text.get()
                            on:input=move |event| text.set(event_target_value(&event))></textarea>
                    </label>
                })}
                <div class="sheet-foot">
                    <a class="button" href=back>"Back"</a>
                    <button type="submit" class="button" class:primary=kind != DecisionKind::Cancel class:danger=kind == DecisionKind::Cancel disabled=move || busy.get()><bdi>{verb}</bdi></button>
                </div>
            </form>
        </Dialog>
    }
    .into_any()
}

/// What the page says once it is done: a run that a worker holds was only asked to stop.
pub fn said(answer: &DecideAnswer) -> String {
    let asked = answer.run.run.signal.is_some();
    words::capital(match (answer.decision.kind, asked) {
        (DecisionKind::Pause, false) => "paused".into(),
        (DecisionKind::Cancel, true) => "cancel requested".into(),
        (DecisionKind::Claim, _) => "you are on it".into(),
        (kind, _) => words::decided(kind).into(),
    })
}
