//! From a comparison to the changes that apply one after another.

use std::collections::BTreeMap;

use super::{
    Change,
    delta::{Delta, Keys, Run},
    order::{self, Item},
};
use crate::domain::{
    tree::{Shape, Tree},
    wire::json::escape,
};

/// `path` is where `old` stands once the changes before these are applied; it is left as it was.
pub(super) fn emit(
    old: &Tree,
    new: &Tree,
    delta: &Delta,
    path: &mut String,
    out: &mut Vec<Change>,
) {
    match (delta, old.shape(), new.shape()) {
        (Delta::Same, ..) => {}
        (Delta::Text(edits), ..) => out.push(Change::Text {
            path: path.clone(),
            edits: edits.clone(),
        }),
        (Delta::Object(keys), Shape::Object(a), Shape::Object(b)) => {
            objects(a, b, keys, path, out);
        }
        (Delta::List(runs), Shape::List(a), Shape::List(b)) => lists(a, b, runs, path, out),
        _ => out.push(Change::Replace {
            path: path.clone(),
            old: Some(old.clone()),
            new: new.clone(),
        }),
    }
}

fn below<T>(path: &mut String, token: &str, f: impl FnOnce(&mut String) -> T) -> T {
    let len = path.len();
    path.push('/');
    path.push_str(token);
    let out = f(path);
    path.truncate(len);
    out
}

fn objects(
    a: &BTreeMap<String, Tree>,
    b: &BTreeMap<String, Tree>,
    keys: &Keys,
    path: &mut String,
    out: &mut Vec<Change>,
) {
    let renamed: Vec<&String> = keys.renamed.values().collect();
    for (key, old) in a {
        if !b.contains_key(key) && !renamed.contains(&key) {
            out.push(Change::Remove {
                path: below(path, &escape(key), |p| p.clone()),
                old: Some(old.clone()),
            });
        }
    }
    for (key, new) in b {
        match (a.get(key), keys.changed.get(key), keys.renamed.get(key)) {
            (_, _, Some(was)) => out.push(Change::Move {
                from: below(path, &escape(was), |p| p.clone()),
                path: below(path, &escape(key), |p| p.clone()),
            }),
            (Some(old), Some(delta), _) => {
                below(path, &escape(key), |p| emit(old, new, delta, p, out));
            }
            (Some(_), None, _) => {}
            (None, ..) => out.push(Change::Add {
                path: below(path, &escape(key), |p| p.clone()),
                new: new.clone(),
            }),
        }
    }
}

fn lists(a: &[Tree], b: &[Tree], runs: &[Run], path: &mut String, out: &mut Vec<Change>) {
    let at = |path: &mut String, i: usize| below(path, &i.to_string(), |p| p.clone());
    for run in runs.iter().rev() {
        if let Run::Removed { old, len } = run {
            for i in (*old..old + len).rev() {
                out.push(Change::Remove {
                    path: at(path, i),
                    old: Some(a[i].clone()),
                });
            }
        }
    }
    if runs.iter().any(|run| matches!(run, Run::Moved { .. })) {
        for (from, to) in order::moves(&staying(a.len(), runs)) {
            out.push(Change::Move {
                from: at(path, from),
                path: at(path, to),
            });
        }
    }
    for run in runs {
        if let Run::Added { new, len } = run {
            for (j, item) in b.iter().enumerate().skip(*new).take(*len) {
                out.push(Change::Add {
                    path: at(path, j),
                    new: item.clone(),
                });
            }
        }
    }
    for run in runs {
        if let Run::Changed { old, new, delta } | Run::Moved { old, new, delta } = run {
            below(path, &new.to_string(), |p| {
                emit(&a[*old], &b[*new], delta, p, out);
            });
        }
    }
}

/// The items that stay, in their new order, with their place among each other in the old one.
fn staying(len: usize, runs: &[Run]) -> Vec<Item> {
    let mut shift = vec![0; len + 1];
    for run in runs {
        if let Run::Removed { old, len } = run {
            (*old..old + len).for_each(|i| shift[i + 1] = 1);
        }
    }
    for i in 0..len {
        shift[i + 1] += shift[i];
    }
    let mut items = Vec::new();
    for run in runs {
        let (old, len, kept) = match run {
            Run::Same { old, len, .. } => (*old, *len, true),
            Run::Changed { old, .. } => (*old, 1, true),
            Run::Moved { old, .. } => (*old, 1, false),
            Run::Removed { .. } | Run::Added { .. } => continue,
        };
        items.extend((old..old + len).map(|i| Item {
            old: i - shift[i],
            kept,
        }));
    }
    items
}
