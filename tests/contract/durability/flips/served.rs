//! All that a store answers to agents and people, to be compared before and after something happened to it.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use step47::{
    domain::{
        Problem, Run, RunId, RunQuery, Step,
        nouns::{access::Token, audit::AuditQuery},
        rules::plan::PlanQuery,
        views::{
            diff_sheet::DiffQuery,
            timeline::{Axis, CELLS_MIN, Look, TimelineQuery},
            words,
        },
        wire::protocol::TagQuery,
    },
    store::Store,
};

/// Runs and rows that one look asks for: more than the history has.
const MANY: i64 = 200;
const STEPS: &str = "steps";
const WINDOW: &str = "window";
/// Steps and snapshots of a run that are asked for one by one.
const DETAILED_MAX: i64 = 5;

/// Answers by the question; a refusal has none.
#[derive(Default)]
pub struct Served {
    answers: BTreeMap<String, Option<Value>>,
    /// When steps began and ended, in microseconds, by the question for the picture that they are in.
    spans: BTreeMap<String, Vec<(i64, i64)>>,
}

impl Served {
    pub async fn by(store: &Store) -> Self {
        let mut served = Self::default();
        let all = RunQuery {
            limit: MANY,
            ..RunQuery::default()
        };
        let runs = store.runs(&all).await;
        let listed = runs.as_ref().map_or(Vec::new(), |page| page.runs.clone());
        let ids: Vec<RunId> = listed.iter().map(|run| run.id.clone()).collect();
        served.keep("runs", runs);
        served.keep("needs you", store.needs_you(50).await);
        served.keep("inbox", store.inbox(None, MANY).await);
        served.keep("events", store.events(0, None, MANY).await);
        served.keep("audit", store.audit(&AuditQuery::default(), MANY).await);
        served.keep("integrity", store.integrity().await);
        served.keep("users", store.users().await.map_err(|it| it.problem()));
        let mut tokens = store.tokens().await.map_err(|it| it.problem());
        // When one was last used is written again as it is used: what is damaged of it is reported, and not shown.
        let unused = |token: &mut Token| token.used_at = None;
        tokens.iter_mut().flatten().for_each(unused);
        served.keep("tokens", tokens);
        served.keep("some runs", store.some_runs(&ids).await);
        for run in listed {
            served.run(store, &run).await;
        }
        served
    }

    async fn run(&mut self, store: &Store, run: &Run) {
        let id = &run.id;
        let named = |what: &str| format!("{what} of {id}");
        self.keep(named("run"), store.run(id).await);
        // How much there is to ask for is not known of a damaged run.
        if run.damaged {
            return;
        }
        let over = run.status.over();
        let steps = store.steps(id, 0, MANY).await;
        if let Ok(page) = &steps {
            let span = |step: &Step| (step.begun_at.0, step.ended_at.unwrap_or_default().0);
            let spans = page.steps.iter().map(span).collect();
            self.spans
                .insert(named(&format!("{:?}", Axis::Time)), spans);
        }
        self.keep(named(STEPS), steps);
        let window = store.step_window(id, None, None).await;
        self.keep(named(WINDOW), window.map(|it| json!({"steps": it.steps})));
        self.keep(named("decisions"), store.decisions(id, None, MANY).await);
        let tags = TagQuery {
            run: Some(id.clone()),
            full: true,
            ..TagQuery::default()
        };
        self.keep(named("tags"), store.tags(&tags).await);
        self.keep(named("plan"), store.plan(id, &PlanQuery::default()).await);
        for axis in [Axis::Steps, Axis::Time] {
            // A picture in time of what still goes on is another one each time.
            if axis == Axis::Time && !over {
                continue;
            }
            let query = TimelineQuery {
                axis,
                window: None,
                cells: CELLS_MIN,
                fold: None,
            };
            let mut picture = store.timeline(id, &query).await;
            if let Ok(picture) = &mut picture {
                picture.bars.retain(|bar| over || bar.look != Look::Waiting);
            }
            self.keep(named(&format!("{axis:?}")), picture);
        }
        let diff = store.compare(id, &DiffQuery::default()).await;
        self.keep(named("diff"), diff.map(|it| it.answer()));
        let before = store.durations_before(id, run.steps, "s").await;
        self.keep(named("durations"), before);
        for seq in 1..=run.steps.min(DETAILED_MAX) {
            self.keep(named(&format!("step {seq}")), store.step(id, seq).await);
        }
        for n in 0..=run.snapshot.min(DETAILED_MAX) {
            self.keep(named(&format!("snapshot {n}")), store.snapshot(id, n).await);
        }
        self.keep(named("state"), store.state_after(id, run.steps).await);
    }

    fn keep(&mut self, what: impl Into<String>, answer: Result<impl Serialize, Problem>) {
        self.answers
            .insert(what.into(), answer.ok().map(|it| json!(it)));
    }

    /// All answers, to be kept and compared with those of a later version.
    pub fn recorded(&self) -> Value {
        json!(self.answers)
    }

    /// Everything was answered.
    pub fn is_whole(&self) {
        let refused: Vec<_> = self.answers.iter().filter(|(_, it)| it.is_none()).collect();
        assert!(refused.is_empty(), "{refused:?}");
        assert!(
            self.answers.len() > 50,
            "only {} answers",
            self.answers.len()
        );
    }

    /// Those of these questions that were not answered.
    pub fn refused<const N: usize>(&self, asked: [&'static str; N]) -> Vec<&'static str> {
        let answered = |what: &&str| matches!(self.answers.get(*what), Some(Some(_)));
        asked.into_iter().filter(|what| !answered(what)).collect()
    }

    /// An answer that is neither what it was when all was `good`, nor a refusal, nor says that it is damaged. Rows of a
    /// list that a damaged index hides are none: only verification misses them.
    pub fn wrong(&self, good: &Self) -> Option<String> {
        self.answers.iter().find_map(|(what, answer)| {
            let answer = answer.as_ref()?;
            // Which steps a window shows depends on where phases end.
            let like = what.replace(WINDOW, STEPS);
            match good.answers.get(&like) {
                Some(Some(was)) => {
                    let mut answer = answer.clone();
                    let bars = answer.get_mut("bars").and_then(Value::as_array_mut);
                    if let (Some(spans), Some(bars)) = (good.spans.get(what), bars) {
                        bars.retain(|bar| !is_true(bar, spans));
                    }
                    differs(was, &answer).map(|how| format!("{what}{how}"))
                }
                _ => Some(format!("{what}, which was not there before: {answer}")),
            }
        })
    }
}

/// A bar over more or fewer steps than before, from the begin of its first to the end of its last.
fn is_true(bar: &Value, spans: &[(i64, i64)]) -> bool {
    let number = |at: usize| bar[at].as_i64().unwrap_or_default();
    let step = |seq: i64| spans.get(usize::try_from(seq - 1).unwrap_or(usize::MAX));
    let (first, last) = (number(0), number(0) + number(1));
    let (begins, ends) = (step(first).map(|it| it.0), step(last).map(|it| it.1));
    bar[4] == "committed" && begins == Some(number(2)) && ends == Some(number(2) + number(3))
}

/// Where an answer differs from what it was, though it does not say that it is damaged.
fn differs(was: &Value, is: &Value) -> Option<String> {
    if was == is || says_damaged(is) {
        return None;
    }
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            // What is passed by is not counted, the clock goes on, and idle is what no bar covers.
            let passed = ["now", "next", "more", "damaged", "idle", "folds"];
            let keys = is.iter().filter(|(key, _)| !passed.contains(&key.as_str()));
            keys.into_iter().find_map(|(key, value)| {
                let how = differs(was.get(key).unwrap_or(&Value::Null), value)?;
                Some(format!(" › {key}{how}"))
            })
        }
        (Value::Array(was), Value::Array(is)) => is.iter().find_map(|item| {
            let known = was.iter().any(|it| differs(it, item).is_none());
            (!known).then(|| format!(" › {item}"))
        }),
        _ => Some(format!(": {is} instead of {was}")),
    }
}

fn says_damaged(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(words::DAMAGED),
        Value::Array(items) => items.iter().any(|it| it == "damaged"),
        Value::Object(fields) => {
            let mark = |key: &str| fields.get(key).is_some_and(|it| *it == json!(true));
            let look = fields.get("look").is_some_and(|it| it == "damaged");
            // A plan names the steps whose record is damaged, and leaves them out.
            let named = fields
                .get("integrity")
                .and_then(|it| it["damaged"].as_array());
            mark("damaged") || look || named.is_some_and(|it| !it.is_empty())
        }
        _ => false,
    }
}
