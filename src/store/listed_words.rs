//! Words of the domain's enums, as a statement lists them: which ones is the domain's to say.

use std::fmt::Display;

/// "'note', 'pin'": those of `all` that fit.
pub fn listed<T: Copy + Display>(all: &[T], fits: impl Fn(T) -> bool) -> String {
    let words = all.iter().filter(|it| fits(**it));
    let words: Vec<_> = words.map(|it| format!("'{it}'")).collect();
    words.join(", ")
}
