//! Changes applied to a state. Subtrees are shared with who else has them, and changed in place where nobody has.

use super::{Change, as_text, text};
use crate::domain::{
    tree::{Shape, Tree, index},
    wire::patch::{PatchError, tokens},
};

type Step<T> = Result<T, &'static str>;

/// From so many changes of one list on, it is edited in blocks.
const MANY: usize = 32;
const BLOCK: usize = 512;

pub(super) fn apply(mut state: Tree, changes: &[Change]) -> Result<Tree, PatchError> {
    let mut done = 0;
    while let Some(change) = changes.get(done) {
        let at = |index: usize| {
            move |why| PatchError {
                index,
                path: changes[index].path().to_owned(),
                why,
            }
        };
        let same_list = changes[done..]
            .iter()
            .take_while(|next| is_of_list(next, list_of(change)))
            .count();
        let keys = tokens(list_of(change)).map_err(at(done))?;
        // Keys of an object may look like places in a list.
        let is_list = |found: &Tree| matches!(found.shape(), Shape::List(_));
        if same_list >= MANY && state.get(&keys).is_some_and(is_list) {
            let mut failed = done;
            state
                .edit_list(&keys, |items| {
                    let mut blocks = Blocks::new(items);
                    for change in &changes[done..done + same_list] {
                        blocks.apply(change)?;
                        failed += 1;
                    }
                    Ok(blocks.into_items())
                })
                .map_err(|why| at(failed.min(changes.len() - 1))(why))?;
            done += same_list;
        } else {
            // All that was counted: counting them again for each would cost the square of their number.
            for change in &changes[done..done + same_list.max(1)] {
                one(&mut state, change).map_err(at(done))?;
                done += 1;
            }
        }
    }
    Ok(state)
}

fn one(state: &mut Tree, change: &Change) -> Step<()> {
    match change {
        Change::Add { path, new } => state.put_at(path, new.clone()),
        Change::Remove { path, .. } => state.take_at(path).map(drop),
        Change::Replace { path, new, .. } => state.swap_at(path, new.clone()),
        Change::Move { from, path } => {
            if path.starts_with(&format!("{from}/")) {
                return Err("a value cannot be moved into itself");
            }
            if from == path {
                let found = state.get(&tokens(from)?);
                return found.map(drop).ok_or("there is no value at `from`");
            }
            let moved = state.take_at(from)?;
            state.put_at(path, moved)
        }
        Change::Text { path, edits } => {
            let found = state.get(&tokens(path)?).ok_or("there is no value")?;
            let old = as_text(found).ok_or("the value there is not a string")?;
            let new = text::applied(old, edits).ok_or("the edits do not fit the string there")?;
            state.swap_at(path, Tree::from(serde_json::Value::from(new)))
        }
    }
}

fn list_of(change: &Change) -> &str {
    change.path().rsplit_once('/').map_or("", |(list, _)| list)
}

/// Whether it adds, removes or moves an item of that list and nothing else.
fn is_of_list(change: &Change, list: &str) -> bool {
    let item = |path: &str| {
        let token = path.rsplit_once('/');
        token.is_some_and(|(parent, last)| {
            parent == list && !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit())
        })
    };
    match change {
        Change::Add { path, .. } | Change::Remove { path, .. } => item(path),
        Change::Move { from, path } => item(from) && item(path),
        Change::Replace { .. } | Change::Text { .. } => false,
    }
}

/// A long list in blocks, so that an item in its middle comes and goes at little cost.
struct Blocks {
    blocks: Vec<Vec<Tree>>,
    len: usize,
}

impl Blocks {
    fn new(items: Vec<Tree>) -> Self {
        let len = items.len();
        let blocks = items.chunks(BLOCK).map(<[Tree]>::to_vec).collect();
        Self { blocks, len }
    }

    fn into_items(self) -> Vec<Tree> {
        self.blocks.into_iter().flatten().collect()
    }

    fn apply(&mut self, change: &Change) -> Step<()> {
        match change {
            Change::Add { path, new } => self.insert(path, new.clone()),
            Change::Remove { path, .. } => self.remove(path).map(drop),
            Change::Move { from, path } => {
                let moved = self.remove(from)?;
                self.insert(path, moved)
            }
            Change::Replace { .. } | Change::Text { .. } => Err("not a change of a list"),
        }
    }

    /// The block that holds an index, and the place in it; the end counts to the last block.
    fn place(&self, mut at: usize) -> (usize, usize) {
        for (block, items) in self.blocks.iter().enumerate() {
            if at < items.len() {
                return (block, at);
            }
            at -= items.len();
        }
        let last = self.blocks.len().saturating_sub(1);
        (last, self.blocks.last().map_or(0, Vec::len))
    }

    fn insert(&mut self, path: &str, item: Tree) -> Step<()> {
        let (block, at) = self.place(last_index(path, self.len + 1)?);
        self.len += 1;
        match self.blocks.get_mut(block) {
            None => self.blocks.push(vec![item]),
            Some(items) => {
                items.insert(at, item);
                if items.len() > 2 * BLOCK {
                    let rest = items.split_off(BLOCK);
                    self.blocks.insert(block + 1, rest);
                }
            }
        }
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Step<Tree> {
        let (block, at) = self.place(last_index(path, self.len)?);
        self.len -= 1;
        let items = self.blocks.get_mut(block).ok_or("there is no value")?;
        let item = items.remove(at);
        if items.is_empty() {
            self.blocks.remove(block);
        }
        Ok(item)
    }
}

fn last_index(path: &str, len: usize) -> Step<usize> {
    index(path.rsplit_once('/').map_or("", |(_, last)| last), len)
}
