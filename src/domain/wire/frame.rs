//! What changed on the server since the frame before: the message that keeps open pages current.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{run::Run, step::Step, trouble::Writing},
    views::counts::Counts,
};

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
    /// When a run appeared, changed status or was decided about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Steps of the watched run that were touched, as they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// When that changed, and for a page that comes while writes fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writing: Option<Writing>,
    /// Too much changed to send: read again what is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_again: bool,
    /// How many times longer than alone a page waits before it reads for itself.
    #[serde(default = "one", skip_serializing_if = "alone")]
    pub crowd: u32,
}

/// Pages that may read for themselves as often as they like.
const FEW: usize = 50;

fn one() -> u32 {
    1
}

fn alone(crowd: &u32) -> bool {
    *crowd <= 1
}

/// Many pages together read for themselves no more often than a few would.
pub fn crowd(viewers: usize) -> u32 {
    u32::try_from(viewers / FEW).unwrap_or(u32::MAX).max(1)
}

impl Frame {
    /// Tells a page whether the store can write.
    pub fn writing(event: i64, writing: Writing) -> Self {
        Self {
            event,
            writing: Some(writing),
            crowd: 1,
            ..Self::default()
        }
    }

    /// Tells a page that what it missed will not come.
    pub fn read_again(event: i64, crowd: u32) -> Self {
        Self {
            event,
            read_again: true,
            crowd,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_carries_only_what_changed() {
        let text = serde_json::to_string(&Frame::read_again(47, crowd(3))).unwrap();
        assert_eq!(text, r#"{"event":47,"read_again":true}"#);
        let read: Frame = serde_json::from_str(r#"{"event":48}"#).unwrap();
        assert_eq!((read.event, read.read_again, read.crowd), (48, false, 1));
        let many = serde_json::to_string(&Frame::read_again(47, crowd(500))).unwrap();
        assert_eq!(many, r#"{"event":47,"read_again":true,"crowd":10}"#);
    }
}
