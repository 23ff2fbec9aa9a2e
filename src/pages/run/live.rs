//! Keeps a run's page current from the stream's frames: rows are patched where they are, and only what a frame does not
//! carry is read again, a few frames at a time.

use std::time::Duration;

use leptos::prelude::*;

use super::{read::Read, run_url::RunUrl};
use crate::{
    components::browser::every,
    domain::{Frame, Run},
    live::{Connection, Live, Message, Throttle},
};

/// The selected step is read again at most this often.
const STEP: Duration = Duration::from_millis(150);
/// The timeline is drawn again at most this often.
const REDRAW: Duration = Duration::from_millis(2_000);
/// A run to which nothing happens is drawn again this often.
const NOTHING: Duration = Duration::from_secs(10);
/// What people said and did about the run is read again at most this often.
const SAID: Duration = Duration::from_millis(300);
/// The rest of the run's sheet, which no frame carries, is read again at most this often: saved steps, announcements, usual
/// durations.
const REST: Duration = Duration::from_millis(3_000);

pub fn keep_current(id: Memo<String>, url: Memo<RunUrl>, read: Read) {
    let live = expect_context::<Live>();
    Effect::new(move || live.watch(id.with(|id| id.parse().ok())));
    let step = Throttle::after(live, STEP, move || {
        read.one.refetch();
        read.beside.refetch();
    });
    let redraw = Throttle::after(live, REDRAW, move || read.picture.refetch());
    let said = Throttle::after(live, SAID, move || read.decided.refetch());
    let rest = Throttle::after(live, REST, move || {
        read.run.refetch();
        read.decided.refetch();
    });
    let patch = move |frame: &Frame| {
        let ours = |run: &&Run| id.with_untracked(|id| run.id.as_str() == id);
        let Some(run) = frame.runs.iter().find(ours) else {
            return;
        };
        let moved = read.newer.with_untracked(|before| {
            before.as_ref().is_none_or(|(_, before)| {
                (before.status, before.version) != (run.status, run.version)
            })
        });
        if url.with_untracked(|it| it.follow) {
            read.newest.set(run.at.as_ref().map(|at| at.seq));
        }
        read.newer.set(Some((frame.event, run.clone())));
        let selected = read.selected(run.id.as_str());
        if frame.steps.iter().any(|it| Some(it.seq) == selected) {
            step.ask();
        }
        match moved {
            true => {
                // The decision may have been about the selected step, whose own row need not have changed.
                step.ask();
                read.picture.refetch();
                read.run.refetch();
                read.asked.refetch();
                read.decided.refetch();
            }
            false => {
                // No step moved, and no version: a note, a pin or a fork, which others read at once.
                if frame.steps.is_empty() {
                    said.ask();
                }
                redraw.ask();
                rest.ask();
            }
        }
    };
    let again = Throttle::patiently(live, move || {
        read.run.refetch();
        read.window.refetch();
        step.ask();
        redraw.ask();
    });
    live.listen(move |message| match message {
        Message::Frame(frame) => patch(&frame),
        Message::ReadAgain => again.ask(),
    });
    // The timeline's "now" moves without events.
    let connection = live.connection();
    Effect::new(move || {
        every(NOTHING, move || {
            if connection.get_untracked() == Connection::Live && read.goes_on() {
                redraw.ask();
            }
        });
    });
    // Who begins to follow sees the step that the run is at.
    Effect::new(move || {
        if url.with(|it| it.follow) {
            let at = read.run.get().and_then(Result::ok);
            let at = at.and_then(|it| it.value.run.at).map(|at| at.seq);
            let newer = read
                .newer
                .with(|it| it.as_ref().and_then(|(_, run)| run.at.clone()));
            read.newest.set(newer.map(|at| at.seq).max(at));
        }
    });
}
