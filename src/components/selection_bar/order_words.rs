//! What an order for several runs will do, and what came of it, in words.

use std::collections::BTreeMap;

use crate::{
    components::selection::Picked,
    domain::{DecisionKind, RunId, RunStatus, rules::offer::Standing, views::words},
};

/// What was done to a run; one that a worker holds was only asked.
pub(super) fn past(kind: DecisionKind, asked: bool) -> &'static str {
    match (kind, asked) {
        (DecisionKind::Resume, _) => "resumed",
        (DecisionKind::Pause, false) => "paused",
        (DecisionKind::Pause, true) => "pause requested",
        (_, false) => "cancelled",
        (_, true) => "cancel requested",
    }
}

/// "Cancelled 2 runs, cancel requested for 1 run"
pub(super) fn came_of_it(kind: DecisionKind, now: usize, later: usize) -> String {
    let runs = |n: usize| words::several(n as i64, "run");
    let did = format!("{} {}", past(kind, false), runs(now));
    let asked = format!("{} for {}", past(kind, true), runs(later));
    words::capital(match (now, later) {
        (_, 0) => did,
        (0, _) => asked,
        _ => format!("{did}, {asked}"),
    })
}

/// "Cancel 3 runs"
pub(super) fn heading(kind: DecisionKind, n: usize) -> String {
    let verb = match kind {
        DecisionKind::Pause => "Pause",
        DecisionKind::Resume => "Resume",
        _ => "Cancel",
    };
    match n {
        1 => format!("{verb} 1 run"),
        n => format!("{verb} {n} runs"),
    }
}

/// What will happen, by what each run is: "2 stop at their next step boundary, 1 at once".
pub(super) fn consequences(kind: DecisionKind, picked: &BTreeMap<RunId, Picked>) -> String {
    let count = |fits: &dyn Fn(&Picked) -> bool| picked.values().filter(|it| fits(it)).count();
    if kind == DecisionKind::Resume {
        return resumed(count(&|it| offered(kind, it)), picked.len());
    }
    let over = |it: &Picked| it.status.over();
    let paused = |it: &Picked| it.status == RunStatus::Paused && kind == DecisionKind::Pause;
    let idle = |it: &Picked| over(it) || paused(it);
    let (later, now) = (
        count(&|it| !idle(it) && it.live),
        count(&|it| !idle(it) && !it.live),
    );
    let verb = |n: usize| match (kind, n) {
        (DecisionKind::Pause, 1) => "pauses",
        (DecisionKind::Pause, _) => "pause",
        (_, 1) => "stops",
        _ => "stop",
    };
    let mut said = Vec::new();
    if later > 0 {
        let whose = if later == 1 { "its" } else { "their" };
        said.push(format!(
            "{later} {} at {whose} next step boundary",
            verb(later)
        ));
    }
    if now > 0 {
        said.push(format!("{now} {} at once", verb(now)));
    }
    let (is_over, is_paused) = (count(&over), count(&paused));
    if is_over > 0 {
        let are = if is_over == 1 { "is" } else { "are" };
        said.push(format!("{is_over} {are} over already"));
    }
    if is_paused > 0 {
        let are = if is_paused == 1 { "is" } else { "are" };
        said.push(format!("{is_paused} {are} paused already"));
    }
    let unknown = match count(&|it| !over(it) && it.unknown) {
        0 => String::new(),
        1 => " 1 has an unknown effect: it may have happened.".to_owned(),
        n => format!(" {n} have an unknown effect: each may have happened."),
    };
    let undone = match kind {
        DecisionKind::Cancel => format!(" Nothing that they did outside is undone.{unknown}"),
        _ => String::new(),
    };
    format!("{}.{undone}", said.join(", "))
}

/// The server would accept it for this run, as it was seen.
fn offered(kind: DecisionKind, it: &Picked) -> bool {
    let standing = Standing {
        status: it.status,
        live: it.live,
        effects_unknown: false,
        not_undone: false,
    };
    standing.offers(kind, None)
}

/// What a resume of several does.
fn resumed(fits: usize, all: usize) -> String {
    let rest = match all - fits {
        0 => String::new(),
        1 => " 1 run cannot be resumed and is left unchanged.".to_owned(),
        n => format!(" {n} runs cannot be resumed and are left unchanged."),
    };
    let each = if fits == 1 { "The" } else { "Each" };
    format!(
        "{each} run with known effects resumes by its own plan: a step that stopped is tried again with the same key. \
         A run with an unknown effect is left for you to look at.{rest}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(each: &[(RunStatus, bool)]) -> BTreeMap<RunId, Picked> {
        let one = |(index, (status, live)): (usize, &(RunStatus, bool))| {
            let id = format!("r{index}").parse().unwrap();
            let known = Picked {
                version: 1,
                status: *status,
                live: *live,
                unknown: *status == RunStatus::Crashed,
            };
            (id, known)
        };
        each.iter().enumerate().map(one).collect()
    }

    #[test]
    fn the_dialog_says_what_will_happen_to_each() {
        let three = picked(&[
            (RunStatus::Running, true),
            (RunStatus::Running, true),
            (RunStatus::Crashed, false),
        ]);
        assert_eq!(heading(DecisionKind::Cancel, three.len()), "Cancel 3 runs");
        assert_eq!(
            consequences(DecisionKind::Cancel, &three),
            "2 stop at their next step boundary, 1 stops at once. Nothing that they did outside is undone. \
             1 has an unknown effect: it may have happened."
        );
        assert_eq!(
            came_of_it(DecisionKind::Cancel, 1, 2),
            "Cancelled 1 run, cancel requested for 2 runs"
        );
        assert_eq!(
            came_of_it(DecisionKind::Cancel, 0, 3),
            "Cancel requested for 3 runs"
        );
        assert_eq!(came_of_it(DecisionKind::Pause, 2, 0), "Paused 2 runs");
        let two = picked(&[(RunStatus::Paused, false), (RunStatus::Done, false)]);
        assert_eq!(
            consequences(DecisionKind::Pause, &two),
            "1 is over already, 1 is paused already."
        );
        assert_eq!(heading(DecisionKind::Resume, 3), "Resume 3 runs");
        let said = consequences(DecisionKind::Resume, &three);
        assert!(
            said.contains("2 runs cannot be resumed and are left unchanged."),
            "{said}"
        );
    }
}
