//! Changes inside a string: which pieces of it became others, on the borders of words.

use serde::{Deserialize, Serialize};
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

/// Up to so many pairs of tokens the fewest edits are found.
const EXACT_MAX: usize = 1 << 18;
/// Longer texts are compared by lines first, in bytes.
const LONG: usize = 2 << 10;
/// Texts of fewer words are compared whatever they are.
const STRANGERS_MIN: usize = 32;
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

/// What differs between two texts that share neither head nor tail: by words, by lines first where both are long.
fn hunks(a: &str, b: &str, work: &mut Work, out: &mut Vec<Span>) {
    let (x, y) = (Tokens::new(a, lines(a)), Tokens::new(b, lines(b)));
    let long = a.len().min(b.len()) > LONG && x.len() > 1 && y.len() > 1;
    if !long || !work.spend(x.len() + y.len()) {
        return by_words(a, b, work, |x, y| out.push((x, y)));
    }
    let (old, new) = sequence::numbered(x.texts(), y.texts());
    compared(&x, &y, &old, &new, |x, y| {
        by_words(&a[x.clone()], &b[y.clone()], work, |u, v| {
            let old = u.start + x.start..u.end + x.start;
            out.push((old, v.start + y.start..v.end + y.start));
        });
    });
}

fn by_words(a: &str, b: &str, work: &mut Work, mut found: impl FnMut(Range<usize>, Range<usize>)) {
    if a.is_empty() && b.is_empty() {
        return;
    }
    let (x, y) = (Tokens::new(a, words(a)), Tokens::new(b, words(b)));
    if x.len() == 0 || y.len() == 0 || !work.spend(x.len() + y.len()) {
        return found(0..a.len(), 0..b.len());
    }
    let (old, new) = sequence::numbered(x.texts(), y.texts());
    match strangers(&x.pairs(&old), &y.pairs(&new)) {
        true => found(0..a.len(), 0..b.len()),
        false => compared(&x, &y, &old, &new, found),
    }
}

/// A text in pieces.
struct Tokens<'a> {
    text: &'a str,
    spans: Vec<Range<usize>>,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str, spans: Vec<Range<usize>>) -> Self {
        Self { text, spans }
    }

    fn len(&self) -> usize {
        self.spans.len()
    }

    fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.spans.iter().map(|span| &self.text[span.clone()])
    }

    /// Where a piece begins; the one after the last at the end.
    fn start(&self, at: usize) -> usize {
        self.spans.get(at).map_or(self.text.len(), |it| it.start)
    }

    /// Each two words in a row, in order of their numbers.
    fn pairs(&self, numbers: &[u32]) -> Vec<(u32, u32)> {
        let said = self.texts().zip(numbers);
        let said = said.filter(|(text, _)| !text.trim_start().is_empty());
        let words: Vec<u32> = said.map(|(_, number)| *number).collect();
        let mut pairs: Vec<_> = words.windows(2).map(|two| (two[0], two[1])).collect();
        pairs.sort_unstable();
        pairs
    }
}

/// Hardly any two words in a row stand in both: neither is an edit of the other. Looking for the words that both
/// happen to have would cost the most, and tell a reader nothing.
fn strangers(old: &[(u32, u32)], new: &[(u32, u32)]) -> bool {
    let fewer = old.len().min(new.len());
    let kept = |pair: &&(u32, u32)| old.binary_search(pair).is_ok();
    fewer >= STRANGERS_MIN && 8 * new.iter().filter(kept).count() < fewer
}

fn compared(
    x: &Tokens<'_>,
    y: &Tokens<'_>,
    old: &[u32],
    new: &[u32],
    mut found: impl FnMut(Range<usize>, Range<usize>),
) {
    let mut reached = (0, 0);
    let common = sequence::common(old, new, EXACT_MAX);
    for (i, j) in common.into_iter().chain([(old.len(), new.len())]) {
        if (i, j) != reached {
            found(
                x.start(reached.0)..x.start(i),
                y.start(reached.1)..y.start(j),
            );
        }
        reached = (i + 1, j + 1);
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
