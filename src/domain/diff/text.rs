//! Changes inside a string: which pieces of it became others, on the borders of words.

use serde::{Deserialize, Serialize};
use similar::DiffOp;
use std::ops::Range;

use super::{delta::Work, sequence};

/// One piece of a string that became another; positions and lengths are in bytes of UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Where the piece stands in the old string.
    pub at: u64,
    /// How long it was there.
    pub len: u64,
    /// What stood there; absent in the forward form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    pub new: String,
}

impl Edit {
    pub fn forward(self) -> Self {
        Self { old: None, ..self }
    }
}

/// More pairs of tokens than this are not compared one by one.
const PAIRS_MAX: usize = 1 << 18;
/// Kept text this short between two edits is read over: they are one.
const GAP_MAX: usize = 2;
/// How far an edit is widened to the border of a word.
const WORD_MAX: usize = 32;

/// The edits that turn `old` into `new`.
pub(super) fn edits(old: &str, new: &str, work: &mut Work) -> Vec<Edit> {
    let head = common_head(old, new);
    let tail = common_tail(&old[head..], &new[head..]);
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut spans = Vec::new();
    hunks(a, b, work, &mut spans);
    let shifted = spans
        .into_iter()
        .map(|(x, y)| (x.start + head..x.end + head, y.start + head..y.end + head));
    joined(old, shifted)
        .into_iter()
        .map(|(x, y)| Edit {
            at: x.start as u64,
            len: x.len() as u64,
            old: Some(old[x].to_owned()),
            new: new[y].to_owned(),
        })
        .collect()
}

type Span = (Range<usize>, Range<usize>);

/// What differs between two texts that share neither head nor tail: by words, by lines where there are too many.
fn hunks(a: &str, b: &str, work: &mut Work, out: &mut Vec<Span>) {
    if a.is_empty() && b.is_empty() {
        return;
    }
    let whole = (0..a.len(), 0..b.len());
    if a.is_empty() || b.is_empty() {
        return out.push(whole);
    }
    let (x, y) = (words(a), words(b));
    if x.len() * y.len() <= PAIRS_MAX {
        match work.spend(x.len() + y.len()) {
            true => compared(a, b, &x, &y, |x, y| out.push((x, y))),
            false => out.push(whole),
        }
        return;
    }
    let (x, y) = (lines(a), lines(b));
    if x.len() * y.len() > PAIRS_MAX || !work.spend(x.len() + y.len()) {
        return out.push(whole);
    }
    compared(a, b, &x, &y, |x, y| {
        let (p, q) = (&a[x.clone()], &b[y.clone()]);
        let (u, v) = (words(p), words(q));
        if u.len() * v.len() > PAIRS_MAX || !work.spend(u.len() + v.len()) {
            return out.push((x, y));
        }
        compared(p, q, &u, &v, |u, v| {
            out.push((
                u.start + x.start..u.end + x.start,
                v.start + y.start..v.end + y.start,
            ));
        });
    });
}

fn compared(
    a: &str,
    b: &str,
    x: &[Range<usize>],
    y: &[Range<usize>],
    mut found: impl FnMut(Range<usize>, Range<usize>),
) {
    let start = |spans: &[Range<usize>], at: usize, len: usize| {
        spans.get(at).map_or(len, |span| span.start)
    };
    let (old, new) = sequence::numbered(
        x.iter().map(|span| &a[span.clone()]),
        y.iter().map(|span| &b[span.clone()]),
    );
    for op in sequence::compared(&old, &new) {
        let (old, new) = (op.old_range(), op.new_range());
        if !matches!(op, DiffOp::Equal { .. }) {
            found(
                start(x, old.start, a.len())..start(x, old.end, a.len()),
                start(y, new.start, b.len())..start(y, new.end, b.len()),
            );
        }
    }
}

/// Edits with next to nothing between them become one.
fn joined(old: &str, spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for (x, y) in spans {
        match out.last_mut() {
            Some((p, q)) if x.start - p.end <= GAP_MAX || old[p.end..x.start].trim().is_empty() => {
                p.end = x.end;
                q.end = y.end;
            }
            _ => out.push((x, y)),
        }
    }
    out
}

/// Words, spaces between them, and everything else by itself.
fn words(text: &str) -> Vec<Range<usize>> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut last = 2;
    for (at, c) in text.char_indices() {
        let (kind, end) = (kind(c), at + c.len_utf8());
        match out.last_mut() {
            Some(span) if kind == last && kind != 2 => span.end = end,
            _ => out.push(at..end),
        }
        last = kind;
    }
    out
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            at += line.len();
            at - line.len()..at
        })
        .collect()
}

/// Bytes that both begin with, up to the border of a word.
fn common_head(a: &str, b: &str) -> usize {
    let mut same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    while !(a.is_char_boundary(same) && b.is_char_boundary(same)) {
        same -= 1;
    }
    let inside = |text: &str| {
        text[same..]
            .chars()
            .next()
            .is_some_and(char::is_alphanumeric)
    };
    if !inside(a) && !inside(b) {
        return same;
    }
    let word: usize = a[..same]
        .chars()
        .rev()
        .take_while(|c| c.is_alphanumeric())
        .take(WORD_MAX + 1)
        .map(char::len_utf8)
        .sum();
    match word <= WORD_MAX {
        true => same - word,
        false => same,
    }
}

/// Bytes that both end with, from the border of a word.
fn common_tail(a: &str, b: &str) -> usize {
    let equal = |(x, y): &(u8, u8)| x == y;
    let mut same = a
        .bytes()
        .rev()
        .zip(b.bytes().rev())
        .take_while(equal)
        .count();
    while !(a.is_char_boundary(a.len() - same) && b.is_char_boundary(b.len() - same)) {
        same -= 1;
    }
    let inside = |text: &str| {
        let before = &text[..text.len() - same];
        before
            .chars()
            .next_back()
            .is_some_and(char::is_alphanumeric)
    };
    if !inside(a) && !inside(b) {
        return same;
    }
    let word: usize = a[a.len() - same..]
        .chars()
        .take_while(|c| c.is_alphanumeric())
        .take(WORD_MAX + 1)
        .map(char::len_utf8)
        .sum();
    match word <= WORD_MAX {
        true => same - word,
        false => same,
    }
}

/// The string after the edits; `None` if they do not fit it.
pub(super) fn applied(old: &str, edits: &[Edit]) -> Option<String> {
    let mut out = String::with_capacity(old.len());
    let mut reached = 0;
    for edit in edits {
        let at = usize::try_from(edit.at).ok()?;
        let end = at.checked_add(usize::try_from(edit.len).ok()?)?;
        let cut = old.get(at..end)?;
        if edit.old.as_deref().is_some_and(|known| known != cut) {
            return None;
        }
        out.push_str(old.get(reached..at)?);
        out.push_str(&edit.new);
        reached = end;
    }
    out.push_str(old.get(reached..)?);
    Some(out)
}

/// The edits that take these back; `None` in the forward form.
pub(super) fn inverse(edits: &[Edit]) -> Option<Vec<Edit>> {
    let mut grown: i64 = 0;
    edits
        .iter()
        .map(|edit| {
            let at = edit.at.checked_add_signed(grown)?;
            let len = edit.new.len() as u64;
            grown += len as i64 - edit.len as i64;
            Some(Edit {
                at,
                len,
                old: Some(edit.new.clone()),
                new: edit.old.clone()?,
            })
        })
        .collect()
}
