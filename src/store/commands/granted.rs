//! What a worker is given with a run, as [`LeaseAnswer`](crate::domain::wire::protocol::LeaseAnswer) puts it on the wire.
//! Most of it is the state and the input, up to 16 MB each. The writer shares them instead of copying them, and finds them
//! compressed for the request that keeps its first answer: other commands do not wait for either.

use serde::{Deserialize, Serialize};

use super::packed::{Frames, PackedContent, PackedState, state_end};
use crate::{
    domain::{Epoch, RunId, Time, tree::Tree},
    store::{
        Error, Store,
        rows::{Detail, RunContent},
    },
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Granted {
    pub run: Detail,
    pub epoch: Epoch,
    pub expires_at: Time,
    pub state: Tree,
    pub snapshot: i64,
}

/// All of it but the run and its state.
#[derive(Serialize)]
struct Beside {
    epoch: Epoch,
    expires_at: Time,
    snapshot: i64,
}

/// What is large in it, compressed before the transaction.
#[derive(Default)]
pub struct PackedAhead {
    state: Option<PackedState>,
    content: Option<PackedContent>,
}

impl PackedAhead {
    /// `answered`: the run's content as the lease will have it.
    pub async fn of(
        store: &Store,
        run: &RunId,
        answered: impl FnOnce(RunContent) -> RunContent + Send,
    ) -> Result<Self, Error> {
        Ok(Self {
            state: PackedState::of(store, run).await?,
            content: PackedContent::of_run(store, run, answered).await?,
        })
    }

    pub fn is_heavy(&self) -> bool {
        let content = self.content.as_ref();
        self.state.as_ref().is_some_and(PackedState::is_heavy)
            || content.is_some_and(PackedContent::is_heavy)
    }
}

impl Granted {
    /// As a first answer is kept.
    pub fn packed(&self, ahead: &PackedAhead) -> Result<Vec<u8>, Error> {
        let mut frames = Frames::begin(&Beside {
            epoch: self.epoch,
            expires_at: self.expires_at,
            snapshot: self.snapshot,
        })?;
        frames.add_run(&self.run, ahead.content.as_ref())?;
        let state = ahead.state.as_ref();
        match state.filter(|it| it.hash == self.run.run.hash) {
            Some(state) => frames.add_frame(&state.frame)?,
            // A state that changed meanwhile is compressed here.
            None => frames.add(&state_end(&self.state)?),
        }
        frames.finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        domain::{
            Hash, RunDetail,
            nouns::{run::OnCrash, sample},
            wire::protocol::LeaseAnswer,
        },
        store::commands::packed::compressed,
    };

    fn granted() -> Granted {
        let run = RunDetail {
            run: sample::run("r"),
            input: json!([1]),
            state_schema: None,
            links: Vec::new(),
            on_crash: OnCrash::Hold,
            max_recoveries: 3,
            recoveries: 0,
            plan: Vec::new(),
            result: None,
            error: None,
        };
        Granted {
            run: run.into(),
            epoch: Epoch(2),
            expires_at: Time(3),
            state: json!({"n": 1}).into(),
            snapshot: 0,
        }
    }

    fn read(packed: &[u8]) -> LeaseAnswer {
        let plain = zstd::stream::decode_all(packed).unwrap();
        serde_json::from_slice(&plain).unwrap()
    }

    #[test]
    fn a_state_that_was_compressed_before_the_transaction_is_not_compressed_in_it() {
        let granted = granted();
        let made = |hash| PackedAhead {
            state: Some(PackedState {
                hash,
                frame: compressed(br#","state":"made before"}"#).unwrap(),
            }),
            content: None,
        };
        let kept = read(&granted.packed(&made(granted.run.run.hash)).unwrap());
        assert_eq!(kept.state, json!("made before"));
        assert_eq!(kept.run, RunDetail::from(granted.run.clone()));
        assert_eq!(kept.epoch, granted.epoch);

        let outdated = made(Hash::of(&json!("another state")));
        for ahead in [outdated, PackedAhead::default()] {
            let kept = read(&granted.packed(&ahead).unwrap());
            assert_eq!(json!(kept), json!(granted));
        }
    }
}
