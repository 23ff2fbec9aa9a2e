use super::*;
use crate::domain::{
    nouns::{run::Run, sample, step::Effect},
    rules::plan::facts::StepFacts,
    views::pick::{self, Picked, Picks, Way},
};

fn step(seq: i64, status: StepStatus) -> StepFacts {
    StepFacts {
        seq,
        key: format!("k{seq}").try_into().unwrap(),
        name: "charge_card".into(),
        kind: Kind::Tool,
        tool: None,
        status,
        recovery: Recovery::Ask,
        effect: Some(Effect {
            target: "stripe.charges".into(),
            description: Some("charge €1,249.00 to cus_R91".into()),
            dedupe_ms: Some(1_000),
        }),
        idempotency_key: format!("r:{seq}"),
        generation: 1,
        keyed_at: Time(0),
        unknown: status == StepStatus::Crashed,
        given: false,
        retry_at: None,
        decision: None,
        error: None,
        cost_usd: Some(1.0),
        tries: 1,
        begun_at: Time(0),
        worker: None,
        heartbeat_at: None,
        evidence: None,
    }
}

fn made(run: &Run, steps: &[StepFacts], now: i64) -> Plan {
    plan(&Facts {
        run,
        busy_us: 2_000_000,
        steps,
        until: None,
        beyond: Saved::default(),
        announced: &[],
        edits: &[],
        refs: vec![],
        taker: Taker::default(),
        integrity: Checked::default(),
        now: Time(now),
    })
}

fn crashed() -> Run {
    Run {
        status: RunStatus::Crashed,
        steps: 47,
        ..sample::run("r")
    }
}

#[test]
fn a_crashed_effect_waits_for_a_decision_and_the_rest_is_replayed() {
    let run = crashed();
    let plan = made(
        &run,
        &[
            step(29, StepStatus::Superseded),
            step(47, StepStatus::Crashed),
        ],
        0,
    );
    assert_eq!(
        plan.replays,
        [Span { from: 1, to: 28 }, Span { from: 30, to: 46 }]
    );
    assert_eq!(plan.count(PlanAction::Replay), 45);
    assert_eq!((plan.from, plan.missing().count()), (Some(47), 1));
    assert_eq!(
        plan.steps[0].why,
        "effect unknown: look at stripe.charges, then choose"
    );
}

#[test]
fn a_window_that_is_over_is_said_and_does_not_change_the_plan() {
    let run = crashed();
    let ordered = StepFacts {
        decision: Some(DecisionKind::Retry),
        ..step(47, StepStatus::Crashed)
    };
    let (early, late) = (
        made(&run, std::slice::from_ref(&ordered), 0),
        made(&run, &[ordered], 1_000_000),
    );
    assert_eq!(early.steps[0].action, PlanAction::Execute);
    assert!(
        late.steps[0]
            .why
            .contains("the provider stopped recognising this key: it may happen twice"),
        "{}",
        late.steps[0].why
    );
    assert!(!early.steps[0].why.contains("twice"));
    assert_eq!(early.hash, late.hash);
}

#[test]
fn only_the_last_failed_step_of_a_failed_run_asks() {
    let run = Run {
        status: RunStatus::Failed,
        ..crashed()
    };
    let failed = |seq| StepFacts {
        effect: None,
        ..step(seq, StepStatus::Failed)
    };
    let plan = made(&run, &[failed(3), failed(9)], 0);
    let actions: Vec<_> = plan.steps.iter().map(|step| step.action).collect();
    assert_eq!(actions, [PlanAction::Replay, PlanAction::Decide]);
}

#[test]
fn a_decision_or_new_evidence_makes_it_another_plan() {
    let run = crashed();
    let base = step(47, StepStatus::Crashed);
    let first = made(&run, std::slice::from_ref(&base), 0).hash;
    let retried = StepFacts {
        decision: Some(DecisionKind::Retry),
        ..base.clone()
    };
    let evident = StepFacts {
        evidence: Some(crate::domain::nouns::attempt::Evidence {
            at: Time(5),
            epoch: Epoch(1),
            result: json!("ch_1"),
            truncated: false,
        }),
        ..base
    };
    assert_ne!(made(&run, &[retried], 0).hash, first);
    assert_ne!(made(&run, &[evident], 0).hash, first);
}

#[test]
fn a_rewind_leaves_named_what_happened_or_may_have() {
    let steps = [
        step(43, StepStatus::Committed),
        step(44, StepStatus::Failed),
        step(45, StepStatus::Superseded),
        step(47, StepStatus::Crashed),
    ];
    let left: Vec<_> = left_behind(&steps, Time(0))
        .iter()
        .map(|it| it.seq)
        .collect();
    assert_eq!(left, [43, 47]);
}

#[test]
fn a_skipped_step_still_says_that_its_attempt_may_have_happened() {
    let run = crashed();
    let skipped = StepFacts {
        unknown: true,
        given: true,
        decision: Some(DecisionKind::Skip),
        ..step(47, StepStatus::Skipped)
    };
    let doubt =
        "attempt 1 may have happened: charge €1,249.00 to cus_R91 (stripe.charges), key r:47";
    for given in [true, false] {
        let step = StepFacts {
            given,
            ..skipped.clone()
        };
        let plan = made(&run, &[step], 0);
        assert!(plan.steps[0].why.ends_with(doubt), "{}", plan.steps[0].why);
    }
    let mut looked_at = step(47, StepStatus::Crashed);
    let id = run.id.clone();
    let skip = crate::domain::wire::protocol::Choice::new(DecisionKind::Skip, 47);
    looked_at.chosen(&id, &skip);
    let why = made(&run, &[looked_at], 0).steps[0].why.clone();
    assert!(why.ends_with(doubt), "{why}");
    let mut happened = step(47, StepStatus::Crashed);
    let commit = crate::domain::wire::protocol::Choice::new(DecisionKind::Commit, 47);
    happened.chosen(&id, &commit);
    let why = made(&run, &[happened], 0).steps[0].why.clone();
    assert!(!why.contains("may have"), "{why}");
}

#[test]
fn a_plan_after_a_rewind_does_not_say_that_nothing_happens_again() {
    let run = crashed();
    let mut plan = made(&run, &[step(2, StepStatus::Superseded)], 0);
    assert_eq!(plan.executed_again(), "nothing recorded is executed again");
    plan.not_undone = left_behind(&[step(2, StepStatus::Committed)], Time(0));
    assert_eq!(
        plan.executed_again(),
        "1 effect that is not undone may happen again"
    );
    let retried = StepFacts {
        decision: Some(DecisionKind::Retry),
        ..step(47, StepStatus::Crashed)
    };
    let both = Plan {
        not_undone: plan.not_undone,
        ..made(&run, &[retried], 0)
    };
    assert_eq!(
        both.executed_again(),
        "1 recorded step is executed; 1 effect that is not undone may happen again"
    );
}

#[test]
fn a_plan_reads_the_same_until_its_run_moves() {
    let run = crashed();
    let before = made(&run, &[step(47, StepStatus::Crashed)], 500);
    let mut asked = before.clone();
    asked.taker.workers += 1;
    assert!(before.reads_like(&asked), "a worker asks for runs");
    let moved = Run {
        version: run.version + 1,
        ..run.clone()
    };
    let moved = made(&moved, &[step(47, StepStatus::Crashed)], 500);
    assert!(!before.reads_like(&moved));
    let over = made(&run, &[step(47, StepStatus::Crashed)], 2_000_000);
    assert!(!before.reads_like(&over), "the provider forgot the key");
}

#[test]
fn a_step_that_was_tried_again_asks_anew() {
    let run = crashed();
    let asks = |facts: StepFacts| made(&run, &[facts], 500).steps[0].clone();
    let before = asks(step(47, StepStatus::Crashed));
    assert!(asks(step(47, StepStatus::Crashed)).asks_like(&before));
    let again = StepFacts {
        tries: 2,
        ..step(47, StepStatus::Crashed)
    };
    assert!(!asks(again).asks_like(&before));
    let known = StepFacts {
        unknown: false,
        ..step(47, StepStatus::Crashed)
    };
    assert!(!asks(known).asks_like(&before));
}

#[test]
fn a_choice_stays_where_its_step_asks_the_same_and_typed_text_wherever_a_step_waits() {
    let run = crashed();
    let other = || step(48, StepStatus::Crashed);
    let before = made(&run, &[step(47, StepStatus::Crashed), other()], 500);
    let mine = Picked {
        way: Some(Way::NewKey),
        path: "/note".into(),
        value: "1".into(),
        ..Picked::default()
    };
    let picks = Picks::from([(47, mine.clone()), (48, mine.clone())]);
    let again = StepFacts {
        tries: 2,
        ..step(47, StepStatus::Crashed)
    };
    let kept = pick::kept(&before, &made(&run, &[again, other()], 500), &picks);
    assert_eq!(kept[&48], mine);
    let typed = Picked { way: None, ..mine };
    assert_eq!(kept[&47], typed, "it was tried again since");
    let kept = pick::kept(&before, &made(&run, &[other()], 500), &picks);
    assert_eq!(kept.len(), 1, "47 waits no more");
}
