//! BLAKE3 over JSON trees, and the chain that covers every snapshot and event.
//!
//! `H(value)` is a Merkle hash: a container's hash is made of its children's, so equal subtrees are known by
//! their hash and a change re-hashes only its path. It never covers how a value is stored.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::Value;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    pub fn of(value: &Value) -> Self {
        match value {
            Value::Array(items) => array(items.iter().map(Self::of)),
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| key.as_str());
                object(entries.into_iter().map(|(k, v)| (k.as_str(), Self::of(v))))
            }
            scalar => leaf(scalar),
        }
    }

    /// Of a list of values that were hashed before.
    pub fn of_list(items: impl IntoIterator<Item = Self>) -> Self {
        array(items.into_iter())
    }

    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// The hash of a value that is neither array nor object.
pub(super) fn leaf(value: &Value) -> Hash {
    let mut h = blake3::Hasher::new();
    match value {
        Value::Null => h.update(&[0]),
        Value::Bool(b) => h.update(&[1, u8::from(*b)]),
        Value::Number(n) => h.update(&[2]).update(n.to_string().as_bytes()),
        Value::String(s) => h.update(&[3]).update(s.as_bytes()),
        Value::Array(_) | Value::Object(_) => return Hash::of(value),
    };
    Hash(*h.finalize().as_bytes())
}

pub(super) fn array(items: impl Iterator<Item = Hash>) -> Hash {
    let mut h = blake3::Hasher::new();
    h.update(&[4]);
    items.for_each(|item| {
        h.update(&item.0);
    });
    Hash(*h.finalize().as_bytes())
}

/// `entries` in the order of their keys.
pub(super) fn object<'a>(entries: impl Iterator<Item = (&'a str, Hash)>) -> Hash {
    let mut h = blake3::Hasher::new();
    h.update(&[5]);
    entries.for_each(|(key, value)| {
        h.update(&(key.len() as u64).to_le_bytes());
        h.update(key.as_bytes());
        h.update(&value.0);
    });
    Hash(*h.finalize().as_bytes())
}

/// `hash(n) = BLAKE3(hash(n−1) ‖ n ‖ H)`: the next link of a chain.
pub fn link(previous: Hash, n: i64, content: Hash) -> Hash {
    let mut h = blake3::Hasher::new();
    h.update(&previous.0);
    h.update(&n.to_le_bytes());
    h.update(&content.0);
    Hash(*h.finalize().as_bytes())
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl std::str::FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a hash of 64 hex digits");
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(feature = "ssr")]
mod schema {
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{ObjectBuilder, RefOr, Schema, Type},
    };

    impl ToSchema for super::Hash {}

    impl PartialSchema for super::Hash {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .pattern(Some("^[0-9a-f]{64}$"))
                .into()
        }
    }
}
