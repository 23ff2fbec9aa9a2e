//! A step to begin: by itself, or in the same request as the commit before it. Its fields are written once for both.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::nouns::{
    ids::{Epoch, StepKey},
    run::Link,
    step::{Effect, Gate, Kind, Recovery, Reference, RetryRule},
};

macro_rules! begun {
    ($($(#[$meta:meta])* $field:ident: $ty:ty,)*) => {
        /// A step to begin: the body of `POST /v1/runs/{id}/steps` without its epoch, and of commit's `next`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
        #[serde(deny_unknown_fields)]
        pub struct NextStep {
            $($(#[$meta])* pub $field: $ty,)*
        }

        /// `POST /v1/runs/{id}/steps`
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
        #[serde(deny_unknown_fields)]
        pub struct BeginStep {
            pub epoch: Epoch,
            $($(#[$meta])* pub $field: $ty,)*
        }

        impl BeginStep {
            pub fn split(self) -> (Epoch, NextStep) {
                let Self { epoch, $($field,)* } = self;
                (epoch, NextStep { $($field,)* })
            }
        }

        impl NextStep {
            pub fn at(self, epoch: Epoch) -> BeginStep {
                let Self { $($field,)* } = self;
                BeginStep { epoch, $($field,)* }
            }
        }
    };
}

begun! {
    key: StepKey,
    name: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    input: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effect: Option<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recovery: Option<Recovery>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<RetryRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gate: Option<Gate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refs: Vec<Reference>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link>,
}
