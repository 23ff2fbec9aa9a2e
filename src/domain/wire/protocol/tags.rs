//! Tags: names that a program gives to snapshots, to find them again in its own words.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Check,
    limits::{PAGE, TAG_META_MAX, range},
};
use crate::domain::{
    nouns::{ids::RunId, time::Time},
    wire::{json, problem::Problem},
};

/// Names the snapshot that a request makes, or the current one where it makes none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Tag {
    /// Keeps apart names of different origin; empty unless said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub space: String,
    /// Unique in its run and space.
    pub id: String,
    /// What the program wants to know of it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ssr", schema(value_type = Option<Object>))]
    pub meta: Option<Map<String, Value>>,
}

impl Tag {
    /// A tag with nothing but its name; fill in the rest by struct update.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            space: String::new(),
            id: id.into(),
            meta: None,
        }
    }
}

/// A tag as it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Tagged {
    pub run: RunId,
    pub space: String,
    pub id: String,
    /// Its place in the order of tags: `before=` this gives those that were made earlier.
    pub n: i64,
    pub snapshot: i64,
    /// The step that was committed with it; absent for a checkpoint between steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    #[cfg_attr(feature = "ssr", schema(value_type = Object))]
    pub meta: Map<String, Value>,
    pub created_at: Time,
    /// The tagged state, with `full=true`.
    #[serde(
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub state: Option<Value>,
}

/// A tag beside its snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct TagName {
    pub space: String,
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct TagPage {
    pub tags: Vec<Tagged>,
    /// Where to read on: pass it as `before`.
    pub next: Option<String>,
}

/// `GET /v1/tags`: all filters hold together; newest tags first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "ssr", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct TagQuery {
    /// Only this run's.
    #[serde(default)]
    pub run: Option<RunId>,
    /// Only those of this space; `space=` means the empty one.
    #[serde(default)]
    pub space: Option<String>,
    #[serde(default)]
    pub id: Option<String>,
    /// Tags that were made before: the `n` of a tag, or the `next` of the page before.
    #[serde(default)]
    pub before: Option<String>,
    /// A JSON object: `meta` must have each of its fields, with an equal value.
    #[serde(default)]
    pub meta: Option<String>,
    #[serde(default = "fifty")]
    pub limit: i64,
    /// Answers each tag with its state.
    #[serde(default)]
    pub full: bool,
}

impl Default for TagQuery {
    fn default() -> Self {
        Self {
            run: None,
            space: None,
            id: None,
            before: None,
            meta: None,
            limit: fifty(),
            full: false,
        }
    }
}

fn fifty() -> i64 {
    50
}

impl TagQuery {
    /// The fields that `meta` must have.
    pub fn wanted(&self) -> Result<Map<String, Value>, Problem> {
        let Some(text) = &self.meta else {
            return Ok(Map::new());
        };
        if text.len() > TAG_META_MAX {
            return Err(Problem::too_large("meta", TAG_META_MAX));
        }
        json::check(text.as_bytes(), &[""], super::VALUES_MAX)
            .map_err(|problem| Problem::invalid("meta", problem.detail))?;
        serde_json::from_str(text).map_err(|why| Problem::invalid("meta", why))
    }

    /// The place of the last tag that was seen: its number, and its run where another run has the same number.
    pub fn place(&self) -> Result<(i64, String), Problem> {
        let Some(before) = &self.before else {
            return Ok((i64::MAX, String::new()));
        };
        let (n, run) = before.split_once('@').unwrap_or((before, ""));
        let n = n.parse::<i64>().ok().filter(|n| *n >= 0);
        let n = n.ok_or_else(|| {
            Problem::invalid(
                "before",
                "is neither the `n` of a tag nor a `next` that this server gave",
            )
        })?;
        Ok((n, run.to_owned()))
    }
}

impl Check for TagQuery {
    fn check(&self) -> Result<(), Problem> {
        range("limit", self.limit, PAGE)?;
        self.place()?;
        self.wanted().map(drop)
    }
}
