//! A changed string in pieces: what changed is marked, and long stretches between are left out.

use super::{Body, Piece, VALUE_MAX};
use crate::domain::diff::text::Edit;

/// Characters kept before and after a change inside a string.
const AROUND: usize = 60;

/// Both sides of it.
pub fn marked(old: &str, new: &str, edits: &[Edit]) -> (Body, Body) {
    let (mut was, mut is) = (Pieces::new(), Pieces::new());
    let (mut at, mut to) = (0, 0);
    for edit in edits {
        let start = edit.at as usize;
        let kept = &old[at..start];
        was.keep(kept, at == 0);
        is.keep(kept, at == 0);
        to += kept.len();
        was.change(&old[start..start + edit.len as usize]);
        is.change(&new[to..to + edit.new.len()]);
        at = start + edit.len as usize;
        to += edit.new.len();
    }
    was.end(&old[at..]);
    is.end(&old[at..]);
    (was.body(), is.body())
}

struct Pieces {
    pieces: Vec<Piece>,
    left: usize,
    clipped: bool,
}

impl Pieces {
    fn new() -> Self {
        let quote = Piece {
            text: "\"".into(),
            changed: false,
        };
        Self {
            pieces: vec![quote],
            left: 4 * VALUE_MAX,
            clipped: false,
        }
    }

    fn push(&mut self, text: &str, changed: bool) {
        let end = text.floor_char_boundary(self.left.min(2 * VALUE_MAX));
        self.clipped |= end < text.len();
        self.left -= end;
        let cut = if end < text.len() { "…" } else { "" };
        if !text.is_empty() {
            let text = format!("{}{cut}", &text[..end]);
            self.pieces.push(Piece { text, changed });
        }
    }

    fn change(&mut self, text: &str) {
        self.push(text, true);
    }

    /// Unchanged text before a change: its end, and its beginning if another change is before it.
    fn keep(&mut self, text: &str, begins: bool) {
        if text.len() <= 2 * AROUND {
            return self.push(text, false);
        }
        self.clipped = true;
        let head = if begins { 0 } else { AROUND };
        let head = text.floor_char_boundary(head);
        let tail = text.ceil_char_boundary(text.len() - AROUND);
        self.push(&format!("{}…{}", &text[..head], &text[tail..]), false);
    }

    fn end(&mut self, text: &str) {
        let end = text.floor_char_boundary(AROUND);
        self.clipped |= end < text.len();
        let cut = if end < text.len() { "…" } else { "" };
        self.push(&format!("{}{cut}\"", &text[..end]), false);
    }

    fn body(self) -> Body {
        Body::Value {
            pieces: self.pieces,
            clipped: self.clipped,
            opens: false,
        }
    }
}
