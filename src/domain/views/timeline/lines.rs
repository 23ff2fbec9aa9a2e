//! Child runs get a line each.

use super::{Child, Stretch};
use crate::domain::nouns::status::RunStatus;

/// More child runs than this are counted, not drawn.
pub const LINES_MAX: usize = 6;

/// The child runs of `window` that are drawn, in the order they began, and how many are not: those that run come first, then
/// the newest.
pub fn lines(children: &[Child], window: Stretch) -> (Vec<&Child>, i64) {
    let seen = |it: &&Child| it.from.0 < window.to && it.to.0 >= window.from;
    let mut drawn: Vec<&Child> = children.iter().filter(seen).collect();
    drawn.sort_by_key(|it| (it.status != RunStatus::Running, std::cmp::Reverse(it.from)));
    let rest = drawn.len().saturating_sub(LINES_MAX) as i64;
    drawn.truncate(LINES_MAX);
    drawn.sort_by_key(|it| it.from);
    (drawn, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;

    fn child(n: i64, status: RunStatus) -> Child {
        Child {
            id: format!("c{n}").parse().unwrap(),
            title: format!("Child {n}"),
            status,
            step: 1,
            fork: false,
            cost_usd: None,
            from: Time(n),
            to: Time(n + 10),
        }
    }

    #[test]
    fn those_that_run_come_first_and_the_rest_is_counted() {
        let mut children = vec![child(0, RunStatus::Running)];
        children.extend((1..9).map(|n| child(n, RunStatus::Done)));
        let (drawn, rest) = lines(&children, Stretch::new(0, 100));
        assert_eq!(rest, 3);
        assert_eq!(drawn.len(), LINES_MAX);
        assert_eq!(drawn[0].status, RunStatus::Running);
        assert!(drawn.is_sorted_by_key(|it| it.from));
        let (none, rest) = lines(&children, Stretch::new(50, 100));
        assert_eq!((none.len(), rest), (0, 0), "what is out of the window");
    }
}
