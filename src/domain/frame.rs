//! What changed on the server since the frame before: the message that keeps open pages current.

use serde::{Deserialize, Serialize};

use super::{counts::Counts, run::Run, step::Step};

/// What changed since the frame before; computed once, sent to every open page.
///
/// Rows are as they are now, which may be newer than `event`, never older: a page that takes frames in order never
/// goes back, and one that has a row from elsewhere keeps the one with the higher event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Frame {
    /// The newest event it contains: the cursor.
    pub event: i64,
    /// Runs that were touched, as they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
    /// When a run appeared or changed status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Steps of the watched run that were touched, as they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Too much changed to send: read again what is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_again: bool,
}

impl Frame {
    /// Tells a page that what it missed will not come.
    pub fn read_again(event: i64) -> Self {
        Self {
            event,
            read_again: true,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_carries_only_what_changed() {
        let text = serde_json::to_string(&Frame::read_again(47)).unwrap();
        assert_eq!(text, r#"{"event":47,"read_again":true}"#);
        let read: Frame = serde_json::from_str(r#"{"event":48}"#).unwrap();
        assert_eq!((read.event, read.read_again), (48, false));
    }
}
