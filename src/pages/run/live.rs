//! Keeps a run's page current: what an event touched is read again, a few events at a time, and nothing else.

use std::time::Duration;

use leptos::{leptos_dom::helpers::set_timeout, prelude::*};

use super::{place::Place, read::Read};
use crate::live::{Live, Message};

/// Events within this time are read together.
const GATHER: Duration = Duration::from_millis(60);
/// The timeline is drawn again at most this often.
const REDRAW: Duration = Duration::from_millis(1_000);

pub fn keep_current(id: Memo<String>, place: Memo<Place>, read: Read) {
    let due = StoredValue::new(false);
    let redraw = StoredValue::new(false);
    let soon = move |flag: StoredValue<bool>, pause: Duration, again: Callback<()>| {
        if !flag.get_value() {
            flag.set_value(true);
            let run = move || {
                if flag.try_set_value(false).is_none() {
                    again.run(());
                }
            };
            set_timeout(run, pause);
        }
    };
    let again = Callback::new(move |()| {
        read.run.refetch();
        read.one.refetch();
    });
    let draw = Callback::new(move |()| read.picture.refetch());
    expect_context::<Live>().listen(move |message| {
        let ours = match &message {
            Message::Event(event) => id.with_untracked(|id| event.run.as_str() == id),
            Message::ReadAgain => true,
        };
        if ours {
            soon(due, GATHER, again);
            soon(redraw, REDRAW, draw);
        }
    });
    // Who follows sees the step that the run is at.
    Effect::new(move || {
        let at = read
            .run
            .get()
            .and_then(Result::ok)
            .and_then(|it| it.value.run.at);
        if place.with(|it| it.follow) {
            read.newest.set(at.map(|at| at.seq));
        }
    });
}
