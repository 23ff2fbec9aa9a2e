//! A plain run for tests, to be filled in by struct update.

use crate::domain::{
    nouns::{ids::Epoch, run::Run, status::RunStatus, time::Time},
    tree::hash::Hash,
};

pub fn run(id: &str) -> Run {
    Run {
        id: id.parse().expect("a test's run id"),
        agent: "invoice-reconciler".into(),
        title: None,
        status: RunStatus::Running,
        version: 1,
        code_version: None,
        model: None,
        labels: Default::default(),
        parent: None,
        forked_at: None,
        lease: None,
        worker: None,
        heard_at: None,
        epoch: Epoch(1),
        signal: None,
        runnable_at: None,
        snapshot: 0,
        hash: Hash::of(&serde_json::Value::Null),
        steps: 0,
        committed: 0,
        announced: 0,
        at: None,
        error_kind: None,
        effects_unknown: false,
        acknowledged: false,
        looking: None,
        strip: Default::default(),
        usage: Default::default(),
        created_at: Time(0),
        updated_at: Time(0),
        started_at: None,
        finished_at: None,
        unheld_us: 0,
        damaged: false,
    }
}
