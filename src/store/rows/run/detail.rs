//! A run with what only its own page needs, as the writer hands it out: what may be megabytes is shared instead of
//! copied, and whoever asked makes a [`RunDetail`] of it when other commands no longer wait.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

use super::{RunContent, RunRow};
use crate::domain::{
    AgentError, Run, RunDetail,
    nouns::run::{Announced, Link, OnCrash},
};

/// On the wire it is a [`RunDetail`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "RunDetail")]
pub struct Detail {
    #[serde(flatten)]
    pub run: Run,
    pub input: Arc<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_schema: Option<Arc<Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    pub on_crash: OnCrash,
    pub max_recoveries: i64,
    pub recoveries: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<Announced>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Arc<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<AgentError>,
}

/// What a run's own page needs beside its row.
pub struct RunParts {
    pub content: RunContent,
    pub plan: Vec<Announced>,
}

impl RunParts {
    pub fn of(self, run: &RunRow) -> Detail {
        let RunContent {
            input,
            state_schema,
            result,
            error,
        } = self.content;
        Detail {
            run: run.to_run(),
            input,
            state_schema,
            links: run.links.clone(),
            on_crash: run.on_crash,
            max_recoveries: run.max_recoveries,
            recoveries: run.recoveries,
            plan: self.plan,
            result,
            error,
        }
    }
}

impl From<RunDetail> for Detail {
    fn from(detail: RunDetail) -> Self {
        let RunDetail {
            run,
            input,
            state_schema,
            links,
            on_crash,
            max_recoveries,
            recoveries,
            plan,
            result,
            error,
        } = detail;
        Self {
            run,
            input: Arc::new(input),
            state_schema: state_schema.map(Arc::new),
            links,
            on_crash,
            max_recoveries,
            recoveries,
            plan,
            result: result.map(Arc::new),
            error,
        }
    }
}

impl From<Detail> for RunDetail {
    /// Copies what is still shared.
    fn from(detail: Detail) -> Self {
        let Detail {
            run,
            input,
            state_schema,
            links,
            on_crash,
            max_recoveries,
            recoveries,
            plan,
            result,
            error,
        } = detail;
        Self {
            run,
            input: Arc::unwrap_or_clone(input),
            state_schema: state_schema.map(Arc::unwrap_or_clone),
            links,
            on_crash,
            max_recoveries,
            recoveries,
            plan,
            result: result.map(Arc::unwrap_or_clone),
            error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::sample;
    use serde_json::json;

    #[test]
    fn it_is_written_letter_for_letter_like_what_programs_know() {
        let bare = RunDetail {
            run: sample::run("r"),
            input: json!({"b": [1.5, 2], "a": null}),
            state_schema: None,
            links: Vec::new(),
            on_crash: OnCrash::Hold,
            max_recoveries: 3,
            recoveries: 1,
            plan: Vec::new(),
            result: None,
            error: None,
        };
        let full = RunDetail {
            state_schema: Some(json!({"type": "object"})),
            result: Some(json!([7])),
            error: Some(AgentError {
                kind: "Broken".into(),
                message: "why".into(),
                stack: None,
            }),
            ..bare.clone()
        };
        for known in [bare, full] {
            let text = serde_json::to_string(&known).unwrap();
            let shared = Detail::from(known.clone());
            assert_eq!(serde_json::to_string(&shared).unwrap(), text);
            assert_eq!(serde_json::from_str::<Detail>(&text).unwrap(), shared);
            assert_eq!(RunDetail::from(shared), known);
        }
    }
}
