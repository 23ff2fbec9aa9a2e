//! What an operator picked in a plan for the steps that wait for a decision, and the order that it makes. The dialog and
//! the plain form read the same picks.

use serde_json::Value;
use std::collections::BTreeMap;

use super::typed_json;
use crate::domain::{
    DecisionKind, Recovery,
    rules::plan::{Plan, PlanStep},
    wire::{
        patch::Op,
        protocol::{Choice, Decide},
    },
};

/// A way out for one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// I checked: it happened; this is its result.
    Happened,
    /// I checked: it did not happen.
    NewKey,
    SameKey,
    Skip,
}

impl Way {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Happened => "happened",
            Self::NewKey => "new_key",
            Self::SameKey => "same_key",
            Self::Skip => "skip",
        }
    }

    pub fn of(word: &str) -> Option<Self> {
        let all = [Self::Happened, Self::NewKey, Self::SameKey, Self::Skip];
        all.into_iter().find(|way| way.as_str() == word)
    }

    /// It takes a result that someone enters.
    pub fn gives(self) -> bool {
        matches!(self, Self::Happened | Self::Skip)
    }

    fn kind(self) -> DecisionKind {
        match self {
            Self::Happened => DecisionKind::Commit,
            Self::NewKey | Self::SameKey => DecisionKind::Retry,
            Self::Skip => DecisionKind::Skip,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picked {
    pub way: Option<Way>,
    /// As typed; nothing is `null`.
    pub result: String,
    /// A JSON pointer into the state, as typed: the value there is changed before the step goes on. Empty: none is.
    pub path: String,
    /// The new value there, as typed JSON.
    pub value: String,
    /// What stands there now, once it is known: the same value again is no change.
    pub stands: Option<Value>,
}

impl Picked {
    /// It names a value of the state. A skip takes no change: the step does not go on.
    fn names_value(&self) -> bool {
        self.way != Some(Way::Skip) && !self.path.trim().is_empty()
    }

    /// Nothing of a change is typed any more.
    pub fn clear_change(&mut self) {
        (self.path, self.value, self.stands) = Default::default();
    }

    /// The value is what stood there by itself when it was read: nobody typed it, so it follows what stands there.
    pub fn is_untouched(&self) -> bool {
        let typed = || typed_json::parse(self.value.trim()).ok();
        self.value.is_empty() || self.stands.is_some() && self.stands == typed()
    }

    /// What comes of the change that was typed: "/note → \"hello\"".
    pub fn said_of_change(&self) -> Option<String> {
        let path = self.path.trim();
        match typed_change(self) {
            Ok(Some(op)) => Some(spoken(&op)),
            Ok(None) if self.names_value() => Some(format!("{path} is unchanged, nothing is sent")),
            Ok(None) => None,
            Err(_) => Some(format!("{path} is not complete")),
        }
    }
}

/// Longer values are cut where they are only named.
const NAMED_MAX: usize = 60;

fn spoken(change: &Op) -> String {
    let value = change.value().map(Value::to_string).unwrap_or_default();
    let value = match value.char_indices().nth(NAMED_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value,
    };
    format!("{} → {value}", change.path())
}

/// The changes of the state that this order carries, in words.
pub fn changes(plan: &Plan, picks: &Picks) -> Vec<String> {
    let picked = plan.missing().filter_map(|step| picks.get(&step.seq?));
    let sent = picked.filter_map(|it| typed_change(it).ok().flatten());
    sent.map(|op| spoken(&op)).collect()
}

/// By step.
pub type Picks = BTreeMap<i64, Picked>;

/// What is picked at first: nothing for a step whose rule is `ask`, unless a button elsewhere asked for it.
pub fn first_picks(plan: &Plan, choose: Option<DecisionKind>) -> Picks {
    let first = |step: &PlanStep| {
        let way = match choose {
            Some(DecisionKind::Retry) => Some(Way::SameKey),
            Some(DecisionKind::Skip) => Some(Way::Skip),
            Some(DecisionKind::Commit) => Some(Way::Happened),
            _ if step.recovery != Recovery::Ask => Some(Way::SameKey),
            _ => None,
        };
        let picked = Picked {
            way,
            ..Picked::default()
        };
        Some((step.seq?, picked))
    };
    plan.missing().filter_map(first).collect()
}

/// What was picked in the plan `before`, for the plan as it is `now`. A choice stays where its step still asks the same; what was
/// typed stays wherever the step still waits for a decision.
pub fn kept(before: &Plan, now: &Plan, picks: &Picks) -> Picks {
    let mut kept = first_picks(now, None);
    for step in now.missing() {
        let Some(seq) = step.seq else { continue };
        let (Some(mine), Some(picked)) = (picks.get(&seq), kept.get_mut(&seq)) else {
            continue;
        };
        let same = before.missing().any(|it| step.asks_like(it));
        let way = if same { mine.way } else { picked.way };
        *picked = Picked {
            way,
            ..mine.clone()
        };
    }
    kept
}

/// The order that carries out the plan, or what it lacks.
pub fn order(plan: &Plan, picks: &Picks, reason: &str) -> Result<Decide, String> {
    if let Some(lacks) = missing(plan, picks, reason) {
        return Err(lacks);
    }
    let mut choices = Vec::new();
    for seq in plan.missing().filter_map(|step| step.seq) {
        let picked = picks.get(&seq).cloned().unwrap_or_default();
        let Some(way) = picked.way else { continue };
        let result = typed_result(seq, &picked)?;
        choices.push(Choice {
            result: way.gives().then_some(result),
            patch: typed_change(&picked)?.map(|op| vec![op]),
            new_key: way == Way::NewKey,
            ..Choice::new(way.kind(), seq)
        });
    }
    Ok(Decide {
        if_version: Some(plan.version),
        plan: Some(plan.hash),
        reason: Some(reason.to_owned()),
        choices,
        ..Decide::new(DecisionKind::Resume)
    })
}

fn typed_result(seq: i64, picked: &Picked) -> Result<Value, String> {
    match picked.result.trim() {
        "" => Ok(Value::Null),
        text => typed_json::parse(text).map_err(|wrong| {
            format!(
                "the result of step {seq} is not valid JSON: line {}: {}",
                wrong.line, wrong.what
            )
        }),
    }
}

/// The change of one value that was typed; none where the value there is the same already.
fn typed_change(picked: &Picked) -> Result<Option<Op>, String> {
    if !picked.names_value() {
        return Ok(None);
    }
    let (path, text) = (picked.path.trim(), picked.value.trim());
    if !path.starts_with('/') {
        return Err(format!("the path “{path}” must begin with /"));
    }
    if text.is_empty() {
        return Err(format!("the new value of {path} is missing"));
    }
    match typed_json::parse(text) {
        Ok(value) if picked.stands.as_ref() == Some(&value) => Ok(None),
        Ok(value) => Ok(Some(Op::Replace {
            path: path.to_owned(),
            value,
        })),
        Err(wrong) => Err(format!(
            "the new value of {path} is not valid JSON: {}",
            wrong.what
        )),
    }
}

/// What is still missing, in words.
pub fn missing(plan: &Plan, picks: &Picks, reason: &str) -> Option<String> {
    let open = plan.missing().filter_map(|step| step.seq);
    let undecided = open.filter(|seq| picks.get(seq).is_none_or(|it| it.way.is_none()));
    let undecided = undecided.count();
    for (seq, picked) in picks {
        if picked.way.is_some_and(Way::gives)
            && let Err(why) = typed_result(*seq, picked)
        {
            return Some(why);
        }
        if let Err(why) = typed_change(picked) {
            return Some(why);
        }
    }
    match (undecided, reason.trim().is_empty()) {
        (0, false) => None,
        (0, true) => Some("a reason is missing".into()),
        (1, true) => Some("1 decision and a reason are missing".into()),
        (1, false) => Some("1 decision is missing".into()),
        (n, true) => Some(format!("{n} decisions and a reason are missing")),
        (n, false) => Some(format!("{n} decisions are missing")),
    }
}

/// What a plain form posted: `way.47=skip`, `result.47.skip=…` (the one of the chosen way counts), `path.47=/customer/email`,
/// `value.47=…`.
pub fn posted<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Picks {
    let mut picks = Picks::new();
    let mut results = Vec::new();
    for (name, text) in fields {
        let (what, seq) = name.split_once('.').unwrap_or((name, ""));
        let (seq, way) = seq.split_once('.').unwrap_or((seq, ""));
        let Ok(seq) = seq.parse::<i64>() else {
            continue;
        };
        let picked = picks.entry(seq).or_default();
        match what {
            "way" => picked.way = Way::of(text),
            "result" => results.push((seq, Way::of(way), text)),
            "path" => picked.path = text.to_owned(),
            "value" => picked.value = text.to_owned(),
            _ => {}
        }
    }
    for (seq, way, text) in results {
        let picked = picks.entry(seq).or_default();
        if way.is_none() || way == picked.way {
            picked.result = text.to_owned();
        }
    }
    picks
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn picked(way: Way, path: &str, value: &str) -> Picked {
        Picked {
            way: Some(way),
            path: path.into(),
            value: value.into(),
            ..Picked::default()
        }
    }

    fn typed(way: Way, path: &str, value: &str) -> Result<Option<Op>, String> {
        typed_change(&picked(way, path, value))
    }

    #[test]
    fn a_value_is_changed_where_the_path_leads() {
        let made = typed(Way::SameKey, " /amount ", "1249").unwrap();
        assert_eq!(
            json!(made),
            json!({"op": "replace", "path": "/amount", "value": 1249})
        );
    }

    #[test]
    fn no_path_and_no_step_that_goes_on_change_nothing() {
        assert!(typed(Way::SameKey, " ", "1").unwrap().is_none());
        assert!(typed(Way::Skip, "/amount", "1").unwrap().is_none());
    }

    #[test]
    fn the_value_that_stands_there_already_is_no_change() {
        let stands = |value: Value| Picked {
            stands: Some(value),
            ..picked(Way::SameKey, "/note", " \"hello\" ")
        };
        let same = stands(json!("hello"));
        assert!(typed_change(&same).unwrap().is_none());
        let said = same.said_of_change().unwrap();
        assert_eq!(said, "/note is unchanged, nothing is sent");
        assert!(same.is_untouched() && Picked::default().is_untouched());
        let other = stands(json!("as it was"));
        assert!(typed_change(&other).unwrap().is_some());
        assert!(!other.is_untouched() && !picked(Way::SameKey, "/note", "1").is_untouched());
        assert_eq!(other.said_of_change().unwrap(), "/note → \"hello\"");
    }

    #[test]
    fn what_will_be_sent_is_said_until_it_is_cleared() {
        let said = |it: &Picked| it.said_of_change();
        assert_eq!(
            said(&picked(Way::NewKey, "/note", "hel")).unwrap(),
            "/note is not complete"
        );
        assert_eq!(said(&picked(Way::Skip, "/note", "1")), None);
        let mut typed = picked(Way::NewKey, "/note", "1");
        assert_eq!(said(&typed).unwrap(), "/note → 1");
        typed.clear_change();
        assert_eq!(said(&typed), None);
        assert_eq!(typed.way, Some(Way::NewKey), "the decision stays");
    }

    #[test]
    fn what_cannot_be_a_change_is_said() {
        let why = |path, value| typed(Way::NewKey, path, value).unwrap_err();
        assert_eq!(why("amount", "1"), "the path “amount” must begin with /");
        assert_eq!(why("/amount", " "), "the new value of /amount is missing");
        assert!(why("/note", "by hand").starts_with("the new value of /note is not valid JSON: "));
    }

    #[test]
    fn a_plain_form_posts_the_change_by_step() {
        let picks =
            posted([("way.47", "same_key"), ("path.47", "/a"), ("value.47", "2")].into_iter());
        assert_eq!(picks[&47].path, "/a");
        assert_eq!(picks[&47].value, "2");
    }

    #[test]
    fn of_the_results_that_a_plain_form_posts_the_chosen_ways_own_counts() {
        let fields = [
            ("result.47.happened", "1"),
            ("way.47", "skip"),
            ("result.47.skip", "2"),
        ];
        assert_eq!(posted(fields.into_iter()).remove(&47).unwrap().result, "2");
        let fields = [("result.47", "3"), ("way.47", "happened")];
        assert_eq!(posted(fields.into_iter()).remove(&47).unwrap().result, "3");
    }
}
