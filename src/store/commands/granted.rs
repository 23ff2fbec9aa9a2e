//! What a worker is given with a run, as [`LeaseAnswer`](crate::domain::wire::protocol::LeaseAnswer) puts it on the wire.
//! Most of it is the state, up to 16 MB. The writer shares the state instead of copying it, and finds it compressed for the
//! request that keeps its first answer: other commands do not wait for either.

use serde::{Deserialize, Serialize};

use super::HEAVY;
use crate::{
    aside::{LONG, aside},
    domain::{Epoch, Hash, RunDetail, RunId, Time, tree::Tree},
    store::{Error, Store},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Granted {
    pub run: RunDetail,
    pub epoch: Epoch,
    pub expires_at: Time,
    pub state: Tree,
    pub snapshot: i64,
}

/// All of it but the state.
#[derive(Serialize)]
struct Beside<'a> {
    run: &'a RunDetail,
    epoch: Epoch,
    expires_at: Time,
    snapshot: i64,
}

/// A large state, compressed before the transaction as the end of an answer.
pub struct PackedState {
    /// Of the run's newest snapshot.
    hash: Hash,
    end: Vec<u8>,
}

impl PackedState {
    /// The run's newest state, if it is long and can be read.
    pub async fn of(store: &Store, run: &RunId) -> Result<Option<Self>, Error> {
        let state = store.at_hand(run).await?;
        let Some(state) = state.filter(|it| it.tree.size() >= LONG) else {
            return Ok(None);
        };
        let end = aside(|| {
            let mut end = serde_json::to_vec(&state.tree).map_err(Error::damaged)?;
            end.push(b'}');
            packed(&end)
        })
        .await?;
        let hash = state.hash;
        Ok(Some(Self { hash, end }))
    }

    pub fn is_heavy(&self) -> bool {
        self.end.len() >= HEAVY
    }
}

impl Granted {
    /// As a first answer is kept: compressed, in one frame, or in two if the state was compressed before.
    pub fn packed(&self, state: Option<&PackedState>) -> Result<Vec<u8>, Error> {
        // A state that changed meanwhile is compressed here.
        let Some(state) = state.filter(|it| it.hash == self.run.run.hash) else {
            return packed(&serde_json::to_vec(self).map_err(Error::damaged)?);
        };
        let beside = Beside {
            run: &self.run,
            epoch: self.epoch,
            expires_at: self.expires_at,
            snapshot: self.snapshot,
        };
        let mut begin = serde_json::to_vec(&beside).map_err(Error::damaged)?;
        // The object goes on with the state.
        begin.pop();
        begin.extend_from_slice(br#","state":"#);
        let mut frames = packed(&begin)?;
        frames.extend_from_slice(&state.end);
        Ok(frames)
    }
}

pub fn packed(plain: &[u8]) -> Result<Vec<u8>, Error> {
    zstd::bulk::compress(plain, 1).map_err(Error::damaged)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{
        nouns::{run::OnCrash, sample},
        wire::protocol::LeaseAnswer,
    };

    fn granted() -> Granted {
        Granted {
            run: RunDetail {
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
            },
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
        let mut made = PackedState {
            hash: granted.run.run.hash,
            end: packed(br#""made before"}"#).unwrap(),
        };
        let kept = read(&granted.packed(Some(&made)).unwrap());
        assert_eq!(kept.state, json!("made before"));
        assert_eq!((&kept.run, kept.epoch), (&granted.run, granted.epoch));

        made.hash = Hash::of(&json!("another state"));
        for outdated in [Some(&made), None] {
            let kept = read(&granted.packed(outdated).unwrap());
            assert_eq!(json!(kept), json!(granted));
        }
    }
}
