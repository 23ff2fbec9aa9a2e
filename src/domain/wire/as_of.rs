//! Data with the newest event it surely contains: where a live view goes on reading.

use serde::{Deserialize, Serialize};

/// `event` was read before `value`, so following the stream from `event` misses nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AsOf<T> {
    pub event: i64,
    pub value: T,
}
