//! The bodies of the agent protocol `/v1`: what is asked and what is answered.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::domain::{
    diff::Change,
    nouns::{
        attempt::Usage,
        event::Event,
        ids::{Epoch, RunId, StepKey},
        run::{Link, OnCrash, Parent, Run, RunDetail},
        step::{AgentError, Effect, Kind, Step, StepDetail},
        time::Time,
    },
    rules::{
        begin::BeginOutcome,
        decision::{Decision, DecisionKind, Signal},
        failure::EffectKnown,
    },
    tree::hash::Hash,
    wire::patch::Op,
};

mod begun;
pub mod decision_fields;
pub mod limits;
mod made;
mod tags;

pub use begun::{BeginStep, NextStep};
pub use limits::{Check, LOG_LINES_MAX, OBJECTS, STATE_MAX, VALUES_MAX};
pub use tags::{Tag, TagName, TagPage, TagQuery, Tagged};

/// Tells an explicit `null` from an absent field.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

macro_rules! bodies {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $ty:ty,)*
    })+) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
        }
    )+};
}

bodies! {
    /// A step that the agent expects to take.
    #[serde(deny_unknown_fields)]
    PlannedStep {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<StepKey>,
        name: String,
        #[serde(default)]
        kind: Kind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<Effect>,
    }

    /// `POST /v1/runs`
    #[serde(deny_unknown_fields)]
    CreateRun {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RunId>,
        agent: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        input: Value,
        /// The initial state, snapshot 0; `{}` if absent.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        state: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state_schema: Option<Value>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        labels: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        links: Vec<Link>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Parent>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        plan: Vec<PlannedStep>,
        #[serde(default)]
        on_crash: OnCrash,
        #[serde(default = "three")]
        max_recoveries: i64,
    }

    /// `POST /v1/runs/{id}/lease`
    #[serde(deny_unknown_fields)]
    LeaseRun {
        worker: String,
        #[serde(default = "half_minute")]
        ttl_ms: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state_schema: Option<Value>,
        /// Ends the lease of the worker of this name at once: the caller vouches that it is dead.
        #[serde(default)]
        takeover: bool,
        /// Takes the run also when it is `done`, `failed` or `waiting`: its next turn. Not where an effect is unknown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reopen: bool,
    }

    /// `POST /v1/claims`
    #[serde(deny_unknown_fields)]
    ClaimRun {
        worker: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agents: Option<Vec<String>>,
        #[serde(default = "half_minute")]
        ttl_ms: i64,
        #[serde(default)]
        wait_ms: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    }

    /// `POST /v1/runs/{id}/heartbeat`
    #[serde(deny_unknown_fields)]
    Heartbeat {
        epoch: Epoch,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<i64>,
    }

    /// `POST /v1/runs/{id}/steps/{seq}/commit`
    #[serde(deny_unknown_fields)]
    CommitStep {
        epoch: Epoch,
        attempt: i64,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        state: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Vec<Op>>,
        /// The snapshot that `state` was made from; the one current at begin if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
        /// Names the snapshot after the commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<Tag>,
    }

    /// `POST /v1/runs/{id}/snapshots`: a checkpoint between steps.
    #[serde(deny_unknown_fields)]
    SaveState {
        epoch: Epoch,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        state: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Vec<Op>>,
        /// The snapshot that `state` or `patch` was made from; the current one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<Tag>,
    }

    /// `POST /v1/runs/{id}/steps/{seq}/fail`
    #[serde(deny_unknown_fields)]
    FailStep {
        epoch: Epoch,
        attempt: i64,
        error: AgentError,
        #[serde(default = "yes")]
        retryable: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<EffectKnown>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Applied to the current state: what the failed attempt found out is not lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Vec<Op>>,
    }

    #[serde(deny_unknown_fields)]
    NewLogLine {
        level: String,
        message: String,
    }

    /// `POST /v1/runs/{id}/steps/{seq}/progress`
    #[serde(deny_unknown_fields)]
    Progress {
        epoch: Epoch,
        attempt: i64,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        partial: Option<Value>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        log: Vec<NewLogLine>,
    }

    /// `POST /v1/runs/{id}/finish`
    #[serde(deny_unknown_fields)]
    FinishRun {
        epoch: Epoch,
        outcome: FinishOutcome,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
    }

    /// `POST /v1/runs/{id}/release`
    #[serde(deny_unknown_fields)]
    ReleaseRun {
        epoch: Epoch,
        /// A durable sleep: the run is runnable again only then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_ms: Option<i64>,
        /// The run becomes `paused`: no worker takes it until an operator resumes it. Not together with `after_ms`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pause: bool,
    }

    /// `POST /v1/runs/{id}/decisions`
    #[serde(deny_unknown_fields)]
    Decide {
        kind: DecisionKind,
        /// The run version it is based on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        if_version: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<i64>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        state: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Vec<Op>>,
        /// `retry`: the outside provider sees a new idempotency key.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        new_key: bool,
        /// `resume`: what becomes of the steps that wait for a decision.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// `resume`: the hash of the plan it is based on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Hash>,
        /// `rewind`, `fork`: effects left behind that may happen again, each by its step.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        again: Vec<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_run_id: Option<RunId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }

    /// What an operator chose for one step of a run that is resumed: `retry`, `commit` or `skip`.
    #[serde(deny_unknown_fields)]
    Choice {
        kind: DecisionKind,
        step: i64,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        state: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Vec<Op>>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        new_key: bool,
    }

    RunAnswer {
        run: RunDetail,
    }

    /// Answer to lease and claims.
    LeaseAnswer {
        run: RunDetail,
        epoch: Epoch,
        expires_at: Time,
        state: Value,
        snapshot: i64,
    }

    HeartbeatAnswer {
        expires_at: Time,
        signal: Option<Signal>,
    }

    /// Answer to begin.
    BeginAnswer {
        seq: i64,
        outcome: BeginOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        partial: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<DecisionKind>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<i64>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        drift: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
    }

    /// Answer to commit.
    CommitAnswer {
        snapshot: i64,
        hash: Hash,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextAnswer>,
    }

    /// Answer to a checkpoint between steps.
    SaveAnswer {
        snapshot: i64,
        hash: Hash,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Signal>,
    }

    /// Answer to fail.
    FailAnswer {
        outcome: FailOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_ms: Option<i64>,
        /// The snapshot that the patch made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<i64>,
    }

    /// Answer to a decision; after a fork, `run` is the new one.
    DecideAnswer {
        run: RunDetail,
        decision: Decision,
    }

    RunPage {
        runs: Vec<Run>,
        next: Option<String>,
    }

    StepPage {
        steps: Vec<Step>,
        next: Option<i64>,
    }

    StepAnswer {
        step: StepDetail,
    }

    SnapshotAnswer {
        snapshot: i64,
        /// The step that made it; absent for the initial state, a checkpoint between steps and a change by hand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<i64>,
        hash: Hash,
        created_at: Time,
        /// The newest that name it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<TagName>,
        state: Value,
    }

    /// What turns one state into another.
    DiffAnswer {
        from: i64,
        to: i64,
        /// The run that `to` belongs to, if it is another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<RunId>,
        changes: Vec<Change>,
    }

    EventPage {
        events: Vec<Event>,
        /// Where to read on: pass it as `after`.
        next: i64,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FinishOutcome {
    Done,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FailOutcome {
    Retry,
    Stop,
}

/// What the fused begin said; a refusal leaves the commit standing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum NextAnswer {
    Begun(Box<BeginAnswer>),
    Refused { code: super::problem::Code },
}

fn three() -> i64 {
    3
}

fn half_minute() -> i64 {
    30_000
}

fn yes() -> bool {
    true
}
