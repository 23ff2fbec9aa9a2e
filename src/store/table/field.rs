//! Types that fill columns. Most fill one; what belongs together (who looks, and until when) fills several.

use serde_json::Value;
use std::collections::BTreeMap;

use super::Kind;
use crate::{
    domain::{
        Effect, Epoch, EventKind, Hash, Outcome, Recovery, Reference, Role, RunId, RunStatus,
        Signal, StepKey, StepStatus, Time, Usage,
        nouns::{
            audit::AuditKind,
            run::{At, Link, OnCrash, Parent},
            step::RetryRule,
        },
        rules::{
            begin::BeginOutcome,
            decision::{DecisionKind, Looking},
        },
        views::strip::Strip,
    },
    store::{
        Error,
        engine::{Param, Row},
        rows::{opt_text, text},
    },
};

pub trait Field: Sized {
    /// What lies in each of its columns.
    const KINDS: &'static [Kind];
    fn read(row: &mut Row) -> Result<Self, Error>;
    fn write(&self, values: &mut Vec<Param>);
}

/// `type: kind, how it is read, how it is written`.
macro_rules! fields {
    ($($type:ty: $kind:ident, |$row:ident| $read:expr, |$value:ident| $write:expr;)+) => {$(
        impl Field for $type {
            const KINDS: &'static [Kind] = &[Kind::$kind];

            fn read($row: &mut Row) -> Result<Self, Error> {
                $read
            }

            fn write(&self, values: &mut Vec<Param>) {
                let $value = self;
                values.push(Param::from($write));
            }
        }
    )+};
}

/// Words of the domain's enums, and ids.
macro_rules! words {
    ($($type:ty),+ $(,)?) => { fields! {$(
        $type: Text, |row| row.word(), |it| it.as_str();
        Option<$type>: Text, |row| row.opt_word(), |it| it.as_ref().map(|it| it.as_str());
    )+} };
}

words![
    RunId,
    RunStatus,
    OnCrash,
    Signal,
    StepStatus,
    crate::domain::Kind,
    Recovery,
    BeginOutcome,
    DecisionKind,
    Outcome,
    Role,
    EventKind,
    AuditKind,
];

fields! {
    i64: Int, |row| row.int(), |it| *it;
    Option<i64>: Int, |row| row.opt_int(), |it| *it;
    bool: Int, |row| row.flag(), |it| *it;
    Time: Int, |row| row.time(), |it| *it;
    Option<Time>: Int, |row| row.opt_time(), |it| *it;
    Epoch: Int, |row| row.int().map(Epoch), |it| it.0;
    Option<f64>: Real, |row| row.opt_real(), |it| *it;
    String: Text, |row| row.text(), |it| it.as_str();
    Option<String>: Text, |row| row.opt_text(), |it| it.as_deref();
    StepKey: Text, |row| row.text()?.try_into().map_err(Error::Damaged), |it| it.as_str();
    Strip: Text, |row| row.text().map(Strip::from), |it| String::from(it.clone());
    Hash: Bytes, |row| row.hash(), |it| *it;
    Option<Hash>: Bytes, |row| row.opt_hash(), |it| *it;
    Vec<u8>: Bytes, |row| row.bytes(), |it| it.clone();
    Option<StepKey>: Text, |row| {
        let key = row.opt_text()?;
        key.map(|key| key.try_into().map_err(Error::Damaged)).transpose()
    }, |it| it.as_ref().map(StepKey::as_str);
    // Small JSON that the seal covers.
    BTreeMap<String, String>: Text, |row| row.json(), |it| text(it);
    Vec<Link>: Text, |row| row.json(), |it| text(it);
    Vec<Reference>: Text, |row| row.json(), |it| text(it);
    Option<Effect>: Text, |row| row.opt_json(), |it| opt_text(it.as_ref());
    Value: Text, |row| row.json(), |it| text(it);
    Option<Value>: Text, |row| row.opt_json(), |it| opt_text(it.as_ref());
}

impl Field for Option<Parent> {
    const KINDS: &'static [Kind] = &[Kind::Text, Kind::Int];

    fn read(row: &mut Row) -> Result<Self, Error> {
        Ok(match (row.opt_word()?, row.opt_int()?) {
            (Some(run), Some(seq)) => Some(Parent { run, seq }),
            _ => None,
        })
    }

    fn write(&self, values: &mut Vec<Param>) {
        values.push(self.as_ref().map(|it| it.run.as_str()).into());
        values.push(self.as_ref().map(|it| it.seq).into());
    }
}

impl Field for Option<At> {
    const KINDS: &'static [Kind] = &[Kind::Int, Kind::Text, Kind::Text];

    fn read(row: &mut Row) -> Result<Self, Error> {
        Ok(match (row.opt_int()?, row.opt_text()?, row.opt_word()?) {
            (Some(seq), Some(name), Some(status)) => Some(At { seq, name, status }),
            _ => None,
        })
    }

    fn write(&self, values: &mut Vec<Param>) {
        values.push(self.as_ref().map(|it| it.seq).into());
        values.push(self.as_ref().map(|it| it.name.as_str()).into());
        values.push(self.as_ref().map(|it| it.status.as_str()).into());
    }
}

impl Field for Option<Looking> {
    const KINDS: &'static [Kind] = &[Kind::Text, Kind::Int];

    fn read(row: &mut Row) -> Result<Self, Error> {
        Ok(match (row.opt_text()?, row.opt_time()?) {
            (Some(by), Some(until)) => Some(Looking { by, until }),
            _ => None,
        })
    }

    fn write(&self, values: &mut Vec<Param>) {
        values.push(self.as_ref().map(|it| it.by.as_str()).into());
        values.push(self.as_ref().map(|it| it.until).into());
    }
}

impl Field for RetryRule {
    const KINDS: &'static [Kind] = &[Kind::Int, Kind::Int];

    fn read(row: &mut Row) -> Result<Self, Error> {
        Ok(Self {
            max_attempts: row.int()?,
            backoff_ms: row.int()?,
        })
    }

    fn write(&self, values: &mut Vec<Param>) {
        values.push(self.max_attempts.into());
        values.push(self.backoff_ms.into());
    }
}

impl Field for Usage {
    const KINDS: &'static [Kind] = &[Kind::Int, Kind::Int, Kind::Real];

    fn read(row: &mut Row) -> Result<Self, Error> {
        Ok(Self {
            input_tokens: row.opt_int()?,
            output_tokens: row.opt_int()?,
            cost_usd: row.opt_real()?,
        })
    }

    fn write(&self, values: &mut Vec<Param>) {
        values.push(self.input_tokens.into());
        values.push(self.output_tokens.into());
        values.push(self.cost_usd.into());
    }
}

/// An attempt that used nothing said nothing of it.
impl Field for Option<Usage> {
    const KINDS: &'static [Kind] = Usage::KINDS;

    fn read(row: &mut Row) -> Result<Self, Error> {
        let usage = Usage::read(row)?;
        Ok(Some(usage).filter(|it| *it != Usage::default()))
    }

    fn write(&self, values: &mut Vec<Param>) {
        self.unwrap_or_default().write(values);
    }
}
