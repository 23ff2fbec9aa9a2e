//! A worker says that it is alive, and hears whether it should stop.

use async_trait::async_trait;

use super::{holding, renew};
use crate::{
    domain::{
        RunId,
        wire::protocol::{Heartbeat, HeartbeatAnswer},
    },
    store::{Error, tx::Tx, writer::Command},
};

pub struct Beat {
    pub run: RunId,
    pub body: Heartbeat,
}

#[async_trait]
impl Command for Beat {
    type Answer = HeartbeatAnswer;

    async fn apply(&self, tx: &mut Tx) -> Result<HeartbeatAnswer, Error> {
        let mut run = holding(tx, &self.run, self.body.epoch).await?;
        run.ttl_ms = self.body.ttl_ms.unwrap_or(run.ttl_ms);
        renew(tx, &mut run);
        tx.save(&run);
        Ok(HeartbeatAnswer {
            expires_at: tx.now.plus_ms(run.ttl_ms),
            signal: run.signal,
        })
    }
}
