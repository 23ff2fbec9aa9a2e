//! What a server function answers when it cannot do what was asked.

use serde::{Deserialize, Serialize};
use server_fn::error::{FromServerFnError, ServerFnErrorErr};

use super::json::Text;
use crate::domain::{Code, Problem};

/// What a browser says of a server that does not answer; a store that is away has words of its own.
pub const UNREACHABLE: &str = "the server cannot be reached";

/// A refusal as on the wire of `/v1`, or the reason why no answer came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error(transparent)]
#[serde(transparent)]
pub struct AppError(pub Problem);

/// The mark of an error that the browser made itself, because no answer came or none that it could read.
const LOST: &str = "answer_lost";

impl AppError {
    pub fn is(&self, code: Code) -> bool {
        self.0.code == code
    }

    /// The server did not say what came of the request: it may have been carried out.
    pub fn outcome_unknown(&self) -> bool {
        self.0.fields.contains_key(LOST) || self.is(Code::Internal)
    }

    /// What came of the request stays unknown: this, too, was no answer to it.
    pub fn but_unknown(mut self) -> Self {
        self.0 = self.0.with(LOST, true);
        self
    }
}

impl From<Problem> for AppError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl FromServerFnError for AppError {
    type Encoder = Text;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        // The server reads nothing but arguments: what is wrong there, its caller sent.
        if let (true, ServerFnErrorErr::Deserialization(why)) = (cfg!(feature = "ssr"), &error) {
            let refusal = serde_json::from_str(why);
            return Self(refusal.unwrap_or_else(|_| Problem::new(Code::Malformed, why.as_str())));
        }
        let code = match &error {
            ServerFnErrorErr::Request(_) => Code::Busy,
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => Code::Malformed,
            _ => Code::Internal,
        };
        let detail = match code {
            Code::Busy => UNREACHABLE.into(),
            _ => error.to_string(),
        };
        let error = Self(Problem::new(code, detail));
        match code {
            Code::Malformed => error,
            _ => error.but_unknown(),
        }
    }
}
