//! Where bars, marks and words lie.

use super::*;
use crate::domain::{
    DecisionKind, StepStatus,
    views::timeline::{Flag, Fold, Mark, Waited},
};

fn run_of(steps: i64) -> Timeline {
    let bar = |n: i64| Bar {
        first: n,
        last: n,
        from: Time(n * 1_000_000),
        to: Time(n * 1_000_000 + 900_000),
        look: if n == steps {
            Look::Crashed
        } else {
            Look::Committed
        },
        lane: 0,
        name: None,
    };
    let whole = Stretch::new(1_000_000, steps * 1_000_000 + 900_000);
    Timeline {
        axis: Axis::Time,
        whole,
        window: whole,
        own: None,
        bars: (1..=steps).map(bar).collect(),
        lanes: 1,
        crowded: 0,
        folds: vec![],
        idle: 0,
        superseded: vec![],
        marks: vec![],
        cut: false,
        gaps: vec![],
        phases: vec![],
        flags: vec![],
        children: vec![],
        children_more: 0,
        now: None,
        announced: 0,
    }
}

#[test]
fn elements_follow_looks_and_not_steps() {
    let elements = |steps| {
        let picture = Picture::of(&run_of(steps), 0);
        picture.paths.len() + picture.crashed.len() + picture.crosses.len()
    };
    assert_eq!(elements(40), elements(480));
    assert_eq!(elements(40), 2);
}

#[test]
fn a_crash_is_wide_enough_to_be_seen() {
    let picture = Picture::of(&run_of(400), 0);
    assert!(picture.crashed[0].width >= CRASH_MIN);
}

#[test]
fn a_superseded_step_keeps_its_look_and_fades() {
    let mut rewound = run_of(3);
    rewound.bars[1].look = Look::Superseded;
    rewound.bars[2].look = Look::Superseded;
    rewound.superseded = vec![(2, Look::Committed), (3, Look::Crashed)];
    let picture = Picture::of(&rewound, 0);
    assert_eq!(picture.crashed.len(), 1);
    assert!(picture.crashed[0].ghost);
    let classes: Vec<_> = picture.paths.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(classes, ["bar-committed", "bar-committed is-ghost"]);
}

#[test]
fn the_words_of_two_folds_do_not_run_into_each_other() {
    let mut long = run_of(40);
    let fold = |from: i64| Fold {
        from: from * 1_000_000,
        to: (from + 1) * 1_000_000,
        person: Some(Waited {
            ms: 3_780_000,
            open: false,
        }),
    };
    long.folds = vec![fold(20), fold(22), fold(24)];
    let picture = Picture::of(&long, 0);
    assert_eq!(picture.folds.len(), 3);
    assert!(
        picture
            .folds
            .iter()
            .all(|it| it.said == "waited 1h 03m for a person")
    );
    let mut spans: Vec<_> = picture.labels.iter().map(Label::span).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(
        !spans.is_empty() && spans.is_sorted_by(|a, b| a.1 <= b.0),
        "{spans:?}"
    );
}

/// Crashed at its end and held since, with steps announced after "now".
fn held() -> Timeline {
    let mut held = run_of(40);
    let at = held.bars[39].from;
    held.now = Some(Time(held.whole.to));
    held.announced = 5;
    held.marks = vec![Mark {
        seq: 40,
        at,
        look: Look::Crashed,
        text: "40 crashed mid-flight".into(),
    }];
    held
}

fn overlap(labels: &[&Label]) -> bool {
    let mut spans: Vec<_> = labels.iter().map(|it| it.span()).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    !spans.is_sorted_by(|a, b| a.1 <= b.0)
}

#[test]
fn the_words_of_a_crash_stand_beside_now() {
    let picture = Picture::of(&held(), 0);
    let above: Vec<_> = picture.labels.iter().filter(|it| it.y == 13.0).collect();
    let texts: Vec<_> = above.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["now", "40 crashed mid-flight"]);
    assert!(!overlap(&above), "{above:?}");
}

#[test]
fn no_words_are_cut_off_at_an_edge() {
    for at in [1, 2, 4, 20, 36, 38, 39] {
        let mut long = held();
        long.folds = vec![Fold {
            from: at * 1_000_000,
            to: (at + 1) * 1_000_000,
            person: Some(Waited {
                ms: 3_780_000,
                open: false,
            }),
        }];
        let picture = Picture::of(&long, 0);
        let inside = |it: &Label| it.span().0 >= 0.0 && it.span().1 <= WIDTH;
        assert!(picture.labels.iter().all(inside), "{:?}", picture.labels);
        let said = |it: &&Label| it.class == "label-wait";
        assert_eq!(
            picture.labels.iter().filter(said).count(),
            1,
            "fold at {at}"
        );
        let below: Vec<_> = picture.labels.iter().filter(|it| it.y > 20.0).collect();
        assert!(!overlap(&below), "{below:?}");
    }
}

#[test]
fn a_flag_without_room_says_in_full_what_it_stands_for() {
    let mut rewound = held();
    let flag = Flag {
        kind: DecisionKind::Rewind,
        author: "ana".into(),
        at: rewound.bars[39].from,
        step: Some(38),
    };
    rewound.flags = vec![flag.clone(), flag.clone(), flag];
    let picture = Picture::of(&rewound, 0);
    let flags = picture.labels.iter().filter(|it| it.text.starts_with('⚑'));
    let said: Vec<_> = flags.filter_map(|it| it.said.as_deref()).collect();
    assert_eq!(said, ["rewound to before step 38 by ana"; 3]);
}

#[test]
fn a_fork_says_what_it_shares() {
    let mut fork = run_of(20);
    fork.axis = Axis::Steps;
    (fork.whole, fork.window) = (Stretch::new(1, 21), Stretch::new(1, 21));
    fork.own = Some(18);
    let picture = Picture::of(&fork, 0);
    let shared: Vec<_> = picture.labels.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(shared, ["◂ shared with its origin"]);
    assert!(scale(&fork).x(19) - scale(&fork).x(18) > 0.2 * WIDTH);
    assert!(picture.ticks.iter().any(|it| it.0 >= scale(&fork).x(18)));
}

/// A bar is drawn by its look's place in the list, in the colour of its class.
#[test]
fn every_look_has_its_place_and_its_colour() {
    let style = include_str!("../../../../style/timeline.css");
    for (place, look) in Look::ALL.into_iter().enumerate() {
        assert_eq!(look as usize, place, "{look:?}");
        let class = format!(".bar-{}", look.as_str());
        let rule = |line: &str| {
            line.strip_prefix(class.as_str())
                .is_some_and(|it| matches!(it, " {" | ","))
        };
        assert!(style.lines().any(rule), "{class}");
    }
    for &status in StepStatus::ALL {
        assert!(Look::ALL.contains(&Look::of(status, None)), "{status}");
    }
}
