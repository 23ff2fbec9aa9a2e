//! The kinds of pages there are, and the runs, people and titles that each of them must show.

use serde_json::json;

use crate::support::Api;

/// What one page must show.
pub struct Wanted {
    pub path: String,
    pub status: u16,
    pub title: String,
    /// Runs that must be on it, and those that may.
    pub runs: Vec<usize>,
    pub others: Vec<usize>,
    /// Whether the reader's name stands in its bar.
    pub named: bool,
    /// The person whose new link a posted form asked for: it is shown once, and to the one who asked.
    pub link_for: Option<String>,
}

impl Wanted {
    /// The form that is posted to get it; other pages are asked for.
    pub fn form(&self) -> Option<String> {
        let name = self.link_for.as_ref()?;
        Some(format!("change=new_link&name={name}"))
    }
}

/// A name that stands in everything that belongs to one run.
pub fn marker(run: usize) -> String {
    format!("mark{run:02}x")
}

fn id(run: usize) -> String {
    format!("{}-run", marker(run))
}

/// Somebody with a new link, each time a form asks for one.
pub fn guest(n: usize) -> String {
    format!("guest-{n:02}")
}

pub const RUNS: usize = 10;

/// Runs `n % 5` of which are in this state.
fn each(state: &[usize]) -> Vec<usize> {
    (0..RUNS).filter(|n| state.contains(&(n % 5))).collect()
}
const CRASHED: usize = 0;
const FAILED: usize = 1;
const WAITING: usize = 2;
const DONE: usize = 3;
const RUNNING: usize = 4;

/// Runs in every state, each with its own marker in its id, title, steps, state and question. Their agent is one: every page
/// knows which agents there are.
pub async fn runs(api: &Api) {
    for n in 0..RUNS {
        let mark = marker(n);
        let agent = api
            .agent(json!({
                "id": id(n), "agent": "marked", "title": format!("{mark} <title>"),
                "state": {"of": format!("{mark}-state"), "list": [1, 2, 3]},
            }))
            .await;
        let patch = json!([{"op": "add", "path": "/more", "value": format!("{mark}-more")}]);
        agent
            .does(&format!("{mark}-one"), json!({"patch": patch}))
            .await;
        let second = format!("{mark}-two");
        match n % 5 {
            CRASHED => {
                agent
                    .executes(
                        &second,
                        json!({"effect": {"target": format!("{mark}-effect")}}),
                    )
                    .await;
                agent.release(json!({})).await.is(200);
            }
            FAILED => {
                let seq = agent.executes(&second, json!({})).await;
                let error = json!({"kind": "Broken", "message": format!("{mark}-error")});
                let body = json!({"error": error, "retryable": false});
                agent.fail(seq, 1, body).await.is(200);
                let end = json!({"outcome": "failed", "error": error});
                agent.finish(end).await.is(200);
            }
            WAITING => {
                let gate = json!({"title": format!("{mark}-question?")});
                agent
                    .begin(&second, json!({"kind": "gate", "gate": gate}))
                    .await
                    .is(200);
                agent.release(json!({})).await.is(200);
            }
            DONE => {
                agent.finish(json!({})).await.is(200);
            }
            _ => {
                // No lease that runs out meanwhile, which would make another run of it.
                let long = json!({"ttl_ms": 3_600_000});
                agent.heartbeat(long).await.is(200);
                agent.executes(&second, json!({})).await;
            }
        }
        let note = json!({"kind": "note", "text": format!("{mark}-note")});
        api.decide(&id(n), note).await.is(200);
    }
}

pub const KINDS: usize = 19;

/// The kinds of pages there are, and what each must show; `n` picks one.
pub fn wanted(n: usize) -> Wanted {
    let about = n / KINDS % RUNS;
    let (mark, id) = (marker(about), id(about));
    let named = format!("{mark} &lt;title>");
    let of = |path: String, title: String| Wanted {
        path,
        status: 200,
        title,
        runs: vec![about],
        others: Vec::new(),
        named: true,
        link_for: None,
    };
    let list = |path: &str, title: &str, runs: Vec<usize>| Wanted {
        path: path.to_owned(),
        status: 200,
        title: title.to_owned(),
        runs,
        others: Vec::new(),
        named: true,
        link_for: None,
    };
    let plain = |path: &str, title: &str| list(path, title, Vec::new());
    match n % KINDS {
        0 => of(format!("/runs/{id}"), named),
        1 => of(format!("/runs/{id}?step=1&tab=state"), named),
        2 => of(format!("/runs/{id}?ask=resume"), named),
        3 => of(format!("/runs/{id}?step=1&tab=diff"), named),
        4 => of(format!("/runs/{id}/diff"), "Snapshot 0 → 1".into()),
        5 => of(format!("/runs/{id}/resume"), format!("Resume {named}")),
        6 => of(format!("/runs/{id}/edit"), format!("Edit {named}")),
        7 => of(format!("/runs/{id}/edit?path=/of"), format!("Edit {named}")),
        // Five of those that need a person stand on top: the crashed ones, then the oldest. The others are counted.
        8 => {
            let on_top = each(&[CRASHED, FAILED, WAITING]);
            let last = on_top.iter().copied().filter(|n| n % 5 == WAITING).max();
            let (counted, mut runs): (Vec<_>, Vec<_>) = (0..RUNS).partition(|n| Some(*n) == last);
            runs.sort_unstable();
            Wanted {
                others: counted,
                ..list("/", "Runs", runs)
            }
        }
        9 => list("/?status=crashed", "Runs", each(&[CRASHED])),
        10 => list("/?view=needs", "Runs", each(&[CRASHED, FAILED, WAITING])),
        11 => list("/inbox", "Inbox", each(&[WAITING])),
        12 => list("/audit?kind=decision", "Audit", (0..RUNS).collect()),
        // Links that were asked for meanwhile push the notes about runs off its first page.
        13 => Wanted {
            others: (0..RUNS).collect(),
            ..plain("/audit", "Audit")
        },
        14 => Wanted {
            others: each(&[RUNNING]),
            ..plain("/workers", "Workers")
        },
        15 => plain("/settings", "Settings"),
        // The same page, made anew with what its form gave, by a way of its own.
        16 => Wanted {
            link_for: Some(guest(about)),
            ..plain("/settings", "Settings")
        },
        17 => Wanted {
            status: 404,
            ..match about % 2 {
                0 => plain("/nowhere", "Not found"),
                _ => plain("/runs/no-such-run", "No such run"),
            }
        },
        _ => Wanted {
            named: false,
            ..plain("/signin", "Sign in")
        },
    }
}
