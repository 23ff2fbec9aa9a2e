//! A comparison as rows to read: what went and what came, in their place, with everything else folded.
//!
//! A page of rows is bounded, and so is each row: long values are cut and say how large they are.

use serde::{Deserialize, Serialize};

use super::delta::{Delta, Run};
use crate::domain::{
    tree::{Shape, Tree},
    views::state_view::{Label, is_in, preview},
    wire::json::escape,
};

mod pieces;

use pieces::marked;

/// Rows of one page.
pub const PAGE: usize = 300;
/// Characters shown of one value.
const VALUE_MAX: usize = 400;
/// Unchanged neighbours that are shown rather than folded: few and short.
const BESIDE_MAX: usize = 2;
const BESIDE_BYTES: usize = 60;
/// Names told of a fold.
const NAMES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    Same,
    Removed,
    Added,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// A list or an object begins, whose inside changed.
    Open {
        list: bool,
        count: i64,
    },
    Close {
        list: bool,
    },
    Value {
        pieces: Vec<Piece>,
        clipped: bool,
        opens: bool,
    },
    /// Unchanged parts: of a list from `start` on, of an object those whose values are the same.
    Fold {
        count: i64,
        list: bool,
        start: i64,
        names: Vec<String>,
        old_path: String,
    },
}

/// A part of a text; `changed` ones are marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    pub text: String,
    pub changed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub depth: i64,
    pub mark: Mark,
    pub label: Option<Label>,
    /// In the state it stands in: the old one for what was removed.
    pub path: String,
    pub body: Body,
    pub bytes: i64,
    /// Where it stood before, if it moved.
    pub from: Option<String>,
    /// A change begins here.
    pub first: bool,
}

/// How much changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    pub added: i64,
    pub removed: i64,
    pub moved: i64,
}

/// A page of rows; `next` is where the following one begins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowPage {
    pub rows: Vec<Row>,
    pub next: Option<i64>,
    /// Changes before this page.
    pub before: i64,
}

/// The rows from number `after` on; with `find`, only changes that hold this text.
pub fn rows(old: &Tree, new: &Tree, delta: &Delta, after: i64, find: Option<&str>) -> RowPage {
    let mut walk = Walk {
        skip: after.max(0),
        find: find.map(str::to_lowercase),
        page: RowPage::default(),
        seen: 0,
        full: false,
    };
    let place = ValuePath {
        depth: 0,
        label: None,
        path: String::new(),
        old_path: String::new(),
        from: None,
    };
    walk.value(old, new, delta, place);
    walk.page
}

pub fn totals(old: &Tree, new: &Tree, delta: &Delta) -> Totals {
    let mut sum = Totals::default();
    count(old, new, delta, &mut sum);
    sum
}

fn count(old: &Tree, new: &Tree, delta: &Delta, sum: &mut Totals) {
    match (delta, old.shape(), new.shape()) {
        (Delta::Same, ..) => {}
        (Delta::Object(keys), Shape::Object(a), Shape::Object(b)) => {
            let renamed = keys.renamed.len() as i64;
            sum.moved += renamed;
            sum.removed += a.keys().filter(|k| !b.contains_key(*k)).count() as i64 - renamed;
            sum.added += b.keys().filter(|k| !a.contains_key(*k)).count() as i64 - renamed;
            for (key, delta) in &keys.changed {
                if let (Some(old), Some(new)) = (a.get(key), b.get(key)) {
                    count(old, new, delta, sum);
                }
            }
        }
        (Delta::List(runs), Shape::List(a), Shape::List(b)) => {
            for run in runs {
                match run {
                    Run::Same { .. } => {}
                    Run::Removed { len, .. } => sum.removed += *len as i64,
                    Run::Added { len, .. } => sum.added += *len as i64,
                    Run::Changed { old, new, delta } => count(&a[*old], &b[*new], delta, sum),
                    Run::Moved { old, new, delta } => {
                        sum.moved += 1;
                        count(&a[*old], &b[*new], delta, sum);
                    }
                }
            }
        }
        _ => {
            sum.added += 1;
            sum.removed += 1;
        }
    }
}

struct ValuePath {
    depth: i64,
    label: Option<Label>,
    path: String,
    old_path: String,
    from: Option<String>,
}

impl ValuePath {
    fn key(&self, key: &str) -> Self {
        Self {
            depth: self.depth + 1,
            label: Some(Label::Key(key.to_owned())),
            path: format!("{}/{}", self.path, escape(key)),
            old_path: format!("{}/{}", self.old_path, escape(key)),
            from: None,
        }
    }

    fn item(&self, old: usize, new: usize) -> Self {
        Self {
            depth: self.depth + 1,
            label: Some(Label::Index(new as i64)),
            path: format!("{}/{new}", self.path),
            old_path: format!("{}/{old}", self.old_path),
            from: None,
        }
    }

    fn gone(mut self) -> Self {
        if let (Some(Label::Index(_)), Some((_, last))) =
            (&self.label, self.old_path.rsplit_once('/'))
        {
            self.label = last.parse().ok().map(Label::Index);
        }
        self.path.clone_from(&self.old_path);
        self
    }
}

struct Walk {
    skip: i64,
    find: Option<String>,
    page: RowPage,
    seen: i64,
    full: bool,
}

impl Walk {
    /// Makes the row only if it is on this page.
    fn push(&mut self, first: bool, row: impl FnOnce() -> Row) {
        if self.seen < self.skip {
            self.page.before += i64::from(first);
        } else if self.page.rows.len() < PAGE {
            self.page.rows.push(Row { first, ..row() });
        } else {
            self.full = true;
            self.page.next.get_or_insert(self.seen);
        }
        self.seen += 1;
    }

    fn looked_for(&self, place: &ValuePath, values: &[&Tree]) -> bool {
        self.find.as_ref().is_none_or(|text| {
            place.path.to_lowercase().contains(text)
                || values.iter().any(|value| is_in(value, text))
        })
    }

    fn context(&mut self, place: &ValuePath, body: Body, bytes: usize) {
        if self.find.is_none() {
            self.push(false, || row(place, Mark::Same, body, bytes));
        }
    }

    fn value(&mut self, old: &Tree, new: &Tree, delta: &Delta, place: ValuePath) {
        if self.full {
            return;
        }
        match (delta, old.shape(), new.shape()) {
            (Delta::Same, ..) => {
                if place.from.is_some() && self.looked_for(&place, &[new]) {
                    self.push(true, || whole(&place, Mark::Same, new));
                }
            }
            (Delta::Object(keys), Shape::Object(a), Shape::Object(b)) => {
                self.open(&place, false, b.len(), new.size());
                let same = |key: &String| {
                    !keys.changed.contains_key(key) && a.contains_key(key) && b.contains_key(key)
                };
                let kept: Vec<&String> = b.keys().filter(|key| same(key)).collect();
                let beside = kept.len() <= BESIDE_MAX
                    && kept.iter().all(|key| b[*key].size() <= BESIDE_BYTES);
                if !beside {
                    self.fold(&place, false, 0, kept.len(), || {
                        kept.iter().take(NAMES).map(|key| (*key).clone()).collect()
                    });
                }
                let mut all: Vec<&String> = a.keys().chain(b.keys()).collect();
                all.sort_unstable();
                all.dedup();
                for key in all {
                    let inside = place.key(key);
                    match (a.get(key), b.get(key), keys.changed.get(key)) {
                        (Some(old), Some(new), Some(delta)) => self.value(old, new, delta, inside),
                        (Some(_), Some(new), None) if beside => {
                            self.context(&inside, value(new), new.size());
                        }
                        (Some(_), None, _) if keys.renamed.values().any(|was| was == key) => {}
                        (Some(old), None, _) => self.removed(inside, old),
                        (None, Some(new), _) => match keys.renamed.get(key) {
                            Some(was) => {
                                let from = Some(format!("{}/{}", place.old_path, escape(was)));
                                self.value(new, new, &Delta::Same, ValuePath { from, ..inside });
                            }
                            None => self.added(inside, new),
                        },
                        _ => {}
                    }
                    if self.full {
                        return;
                    }
                }
                self.context(&place, Body::Close { list: false }, 0);
            }
            (Delta::List(runs), Shape::List(a), Shape::List(b)) => {
                self.open(&place, true, b.len(), new.size());
                for run in runs {
                    match run {
                        Run::Same { new, len, .. } => self.fold(&place, true, *new, *len, Vec::new),
                        Run::Removed { old, len } => {
                            for (i, item) in a.iter().enumerate().skip(*old).take(*len) {
                                if self.full {
                                    return;
                                }
                                self.removed(place.item(i, i), item);
                            }
                        }
                        Run::Added { new, len } => {
                            for (j, item) in b.iter().enumerate().skip(*new).take(*len) {
                                if self.full {
                                    return;
                                }
                                self.added(place.item(j, j), item);
                            }
                        }
                        Run::Changed { old, new, delta } => {
                            self.value(&a[*old], &b[*new], delta, place.item(*old, *new));
                        }
                        Run::Moved { old, new, delta } => {
                            let inside = place.item(*old, *new);
                            let from = Some(inside.old_path.clone());
                            self.value(&a[*old], &b[*new], delta, ValuePath { from, ..inside });
                        }
                    }
                    if self.full {
                        return;
                    }
                }
                self.context(&place, Body::Close { list: true }, 0);
            }
            (Delta::Text(edits), ..) => {
                let (Some(a), Some(b)) = (super::as_text(old), super::as_text(new)) else {
                    return;
                };
                if self.looked_for(&place, &[old, new]) {
                    let (was, is) = marked(a, b, edits);
                    self.push(true, || {
                        row(&place, Mark::Removed, was, old.size()).gone(&place)
                    });
                    self.push(false, || row(&place, Mark::Added, is, new.size()));
                }
            }
            _ => {
                if self.looked_for(&place, &[old, new]) {
                    self.push(true, || whole(&place, Mark::Removed, old).gone(&place));
                    self.push(false, || whole(&place, Mark::Added, new));
                }
            }
        }
    }

    fn open(&mut self, place: &ValuePath, list: bool, count: usize, bytes: usize) {
        let body = Body::Open {
            list,
            count: count as i64,
        };
        self.context(place, body, bytes);
    }

    fn removed(&mut self, place: ValuePath, old: &Tree) {
        let place = place.gone();
        if self.looked_for(&place, &[old]) {
            self.push(true, || whole(&place, Mark::Removed, old));
        }
    }

    fn added(&mut self, place: ValuePath, new: &Tree) {
        if self.looked_for(&place, &[new]) {
            self.push(true, || whole(&place, Mark::Added, new));
        }
    }

    fn fold(
        &mut self,
        place: &ValuePath,
        list: bool,
        start: usize,
        count: usize,
        names: impl FnOnce() -> Vec<String>,
    ) {
        if count == 0 || self.find.is_some() {
            return;
        }
        self.push(false, || {
            let body = Body::Fold {
                count: count as i64,
                list,
                start: start as i64,
                names: names(),
                old_path: place.old_path.clone(),
            };
            let row = row(place, Mark::Same, body, 0);
            Row {
                depth: place.depth + 1,
                label: None,
                ..row
            }
        });
    }
}

impl Row {
    /// As it stood in the old state.
    fn gone(self, place: &ValuePath) -> Self {
        Self {
            path: place.old_path.clone(),
            ..self
        }
    }
}

fn row(place: &ValuePath, mark: Mark, body: Body, bytes: usize) -> Row {
    Row {
        depth: place.depth,
        mark,
        label: place.label.clone(),
        path: place.path.clone(),
        body,
        bytes: bytes as i64,
        from: place.from.clone(),
        first: false,
    }
}

fn whole(place: &ValuePath, mark: Mark, tree: &Tree) -> Row {
    row(place, mark, value(tree), tree.size())
}

fn value(tree: &Tree) -> Body {
    let (text, clipped) = preview(tree, VALUE_MAX);
    Body::Value {
        pieces: vec![Piece {
            text,
            changed: false,
        }],
        clipped,
        opens: !matches!(tree.shape(), Shape::Scalar(_)),
    }
}
