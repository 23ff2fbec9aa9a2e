//! What may have changed in the gap: the code, the model, and what steps relied on outside.

use serde::{Deserialize, Serialize};

use crate::domain::nouns::{run::Run, time::Time};

/// Who is there to take the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Taker {
    /// Workers that ask for runs of this agent now.
    pub workers: i64,
    /// When the last one asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Time>,
    /// What the one heard last runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A reference as workers registered it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefFacts {
    pub uri: String,
    /// What it looked like when a step first relied on it, and now.
    pub was: String,
    pub hash: String,
    pub checked_at: Time,
    pub checked_by: String,
    /// Registered again by the newest lease, after an earlier one had.
    pub again: bool,
}

/// Something that changed, or may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum Changed {
    /// The agent's code: the run's, and what the worker seen last offers.
    Version {
        was: Option<String>,
        now: String,
    },
    Model {
        was: Option<String>,
        now: String,
    },
    Reference {
        uri: String,
        was: String,
        /// The newest hash; absent until it is checked on resume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checked_at: Option<Time>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checked_by: Option<String>,
    },
}

impl Changed {
    /// It is known to differ, not only to be possible.
    pub fn differs(&self) -> bool {
        match self {
            Self::Version { .. } | Self::Model { .. } => true,
            Self::Reference { was, now, .. } => now.as_ref().is_some_and(|now| now != was),
        }
    }
}

pub fn gap(run: &Run, taker: &Taker, refs: &[RefFacts]) -> Vec<Changed> {
    let changed = |was: &Option<String>, now: &Option<String>| {
        let now = now.clone()?;
        (was.as_ref() != Some(&now)).then_some((was.clone(), now))
    };
    let version = changed(&run.code_version, &taker.version);
    let model = changed(&run.model, &taker.model);
    let references = refs.iter().map(|it| {
        let seen = it.again || it.was != it.hash;
        Changed::Reference {
            uri: it.uri.clone(),
            was: it.was.clone(),
            now: seen.then(|| it.hash.clone()),
            checked_at: seen.then_some(it.checked_at),
            checked_by: seen.then(|| it.checked_by.clone()),
        }
    });
    let mut gap = Vec::new();
    gap.extend(version.map(|(was, now)| Changed::Version { was, now }));
    gap.extend(model.map(|(was, now)| Changed::Model { was, now }));
    gap.extend(references);
    gap
}
