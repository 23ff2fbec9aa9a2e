//! The plan is the truth: random histories of real agents, crashed where they may crash, decided on in every way, and
//! what then happens equals what the plan said.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};
use step47::{
    client::{Client, DecisionKind, Effect, Error, LeaseRun, Session, StepError},
    domain::{
        RunId, RunStatus,
        rules::plan::{Plan, PlanAction},
        wire::protocol::{Choice, Decide, ReleaseRun},
    },
};

use crate::server::{Server, create, lease};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Asks,
    Checks,
    /// Fails for good; the agent takes another branch.
    Fails,
}

/// What an agent does, where each of its lives ends, and what the operator answers.
#[derive(Debug, Clone)]
struct History {
    steps: Vec<Kind>,
    /// Each life dies inside this step, if it gets there.
    deaths: Vec<usize>,
    answers: Vec<(DecisionKind, bool)>,
    edits: bool,
}

fn history() -> impl Strategy<Value = History> {
    let kind = prop::sample::select(&[Kind::Plain, Kind::Asks, Kind::Checks, Kind::Fails][..]);
    let answer = prop::sample::select(
        &[
            DecisionKind::Retry,
            DecisionKind::Commit,
            DecisionKind::Skip,
        ][..],
    );
    (
        prop::collection::vec(kind, 1..7),
        prop::collection::vec(0..7usize, 1..4),
        prop::collection::vec((answer, any::<bool>()), 8),
        any::<bool>(),
    )
        .prop_map(|(steps, deaths, answers, edits)| History {
            steps,
            deaths,
            answers,
            edits,
        })
}

/// What happened to each step in one life of the agent.
type Happened = Arc<Mutex<BTreeMap<String, PlanAction>>>;

async fn live(
    session: Session<u64>,
    steps: Vec<Kind>,
    dies: Option<usize>,
    seen: Happened,
) -> Result<u64, Error> {
    for (i, kind) in steps.into_iter().enumerate() {
        let key = format!("k{i}");
        let saw = |action| {
            let (seen, key) = (seen.clone(), key.clone());
            move || {
                seen.lock().unwrap().entry(key.clone()).or_insert(action);
            }
        };
        let (worked, looked, folded) = (
            saw(PlanAction::Execute),
            saw(PlanAction::Check),
            saw(PlanAction::Given),
        );
        let looked = Arc::new(looked);
        let mut step = session.step(&key, "work");
        if matches!(kind, Kind::Asks | Kind::Checks) {
            let effect = Effect {
                target: "bank".into(),
                description: None,
                dedupe_ms: None,
            };
            step = step.effect(effect);
        }
        if kind == Kind::Checks {
            let looked = looked.clone();
            step = step.check(move |_| {
                let looked = looked.clone();
                async move {
                    (*looked)();
                    Ok(None)
                }
            });
        }
        let done = step
            .run(
                |_| {
                    let worked = worked.clone();
                    async move {
                        worked();
                        if dies == Some(i) {
                            std::future::pending::<()>().await;
                        }
                        match kind {
                            Kind::Fails => Err(StepError::new("Broken", "for good")
                                .for_good()
                                .nothing_happened()),
                            _ => Ok(1u64),
                        }
                    }
                },
                |sum, n| {
                    folded();
                    *sum += n;
                },
            )
            .await;
        match done {
            Ok(_) | Err(Error::Failed(_)) => saw(PlanAction::Replay)(),
            Err(error) => return Err(error),
        }
    }
    Ok(0)
}

/// One life: until it dies inside a step, ends, or is held. Says what happened in it.
async fn life(
    client: &Client,
    id: &RunId,
    history: &History,
    dies: Option<usize>,
) -> BTreeMap<String, PlanAction> {
    let seen = Happened::default();
    let session: Session<u64> = client
        .open(create(id.as_str()), lease(60_000))
        .await
        .unwrap();
    let work = tokio::spawn(live(
        session.clone(),
        history.steps.clone(),
        dies,
        seen.clone(),
    ));
    let at = dies.map(|i| format!("k{i}"));
    // It is inside the step that it dies in, or it has ended by itself.
    let inside = async {
        loop {
            let there = at.as_ref().is_some_and(|at| {
                matches!(
                    seen.lock().unwrap().get(at),
                    Some(PlanAction::Execute | PlanAction::Check)
                )
            });
            if there || work.is_finished() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    inside.await;
    match work.is_finished() {
        true => {
            let outcome = work.await.unwrap();
            let _ = session.settle(outcome).await;
        }
        false => {
            work.abort();
            let _ = work.await;
            vouch_dead(client, id).await;
        }
    }
    seen.lock().unwrap().clone()
}

/// The process is dead: its lease ends at once.
async fn vouch_dead(client: &Client, id: &RunId) {
    let takeover = LeaseRun {
        takeover: true,
        ..lease(60_000)
    };
    if let Ok(answer) = client.lease(id, &takeover).await {
        let release = ReleaseRun {
            epoch: answer.epoch,
            after_ms: None,
            pause: false,
        };
        client.release(id, &release).await.unwrap();
    }
}

/// Decides whatever the plan asks for, each in its own way, and resumes on that plan.
async fn decide(operator: &Client, id: &RunId, history: &History, edits: bool) {
    let decide = move |body: Decide| async move {
        let version = operator.run(id).await.unwrap().run.version;
        let body = Decide {
            if_version: Some(version),
            reason: Some("looked".into()),
            ..body
        };
        operator.decide(id, &body).await.unwrap()
    };
    if edits {
        decide(Decide {
            state: Some(json!(100)),
            ..Decide::new(DecisionKind::Edit)
        })
        .await;
    }
    let plan = operator.plan(id).await.unwrap();
    let choices = plan.missing().filter_map(|step| step.seq).map(|seq| {
        let (kind, new_key) = history.answers[seq as usize % history.answers.len()];
        Choice {
            result: (kind != DecisionKind::Retry).then_some(json!(7)),
            new_key: new_key && kind == DecisionKind::Retry,
            ..Choice::new(kind, seq)
        }
    });
    let body = Decide {
        choices: choices.collect(),
        plan: Some(plan.hash),
        ..Decide::new(DecisionKind::Resume)
    };
    decide(body).await;
}

fn equals(plan: &Plan, happened: &BTreeMap<String, PlanAction>) -> Result<(), TestCaseError> {
    for step in plan.steps.iter().filter(|step| step.seq.is_some()) {
        let key = step.key.as_ref().expect("a key").to_string();
        // A life that ended earlier says nothing of later steps.
        if let Some(was) = happened.get(&key) {
            prop_assert_eq!(*was, step.action, "step {:?}: {}", step.seq, step.why);
        }
    }
    Ok(())
}

async fn holds(
    server: &Server,
    operator: &Client,
    id: RunId,
    history: History,
) -> Result<(), TestCaseError> {
    let client = &server.client;
    life(client, &id, &history, history.deaths.first().copied()).await;
    let lives = history
        .deaths
        .iter()
        .skip(1)
        .map(|at| Some(*at))
        .chain([None]);
    for dies in lives {
        match client.run(&id).await.unwrap().run.status {
            RunStatus::Ready => {}
            RunStatus::Crashed | RunStatus::Failed => {
                decide(operator, &id, &history, history.edits).await
            }
            _ => return Ok(()),
        }
        let plan = operator.plan(&id).await.unwrap();
        prop_assert_eq!(plan.missing().count(), 0);
        let happened = life(client, &id, &history, dies).await;
        equals(&plan, &happened)?;
    }
    Ok(())
}

#[test]
fn what_happens_is_what_the_plan_said() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (server, operator) = runtime.block_on(async {
        let server = Server::start().await;
        let operator = server.operator().await;
        (server, operator)
    });
    let cases = if std::env::var("STEP47_TORTURE").is_ok() {
        1_000
    } else {
        24
    };
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 60,
        ..Config::default()
    };
    let count = std::cell::Cell::new(0);
    let outcome = TestRunner::new(config).run(&history(), |history| {
        count.set(count.get() + 1);
        let id: RunId = format!("history-{}", count.get()).parse().unwrap();
        runtime.block_on(holds(&server, &operator, id, history))
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
