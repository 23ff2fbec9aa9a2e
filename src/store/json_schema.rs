//! JSON Schema: whether a value fits, and where it does not.
//!
//! A check is done on a thread of its own, never inside the writer nor on a thread that answers requests, and only
//! after its work was counted (`domain::rules::schema`): a checker cannot be stopped.

use serde_json::{Value, json};
use std::{sync::Arc, thread};
use tokio::sync::{Semaphore, oneshot};

use super::{
    Store,
    cache::{Cache, of_entries},
};
use crate::domain::{
    Code, Hash, Problem,
    rules::schema::{Graph, Wrong},
};

/// Places named in one refusal.
const NAMED: usize = 5;
/// Checks at the same time, and checks that may wait for their turn.
const THREADS: usize = 2;
const WAITING: usize = 64;
/// A checker calls itself for each subschema on its way down a value; the count allows 2,000 of them.
const STACK: usize = 64 << 20;
/// Schemas kept ready to be used.
const KEPT: usize = 64;
/// Where a pattern looks around or back, a match gives up after so many steps back.
const STEPS_BACK: usize = 2_000;
/// Bytes of a compiled pattern.
const PATTERN_SIZE: usize = 4 << 20;

/// A place in the value, and what the schema says against it.
pub type Misfit = (String, String);

/// Checks values; clones share threads and what is kept ready.
#[derive(Clone)]
pub struct Checker(Arc<Shared>);

struct Shared {
    threads: Semaphore,
    waiting: Semaphore,
    /// By the schema's hash.
    ready: Cache<Hash, Arc<Ready>>,
}

struct Ready {
    graph: Graph,
    validator: jsonschema::Validator,
}

impl Default for Checker {
    fn default() -> Self {
        Self(Arc::new(Shared {
            threads: Semaphore::new(THREADS),
            waiting: Semaphore::new(WAITING),
            ready: of_entries(KEPT),
        }))
    }
}

impl Checker {
    /// Refuses a value that the schema does not admit; the first place is the refusal's path, `under` names the value.
    pub async fn check(&self, under: &str, schema: Value, value: Value) -> Result<(), Problem> {
        let misfits = self.misfits(under, schema, value, NAMED).await?;
        let Some((path, _)) = misfits.first() else {
            return Ok(());
        };
        let path = format!("{under}{path}");
        let all: Vec<_> = misfits
            .iter()
            .map(|(path, why)| format!("{under}{path}: {why}"))
            .collect();
        // The same apart, for a form that says each at its field: pointers inside the value.
        let each: Vec<_> = misfits
            .iter()
            .map(|(at, why)| json!({"at": at, "why": why}))
            .collect();
        let problem = Problem::new(Code::Invalid, all.join("; "));
        Err(problem.with("path", path).with("errors", each))
    }

    /// What the schema says against the value, the first few. Refused are a schema that cannot be used, and a value
    /// that would take too long to check.
    pub async fn misfits(
        &self,
        under: &str,
        schema: Value,
        value: Value,
        most: usize,
    ) -> Result<Vec<Misfit>, Problem> {
        let busy = || {
            Problem::new(
                Code::Busy,
                "many values are being checked by their schemas; try again shortly",
            )
        };
        let _waiting = self.0.waiting.try_acquire().map_err(|_| busy())?;
        let _thread = self.0.threads.acquire().await.map_err(|_| busy())?;
        let (answer, checked) = oneshot::channel();
        let (shared, under) = (self.clone(), under.to_owned());
        let check = move || {
            let found = shared.found(&under, &schema, &value, most);
            // The caller may have gone away, and with it the receiver.
            let _ = answer.send(found);
        };
        let started = thread::Builder::new()
            .name("schema".into())
            .stack_size(STACK)
            .spawn(check);
        if let Err(error) = started {
            tracing::error!(%error, "no thread to check a value by its schema");
            return Err(busy());
        }
        checked
            .await
            .map_err(|_| unusable("the checker gave up on it"))?
    }

    fn found(
        &self,
        under: &str,
        schema: &Value,
        value: &Value,
        most: usize,
    ) -> Result<Vec<Misfit>, Problem> {
        let ready = self.ready(schema)?;
        let work = ready.graph.work(value);
        let work = work.map_err(|wrong| Problem::invalid(under, wrong.why))?;
        if ready.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        if !work.explains() {
            let why = "the value does not fit its schema; it is too large to say where";
            return Ok(vec![(String::new(), why.into())]);
        }
        let errors = ready.validator.iter_errors(value).take(most);
        let said = errors.map(|error| {
            let place = error.instance_path().as_str().to_owned();
            (place, short(&error.to_string()))
        });
        Ok(said.collect())
    }

    /// The schema, ready to be used; one that was stored before it was bounded is refused here.
    fn ready(&self, schema: &Value) -> Result<Arc<Ready>, Problem> {
        let hash = Hash::of(schema);
        if let Some(ready) = self.0.ready.get(&hash) {
            return Ok(ready);
        }
        let graph = Graph::of(schema).map_err(|wrong: Wrong| unusable(wrong))?;
        let options = jsonschema::options().offline();
        // The engine that never goes back takes time in step with the text; it cannot look around.
        let options = match graph.looks {
            false => options
                .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(PATTERN_SIZE)),
            true => options.with_pattern_options(
                jsonschema::PatternOptions::fancy_regex()
                    .backtrack_limit(STEPS_BACK)
                    .size_limit(PATTERN_SIZE),
            ),
        };
        let validator = options.build(schema).map_err(unusable)?;
        let ready = Arc::new(Ready { graph, validator });
        self.0.ready.insert(hash, ready.clone());
        Ok(ready)
    }
}

impl Store {
    /// Refuses a schema by which nothing can be checked, where it is registered: at a gate nobody could answer it later.
    pub async fn schema_is_usable(&self, path: &str, schema: Option<Value>) -> Result<(), Problem> {
        let Some(schema) = schema else { return Ok(()) };
        match self.schemas.misfits(path, schema, Value::Null, 0).await {
            Err(problem) if problem.code == Code::DecisionRefused => {
                Err(Problem::invalid(path, problem.detail))
            }
            other => other.map(drop),
        }
    }

    /// What a schema says against a state, the first few.
    pub async fn misfits(
        &self,
        schema: Value,
        state: Value,
        most: usize,
    ) -> Result<Vec<Misfit>, Problem> {
        self.schemas.misfits("state", schema, state, most).await
    }
}

fn unusable(why: impl std::fmt::Display) -> Problem {
    let why = format!("the schema itself cannot be used: {why}");
    Problem::new(Code::DecisionRefused, &why).with("why", &why)
}

/// An error quotes the value, which may be long.
fn short(text: &str) -> String {
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_value_that_does_not_fit_is_refused_with_its_place() {
        let checker = Checker::default();
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let check = |schema: &Value, value: Value| {
            let (checker, schema) = (checker.clone(), schema.clone());
            async move { checker.check("state", schema, value).await }
        };
        assert_eq!(check(&schema, json!({"n": 1})).await, Ok(()));
        let problem = check(&schema, json!({"n": "one"})).await.unwrap_err();
        assert_eq!(problem.fields["path"], "state/n");
        assert_eq!(problem.fields["errors"][0]["at"], "/n");
        assert!(problem.detail.contains("state/n"), "{problem}");
        let broken = check(&json!({"type": "nonsense"}), json!(1)).await;
        assert_eq!(broken.unwrap_err().code, Code::DecisionRefused);
    }

    #[tokio::test]
    async fn a_hostile_schema_that_an_earlier_version_stored_is_refused_where_it_is_used() {
        let twice = |next: &str| json!({"anyOf": [{"$ref": next}, {"$ref": next}]});
        let mut defs = json!({"l25": {"type": "string"}});
        for level in 0..25 {
            defs[format!("l{level}")] = twice(&format!("#/$defs/l{}", level + 1));
        }
        let schema = json!({"$defs": defs, "$ref": "#/$defs/l0"});
        let refused = Checker::default().check("state", schema, json!(1)).await;
        let problem = refused.unwrap_err();
        assert_eq!(problem.code, Code::DecisionRefused);
        assert!(problem.detail.contains("questions"), "{problem}");
    }

    /// The worst that is let through, so that a change of the bounds shows what it costs.
    #[tokio::test]
    async fn the_worst_that_is_let_through_is_checked_to_its_end() {
        let checker = Checker::default();
        let each = json!({"type": "object", "properties": {"kind": {"const": "x"}, "of": {"$ref": "#/$defs/t"}}});
        let union = json!({"$defs": {"t": {"anyOf": [each, each, {"type": "string"}]}}, "$ref": "#/$defs/t"});
        let deep = |n: usize| (0..n).fold(json!(1), |inner, _| json!({"kind": "x", "of": inner}));
        let depth = (1..128).take_while(|n| {
            let graph = Graph::of(&union).unwrap();
            graph.work(&deep(*n)).is_ok()
        });
        let deepest = depth.last().unwrap();
        assert!(deepest > 12, "{deepest}");
        let refused = checker.check("state", union.clone(), deep(deepest)).await;
        assert_eq!(refused.unwrap_err().code, Code::Invalid);
        let refused = checker.check("state", union, deep(100)).await.unwrap_err();
        assert!(refused.detail.contains("too much work"), "{refused}");
        let looking = json!({"items": {"pattern": "^(?=(a+)+$)(a+)+$"}});
        let list = Value::from(vec![json!(format!("{}b", "a".repeat(60))); 500]);
        let refused = checker.check("state", looking, list).await.unwrap_err();
        assert_eq!(refused.code, Code::Invalid);
    }
}
