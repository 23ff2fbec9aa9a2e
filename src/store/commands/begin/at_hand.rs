//! What a known step has recorded, as a begin is answered with it: the result that a replay hears, the error of a failed
//! step, what earlier attempts have left.
//!
//! The transaction reads what is short. Where it meets something long, it gives up before it has written anything
//! ([`Error::Outdated`]): that is then read, checked and parsed aside, and moved into the answer when the command comes
//! again, if the store still holds what was checked. A begin that is answered with nothing long costs no reader anything.

use serde_json::Value;
use std::sync::{Mutex, OnceLock};

use crate::{
    aside::{LONG, aside},
    domain::{
        AgentError, RunId,
        rules::begin::{Begin, BeginOutcome},
        wire::protocol::BeginAnswer,
    },
    store::{
        Error, Store,
        commands::HEAVY,
        engine::Connection,
        rows::{Glance, StepRow, StoredPartial, StoredResult},
        sound,
    },
};

/// What the command has at hand of the step that it begins.
#[derive(Default)]
pub struct AtHand {
    /// What the transaction met and would not read.
    missing: OnceLock<(i64, Part)>,
    held: Option<Held>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Result,
    Partial,
}

/// One long value that was read before the transaction.
struct Held {
    seq: i64,
    part: Part,
    /// By what the transaction knows it again.
    mark: String,
    heavy: bool,
    /// The value, or what is damaged of it. It is taken, not copied: it may hold a million others.
    read: Mutex<Option<Result<Option<Value>, String>>>,
}

/// What a begin is answered with.
#[derive(Default)]
pub struct Recorded {
    result: Option<Value>,
    error: Option<AgentError>,
    partial: Option<Value>,
}

impl Recorded {
    pub fn put_into(self, answer: BeginAnswer) -> BeginAnswer {
        BeginAnswer {
            result: self.result.or(answer.result),
            error: self.error,
            partial: self.partial,
            ..answer
        }
    }
}

impl Held {
    /// Nothing could be read: the transaction tries again and says what is damaged.
    fn nothing((seq, part): (i64, Part)) -> Self {
        Self {
            seq,
            part,
            mark: String::new(),
            heavy: false,
            read: Mutex::default(),
        }
    }

    fn read(
        (seq, part): (i64, Part),
        (mark, bytes): (String, usize),
        read: Result<Option<Value>, Error>,
    ) -> Result<Self, Error> {
        let read = match read {
            Ok(read) => Ok(read),
            Err(Error::Damaged(what)) => Err(what),
            Err(error) => return Err(error),
        };
        Ok(Self {
            seq,
            part,
            mark,
            heavy: bytes >= HEAVY,
            read: Mutex::new(Some(read)),
        })
    }

    /// The value, if it is the one that the store holds now. A command that is applied once more finds it taken.
    fn taken(&self, mark: &str) -> Option<Result<Option<Value>, Error>> {
        if self.mark != mark {
            return None;
        }
        let read = self.read.lock().ok()?.take()?;
        Some(read.map_err(Error::Damaged))
    }
}

impl AtHand {
    /// Reads what the transaction would not read, if there was something.
    pub async fn prepare(&mut self, store: &Store, run: &RunId) -> Result<(), Error> {
        let Some(missing) = self.missing.take() else {
            return Ok(());
        };
        let mut conn = store.engine.read().await?;
        let held = match missing {
            (seq, Part::Result) => {
                let stored = sound(StoredResult::of(&mut *conn, run, seq).await)?;
                // Nobody should wait for this connection while the text is parsed.
                drop(conn);
                match stored {
                    Some(stored) => {
                        let known = (stored.mark(), stored.bytes());
                        let read = aside(|| stored.open(run, seq)).await;
                        Held::read(missing, known, read)?
                    }
                    None => Held::nothing(missing),
                }
            }
            (seq, Part::Partial) => {
                let stored = sound(StoredPartial::newest(&mut *conn, run, seq).await)?;
                drop(conn);
                match stored.flatten() {
                    Some(stored) => {
                        let known = (stored.mark(), stored.bytes());
                        let read = aside(|| stored.open().map(Some)).await;
                        Held::read(missing, known, read)?
                    }
                    None => Held::nothing(missing),
                }
            }
        };
        self.held = Some(held);
        Ok(())
    }

    pub fn is_heavy(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.heavy)
    }

    /// What is recorded of a known step, as far as it is answered. Nothing may have been written yet.
    pub async fn recorded(
        &self,
        conn: &mut dyn Connection,
        step: &StepRow,
        begun: Begin,
    ) -> Result<Recorded, Error> {
        use BeginOutcome::{Failed, Given, Replay};
        let mut recorded = Recorded::default();
        match begun {
            Begin::Recorded(Replay | Given) => {
                let result = self.result(conn, &step.run, step.seq).await?;
                recorded.result = Some(result.unwrap_or_default());
            }
            Begin::Recorded(Failed) => recorded.error = step.error(conn).await?,
            Begin::Attempt(_) => recorded.partial = self.partial(conn, step).await?,
            Begin::Again(_) if step.attempts > 1 => {
                recorded.partial = self.partial(conn, step).await?;
            }
            Begin::Again(_) | Begin::Recorded(_) | Begin::Conflict => {}
        }
        Ok(recorded)
    }

    /// The result of a settled step.
    pub async fn result(
        &self,
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Value>, Error> {
        match StoredResult::glance(conn, run, seq, LONG).await? {
            Glance::Short(stored) => stored.open(run, seq),
            Glance::Long { mark } => match self.held((seq, Part::Result))?.taken(&mark) {
                Some(read) => read,
                None => StoredResult::of(conn, run, seq).await?.open(run, seq),
            },
        }
    }

    /// The newest partial result of the step's attempts.
    async fn partial(
        &self,
        conn: &mut dyn Connection,
        step: &StepRow,
    ) -> Result<Option<Value>, Error> {
        let (run, seq) = (&step.run, step.seq);
        let stored = match StoredPartial::glance(conn, run, seq, LONG).await? {
            None => None,
            Some(Glance::Short(stored)) => Some(stored),
            Some(Glance::Long { mark }) => match self.held((seq, Part::Partial))?.taken(&mark) {
                Some(read) => return read,
                None => StoredPartial::newest(conn, run, seq).await?,
            },
        };
        stored.as_ref().map(StoredPartial::open).transpose()
    }

    /// What was read of this part of the step, or the order to read it first.
    fn held(&self, of: (i64, Part)) -> Result<&Held, Error> {
        let held = self.held.as_ref().filter(|it| (it.seq, it.part) == of);
        held.ok_or_else(|| {
            self.missing.get_or_init(|| of);
            Error::Outdated
        })
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::json;
    use std::borrow::Cow;

    use super::*;
    use crate::{
        domain::{Hash, Time},
        store::{
            content::Content,
            engine::{Param, Row, params},
        },
    };

    /// A store that holds one result, and counts how often all of it was read.
    struct OneResult {
        stored: Content,
        read: usize,
    }

    #[async_trait]
    impl Connection for OneResult {
        async fn execute_built(
            &mut self,
            sql: Cow<'static, str>,
            _: Vec<Param>,
        ) -> Result<u64, Error> {
            panic!("nothing is written: {sql}");
        }

        async fn fetch_built(
            &mut self,
            sql: Cow<'static, str>,
            _: Vec<Param>,
        ) -> Result<Vec<Row>, Error> {
            let Content { text, hash } = self.stored.clone();
            let values = match sql.contains("octet_length") {
                true => params![text.len() as i64, None::<String>, hash],
                false => {
                    self.read += 1;
                    params![text, hash]
                }
            };
            Ok(vec![Row::new(values)])
        }

        async fn now(&mut self) -> Result<Time, Error> {
            Ok(Time(0))
        }
    }

    fn long(letter: &str) -> Value {
        json!(letter.repeat(LONG))
    }

    fn store(result: &Value) -> OneResult {
        OneResult {
            stored: Content::of(result),
            read: 0,
        }
    }

    fn at_hand(seq: i64, of: &Value, read: Result<Option<Value>, Error>) -> AtHand {
        let known = (Hash::of(of).to_string(), HEAVY);
        AtHand {
            held: Some(Held::read((seq, Part::Result), known, read).unwrap()),
            ..AtHand::default()
        }
    }

    fn run() -> RunId {
        "r".parse().unwrap()
    }

    #[tokio::test]
    async fn a_long_result_is_not_read_in_the_transaction_but_ordered() {
        let mut store = store(&long("x"));
        for at_hand in [
            AtHand::default(),
            at_hand(8, &long("x"), Ok(Some(long("x")))),
        ] {
            let met = at_hand.result(&mut store, &run(), 7).await;
            assert!(matches!(met, Err(Error::Outdated)), "{met:?}");
            assert_eq!(at_hand.missing.get(), Some(&(7, Part::Result)));
        }
        assert_eq!(store.read, 0);
    }

    #[tokio::test]
    async fn what_was_read_before_the_transaction_is_not_read_in_it() {
        let mut store = store(&long("x"));
        let at_hand = at_hand(7, &long("x"), Ok(Some(json!("read before"))));
        assert!(at_hand.is_heavy());
        let answered = at_hand.result(&mut store, &run(), 7).await.unwrap();
        assert_eq!((answered, store.read), (Some(json!("read before")), 0));
        // A group that is rolled back is applied once more, and what was taken is read.
        let again = at_hand.result(&mut store, &run(), 7).await.unwrap();
        assert_eq!((again, store.read), (Some(long("x")), 1));
    }

    #[tokio::test]
    async fn what_was_read_before_the_row_changed_is_not_answered() {
        let mut store = store(&long("y"));
        let at_hand = at_hand(7, &long("x"), Ok(Some(long("x"))));
        let answered = at_hand.result(&mut store, &run(), 7).await.unwrap();
        assert_eq!((answered, store.read), (Some(long("y")), 1));
    }

    #[tokio::test]
    async fn damage_that_was_found_before_the_transaction_refuses_in_it() {
        let mut store = store(&long("x"));
        let damaged = Err(Error::damaged("the result of step 7 of run r"));
        let at_hand = at_hand(7, &long("x"), damaged);
        let refused = at_hand.result(&mut store, &run(), 7).await;
        let named = matches!(&refused, Err(Error::Damaged(what)) if what == "the result of step 7 of run r");
        assert!(named && store.read == 0, "{refused:?}");
    }
}
