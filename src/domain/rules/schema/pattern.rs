//! What a regular expression may cost: how long it is with its counted repetitions written out, and whether it looks
//! around or back, which the engine that never backtracks cannot do.

use super::{PATTERN_MAX, PATTERN_STATES_MAX};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    pub states: u64,
    /// It needs the engine that may backtrack.
    pub looks: bool,
}

/// Weighs a pattern, or says why it is refused. What is no pattern at all, the engine says.
pub fn weigh(pattern: &str) -> Result<Pattern, String> {
    let length = pattern.chars().count();
    if length > PATTERN_MAX {
        return Err(format!(
            "a pattern may have {PATTERN_MAX} characters, not {length}"
        ));
    }
    let weighed = Weigher::default().weigh(pattern);
    match weighed.states > PATTERN_STATES_MAX {
        true => Err(format!(
            "the pattern's repetitions stand for {} characters; the limit is {PATTERN_STATES_MAX}",
            weighed.states
        )),
        false => Ok(weighed),
    }
}

#[derive(Default)]
struct Weigher {
    /// Of each open group: what stands before it.
    open: Vec<u64>,
    total: u64,
    /// What a repetition that comes next would repeat.
    last: u64,
    looks: bool,
}

impl Weigher {
    fn weigh(mut self, pattern: &str) -> Pattern {
        let letters: Vec<char> = pattern.chars().collect();
        let mut at = 0;
        while let Some(&letter) = letters.get(at) {
            at += match letter {
                '\\' => {
                    let next = letters.get(at + 1).copied().unwrap_or_default();
                    self.looks |= next == 'k' || ('1'..='9').contains(&next);
                    // A class of Unicode letters is a large table.
                    self.atom(if matches!(next, 'p' | 'P') { 64 } else { 1 });
                    2
                }
                '[' => {
                    self.atom(4);
                    class(&letters[at..])
                }
                '(' => {
                    let ahead: String = letters[at..].iter().take(4).collect();
                    let around = ["(?=", "(?!", "(?<=", "(?<!"];
                    self.looks |= around.iter().any(|it| ahead.starts_with(it));
                    self.open.push(self.total);
                    (self.total, self.last) = (0, 0);
                    1
                }
                ')' => {
                    let inside = self.total.max(1);
                    self.total = self.open.pop().unwrap_or(0);
                    self.atom(inside);
                    1
                }
                '{' => match repetition(&letters[at..]) {
                    Some((times, length)) => {
                        let more = self.last.saturating_mul(times.saturating_sub(1));
                        self.total = self.total.saturating_add(more);
                        self.last = self.last.saturating_add(more);
                        length
                    }
                    None => {
                        self.atom(1);
                        1
                    }
                },
                '*' | '+' | '?' => 1,
                _ => {
                    self.atom(1);
                    1
                }
            };
        }
        let total = self
            .open
            .iter()
            .fold(self.total, |a, b| a.saturating_add(*b));
        Pattern {
            states: total.max(1),
            looks: self.looks,
        }
    }

    fn atom(&mut self, states: u64) {
        self.last = states;
        self.total = self.total.saturating_add(states);
    }
}

/// How many letters a class in brackets takes.
fn class(letters: &[char]) -> usize {
    let mut at = 1;
    while let Some(letter) = letters.get(at) {
        match letter {
            '\\' => at += 2,
            ']' => return at + 1,
            _ => at += 1,
        }
    }
    letters.len()
}

/// `{n}`, `{n,}` or `{n,m}`: how often at most (as written), and how many letters it takes.
fn repetition(letters: &[char]) -> Option<(u64, usize)> {
    let end = letters.iter().position(|it| *it == '}')?;
    let inside: String = letters[1..end].iter().collect();
    let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
    let number = |text: &str| match text.bytes().all(|it| it.is_ascii_digit()) {
        // A number that is too long to be read is too large in any case.
        true => Some(text.parse::<u64>().unwrap_or(u64::MAX)),
        false => None,
    };
    let least = number(least).filter(|_| !least.is_empty())?;
    let most = match most {
        "" => least,
        most => number(most)?,
    };
    Some((least.max(most), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(pattern: &str) -> u64 {
        weigh(pattern).unwrap().states
    }

    #[test]
    fn counted_repetitions_multiply_where_they_are_inside_each_other() {
        assert!(states("^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}$") < 200);
        assert!(states("(ab{10}){10}") >= 100);
        assert!(weigh("((a{100}){100}){100}").is_err());
        assert!(weigh("a{99999999999999999999999}").is_err());
        assert!(weigh(&"a".repeat(5_000)).is_err());
        assert_eq!(
            states("a{,5}"),
            5,
            "that is no repetition, but five letters"
        );
    }

    #[test]
    fn looking_around_and_back_is_noticed() {
        for pattern in [
            "(?!a)b",
            "(?=a)b",
            "(?<=a)b",
            "(?<!a)b",
            r"(a)\1",
            r"(?<n>a)\k<n>",
        ] {
            assert!(weigh(pattern).unwrap().looks, "{pattern}");
        }
        for pattern in ["(?:a)b", r"\(?=", "[(?=]", r"(?<n>a)", r"\d+"] {
            assert!(!weigh(pattern).unwrap().looks, "{pattern}");
        }
    }
}
