//! What a request may hold: every limit, with an error that names the field and the limit.

use serde_json::Value;

use super::{
    decision_fields::{CHOICES, NEEDED_BY, TAKEN_BY},
    *,
};
use crate::domain::{
    nouns::ordered_json::OrderedJson,
    rules::schema,
    wire::{json, patch, problem::Problem},
};

/// Bytes of a run's state.
pub const STATE_MAX: usize = 16 << 20;
/// JSON values in a body, and in a run's state: a megabyte of small ones costs more than sixteen of text.
pub const VALUES_MAX: usize = 1_000_000;
/// Log lines kept per attempt; older ones go.
pub const LOG_LINES_MAX: usize = 1_000;
pub const NAME_MAX: usize = 200;
pub const TITLE_MAX: usize = 500;
pub const TEXT_MAX: usize = 10_000;
pub const LABELS_MAX: usize = 32;
pub const LABEL_KEY_MAX: usize = 64;
pub const LABEL_MAX: usize = 256;
pub const LINKS_MAX: usize = 32;
pub const URL_MAX: usize = 2_000;
pub const REFS_MAX: usize = 256;
pub const PLAN_MAX: usize = 1_000;
pub const PATCH_MAX: usize = 100_000;
pub const CHOICES_MAX: usize = 1_000;
pub const AGENTS_MAX: usize = 64;
pub const GATE_CHOICES_MAX: usize = 64;
pub const TARGET_MAX: usize = 1_000;
pub const QUESTION_MAX: usize = 1_000;
pub const ERROR_MESSAGE_MAX: usize = 100_000;
pub const ERROR_STACK_MAX: usize = 1_000_000;
pub const IDEMPOTENCY_KEY_MAX: usize = 256;
pub const TAG_SPACE_MAX: usize = 1_000;
pub const TAG_ID_MAX: usize = 256;
/// Bytes of what a tag says beside its name.
pub const TAG_META_MAX: usize = 1 << 20;
pub const LOG_LEVEL_MAX: usize = 20;
pub const TTL_MS: (i64, i64) = (1_000, 3_600_000);
pub const WAIT_MS: (i64, i64) = (0, 60_000);
pub const SLEEP_MS: (i64, i64) = (0, YEAR_MS);
pub const DEDUPE_MS: (i64, i64) = (0, YEAR_MS);
pub const BACKOFF_MS: (i64, i64) = (0, 24 * 3_600_000);
pub const ATTEMPTS: (i64, i64) = (1, 1_000);
pub const RECOVERIES: (i64, i64) = (0, 1_000_000);
pub const TOKENS: (i64, i64) = (0, 1 << 50);
pub const COST_USD: (f64, f64) = (0.0, 1e9);
pub const PAGE: (i64, i64) = (1, 1_000);
const YEAR_MS: i64 = 366 * 24 * 3_600_000;

type Checked = Result<(), Problem>;

/// Places in the bodies where an object is expected; serde alone would take a list of its fields as well.
pub const OBJECTS: &[&str] = &[
    "",
    "/effect",
    "/gate",
    "/retry",
    "/usage",
    "/error",
    "/parent",
    "/labels",
    "/links/*",
    "/refs/*",
    "/plan/*",
    "/plan/*/effect",
    "/log/*",
    "/patch/*",
    "/choices/*",
    "/choices/*/patch/*",
    "/next",
    "/next/effect",
    "/next/gate",
    "/next/retry",
    "/next/links/*",
    "/next/refs/*",
    "/tag",
    "/tag/meta",
];

/// A body that knows its own limits.
pub trait Check {
    fn check(&self) -> Checked;
}

fn text(path: &str, value: &str, min: usize, max: usize) -> Checked {
    let len = value.chars().count();
    match (min..=max).contains(&len) {
        true => Ok(()),
        false => Err(Problem::invalid(
            path,
            format!("must have {min}–{max} characters, not {len}"),
        )),
    }
}

fn name(path: &str, value: &str) -> Checked {
    text(path, value, 1, NAME_MAX)
}

fn optional(path: &str, value: Option<&String>) -> Checked {
    value.map_or(Ok(()), |v| text(path, v, 0, NAME_MAX))
}

pub fn range(path: &str, value: i64, (min, max): (i64, i64)) -> Checked {
    match (min..=max).contains(&value) {
        true => Ok(()),
        false => Err(Problem::invalid(
            path,
            format!("must be {min}…{max}, not {value}"),
        )),
    }
}

fn at_most(path: &str, len: usize, max: usize) -> Checked {
    match len <= max {
        true => Ok(()),
        false => Err(Problem::invalid(
            path,
            format!("has {len} entries; the limit is {max}"),
        )),
    }
}

fn value(path: &str, value: &Value) -> Checked {
    json::check_depth(path, value)
}

fn links(links: &[Link]) -> Checked {
    at_most("links", links.len(), LINKS_MAX)?;
    links.iter().enumerate().try_for_each(|(i, link)| {
        name(&format!("links/{i}/label"), &link.label)?;
        let path = format!("links/{i}/url");
        text(&path, &link.url, 1, URL_MAX)?;
        match link.is_web() {
            true => Ok(()),
            false => Err(Problem::invalid(
                path,
                "must start with http:// or https://",
            )),
        }
    })
}

fn effect(path: &str, effect: Option<&Effect>) -> Checked {
    let Some(effect) = effect else { return Ok(()) };
    text(&format!("{path}/target"), &effect.target, 1, TARGET_MAX)?;
    text(
        &format!("{path}/description"),
        effect.description.as_deref().unwrap_or(""),
        0,
        TEXT_MAX,
    )?;
    effect.dedupe_ms.map_or(Ok(()), |ms| {
        range(&format!("{path}/dedupe_ms"), ms, DEDUPE_MS)
    })
}

fn ttl(ttl_ms: i64) -> Checked {
    range("ttl_ms", ttl_ms, TTL_MS)
}

fn usage(usage: Option<&Usage>) -> Checked {
    let Some(usage) = usage else { return Ok(()) };
    for (path, tokens) in [
        ("input_tokens", usage.input_tokens),
        ("output_tokens", usage.output_tokens),
    ] {
        range(&format!("usage/{path}"), tokens.unwrap_or(0), TOKENS)?;
    }
    match usage.cost_usd.unwrap_or(0.0) {
        cost if (COST_USD.0..=COST_USD.1).contains(&cost) => Ok(()),
        cost => Err(Problem::invalid(
            "usage/cost_usd",
            format!("must be 0…1000000000, not {cost}"),
        )),
    }
}

fn error(error: &AgentError) -> Checked {
    name("error/kind", &error.kind)?;
    text("error/message", &error.message, 0, ERROR_MESSAGE_MAX)?;
    text(
        "error/stack",
        error.stack.as_deref().unwrap_or(""),
        0,
        ERROR_STACK_MAX,
    )
}

fn new_run(path: &str, id: Option<&RunId>) -> Checked {
    let named = id.map_or(Ok(()), RunId::reachable);
    named.map_err(|why| Problem::invalid(path, why))
}

fn schema(path: &str, schema: Option<&Value>) -> Checked {
    match schema {
        None => Ok(()),
        Some(schema @ Value::Object(_)) => schema::check(path, schema),
        Some(_) => Err(Problem::invalid(path, "must be a JSON Schema: an object")),
    }
}

/// A new state, whole or as a patch.
fn change(state: Option<&Value>, ops: Option<&[Op]>) -> Checked {
    if state.is_some() && ops.is_some() {
        return Err(Problem::invalid(
            "patch",
            "send either `state` or `patch`, not both",
        ));
    }
    value("state", state.unwrap_or(&Value::Null))?;
    let ops = ops.unwrap_or(&[]);
    at_most("patch", ops.len(), PATCH_MAX)?;
    for (i, op) in ops.iter().enumerate() {
        for pointer in [Some(op.path()), op.from()].into_iter().flatten() {
            patch::tokens(pointer).map_err(|why| Problem::invalid(format!("patch/{i}"), why))?;
        }
        value(
            &format!("patch/{i}/value"),
            op.value().unwrap_or(&Value::Null),
        )?;
    }
    Ok(())
}

fn tag(tag: Option<&Tag>) -> Checked {
    let Some(tag) = tag else { return Ok(()) };
    text("tag/space", &tag.space, 0, TAG_SPACE_MAX)?;
    text("tag/id", &tag.id, 1, TAG_ID_MAX)?;
    if tag.id.chars().any(char::is_control) {
        return Err(Problem::invalid(
            "tag/id",
            "must have printable characters only",
        ));
    }
    let Some(meta) = &tag.meta else { return Ok(()) };
    let meta = Value::Object(meta.clone());
    value("tag/meta", &meta)?;
    match json::canonical(&meta).len() > TAG_META_MAX {
        true => Err(Problem::too_large("tag/meta", TAG_META_MAX)),
        false => Ok(()),
    }
}

impl Check for CreateRun {
    fn check(&self) -> Checked {
        new_run("id", self.id.as_ref())?;
        name("agent", &self.agent)?;
        text("title", self.title.as_deref().unwrap_or(""), 0, TITLE_MAX)?;
        let mut short = self.short_texts().into_iter();
        short.try_for_each(|(field, text)| optional(field, text))?;
        value("input", &self.input)?;
        value("state", self.state.as_ref().unwrap_or(&Value::Null))?;
        schema("state_schema", self.state_schema.as_ref())?;
        at_most("labels", self.labels.len(), LABELS_MAX)?;
        self.labels.iter().try_for_each(|(key, label)| {
            text("labels", key, 1, LABEL_KEY_MAX)?;
            text(&format!("labels/{key}"), label, 0, LABEL_MAX)
        })?;
        links(&self.links)?;
        at_most("plan", self.plan.len(), PLAN_MAX)?;
        self.plan.iter().enumerate().try_for_each(|(i, step)| {
            name(&format!("plan/{i}/name"), &step.name)?;
            optional(&format!("plan/{i}/tool"), step.tool.as_ref())?;
            effect(&format!("plan/{i}/effect"), step.effect.as_ref())
        })?;
        self.parent
            .as_ref()
            .map_or(Ok(()), |p| range("parent/seq", p.seq, (1, i64::MAX)))?;
        range("max_recoveries", self.max_recoveries, RECOVERIES)
    }
}

impl Check for LeaseRun {
    fn check(&self) -> Checked {
        name("worker", &self.worker)?;
        optional("version", self.version.as_ref())?;
        optional("model", self.model.as_ref())?;
        schema("state_schema", self.state_schema.as_ref())?;
        ttl(self.ttl_ms)
    }
}

impl Check for ClaimRun {
    fn check(&self) -> Checked {
        name("worker", &self.worker)?;
        optional("version", self.version.as_ref())?;
        optional("model", self.model.as_ref())?;
        let agents = self.agents.as_deref().unwrap_or(&[]);
        at_most("agents", agents.len(), AGENTS_MAX)?;
        agents
            .iter()
            .enumerate()
            .try_for_each(|(i, agent)| name(&format!("agents/{i}"), agent))?;
        ttl(self.ttl_ms)?;
        range("wait_ms", self.wait_ms, WAIT_MS)
    }
}

impl Check for Heartbeat {
    fn check(&self) -> Checked {
        self.ttl_ms.map_or(Ok(()), ttl)
    }
}

impl Check for NextStep {
    fn check(&self) -> Checked {
        name("name", &self.name)?;
        optional("tool", self.tool.as_ref())?;
        value("input", &self.input)?;
        effect("effect", self.effect.as_ref())?;
        let retry = self.retry.unwrap_or_default();
        range("retry/max_attempts", retry.max_attempts, ATTEMPTS)?;
        range("retry/backoff_ms", retry.backoff_ms, BACKOFF_MS)?;
        match (&self.gate, self.kind) {
            (Some(_), kind) if kind != Kind::Gate => {
                return Err(Problem::invalid("gate", "only a step of kind gate has one"));
            }
            (None, Kind::Gate) => {
                return Err(Problem::invalid(
                    "gate",
                    "a step of kind gate needs its question",
                ));
            }
            (Some(gate), _) => {
                text("gate/title", &gate.title, 1, QUESTION_MAX)?;
                value(
                    "gate/context",
                    gate.context.as_ref().unwrap_or(&Value::Null),
                )?;
                schema(
                    "gate/schema",
                    gate.schema.as_ref().map(OrderedJson::value).as_ref(),
                )?;
                at_most(
                    "gate/choices",
                    gate.choices.as_ref().map_or(0, Vec::len),
                    GATE_CHOICES_MAX,
                )?;
            }
            (None, _) => {}
        }
        at_most("refs", self.refs.len(), REFS_MAX)?;
        self.refs
            .iter()
            .enumerate()
            .try_for_each(|(i, reference)| {
                text(&format!("refs/{i}/uri"), &reference.uri, 1, URL_MAX)?;
                text(&format!("refs/{i}/hash"), &reference.hash, 1, NAME_MAX)
            })?;
        links(&self.links)
    }
}

impl Check for CommitStep {
    fn check(&self) -> Checked {
        value("result", &self.result)?;
        change(self.state.as_ref(), self.patch.as_deref())?;
        range("base", self.base.unwrap_or(0), (0, i64::MAX))?;
        usage(self.usage.as_ref())?;
        tag(self.tag.as_ref())?;
        let next = self.next.as_ref().map_or(Ok(()), NextStep::check);
        next.map_err(|problem| problem.under("next"))
    }
}

impl Check for SaveState {
    fn check(&self) -> Checked {
        if self.state.is_none() && self.patch.is_none() {
            let why = "send the new `state`, or a `patch`";
            return Err(Problem::invalid("state", why));
        }
        change(self.state.as_ref(), self.patch.as_deref())?;
        range("base", self.base.unwrap_or(0), (0, i64::MAX))?;
        tag(self.tag.as_ref())
    }
}

impl Check for FailStep {
    fn check(&self) -> Checked {
        error(&self.error)?;
        change(None, self.patch.as_deref())?;
        usage(self.usage.as_ref())
    }
}

impl Check for Progress {
    fn check(&self) -> Checked {
        value("partial", self.partial.as_ref().unwrap_or(&Value::Null))?;
        at_most("log", self.log.len(), LOG_LINES_MAX)?;
        self.log.iter().enumerate().try_for_each(|(i, line)| {
            text(&format!("log/{i}/level"), &line.level, 1, LOG_LEVEL_MAX)?;
            text(&format!("log/{i}/message"), &line.message, 0, TEXT_MAX)
        })
    }
}

impl Check for FinishRun {
    fn check(&self) -> Checked {
        value("result", &self.result)?;
        self.error.as_ref().map_or(Ok(()), error)
    }
}

impl Check for ReleaseRun {
    fn check(&self) -> Checked {
        if self.pause && self.after_ms.is_some() {
            let why =
                "send either `pause` or `after_ms`, not both: a paused run is not taken by time";
            return Err(Problem::invalid("pause", why));
        }
        range("after_ms", self.after_ms.unwrap_or(0), SLEEP_MS)
    }
}

impl Check for Decide {
    fn check(&self) -> Checked {
        value("result", self.result.as_ref().unwrap_or(&Value::Null))?;
        change(self.state.as_ref(), self.patch.as_deref())?;
        text("reason", self.reason.as_deref().unwrap_or(""), 0, TEXT_MAX)?;
        text("text", self.text.as_deref().unwrap_or(""), 0, TEXT_MAX)?;
        new_run("new_run_id", self.new_run_id.as_ref())?;
        at_most("again", self.again.len(), CHOICES_MAX)?;
        at_most("choices", self.choices.len(), CHOICES_MAX)?;
        self.choices
            .iter()
            .enumerate()
            .try_for_each(|(i, choice)| {
                let checked = choice.check();
                checked.map_err(|problem| problem.under(&format!("choices/{i}")))
            })?;
        self.fields()
    }
}

impl Decide {
    /// Each kind has its own fields: one that means nothing is a misunderstanding, and refused.
    fn fields(&self) -> Checked {
        let idle = |(field, kinds): &&(&str, &[DecisionKind])| {
            self.gives(field) && !kinds.contains(&self.kind)
        };
        if let Some((path, _)) = TAKEN_BY.iter().find(idle) {
            let why = format!("means nothing to {}", self.kind);
            return Err(Problem::invalid(*path, why));
        }
        if self.kind == DecisionKind::Edit && !self.gives("state") && !self.gives("patch") {
            let why = "send the new `state`, or a `patch`";
            return Err(Problem::invalid("state", why));
        }
        let missing = |(field, kinds): &&(&str, &[DecisionKind])| {
            kinds.contains(&self.kind) && !self.gives(field)
        };
        match NEEDED_BY.iter().find(missing) {
            Some((path, _)) => Err(Problem::invalid(*path, format!("{} needs it", self.kind))),
            None => Ok(()),
        }
    }
}

impl Check for Choice {
    fn check(&self) -> Checked {
        if !CHOICES.contains(&self.kind) {
            return Err(Problem::invalid("kind", "must be retry, commit or skip"));
        }
        Decide {
            step: Some(self.step),
            result: self.result.clone(),
            state: self.state.clone(),
            patch: self.patch.clone(),
            new_key: self.new_key,
            ..Decide::new(self.kind)
        }
        .check()
    }
}
