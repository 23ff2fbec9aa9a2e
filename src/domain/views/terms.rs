//! The words that a run is found by: lower-cased, split where letters and digits end, bounded.

/// Characters of a term that count.
const TERM_MAX: usize = 40;

/// The distinct terms of a text, in its order.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for word in text
        .to_lowercase()
        .split(|letter: char| !letter.is_alphanumeric())
    {
        let term: String = word.chars().take(TERM_MAX).collect();
        if !term.is_empty() && !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

/// What begins the term of a worker, and no word of a text.
const WORKER: char = '@';

/// The term of a run's worker: it is found by its whole name, and by no beginning of a word.
pub fn of_worker(name: &str) -> String {
    format!("{WORKER}{name}")
}

pub fn is_of_text(term: &str) -> bool {
    !term.starts_with(WORKER)
}

/// Sorts after every term that begins with `term`.
pub fn past(term: &str) -> String {
    format!("{term}{}", char::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_titles_and_errors_fall_into_their_words() {
        assert_eq!(
            terms("copy_table: Disk quota, disk FULL (db-eu-2)"),
            ["copy", "table", "disk", "quota", "full", "db", "eu", "2"]
        );
        assert_eq!(terms("ÜBER 東京"), ["über", "東京"]);
        assert!(terms(" --- ").is_empty());
    }

    #[test]
    fn a_beginning_ends_before_the_next_word() {
        let found = |word: &str| "disk" <= word && *word < *past("disk");
        assert!(found("disk") && found("diskfull") && found("disk東"));
        assert!(!found("disl") && !found("dis"));
    }
}
