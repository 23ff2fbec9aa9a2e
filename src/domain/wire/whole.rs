//! A whole number may be written with a point: to JSON Schema, which knows no other JSON than values, `1000.0` and `1000`
//! are the same integer.
//!
//! A field that takes any JSON is not changed: there, `1000.0` stays `1000.0`.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Around a deserializer, and all that it hands on.
pub struct Whole<T>(pub T);

/// Around a visitor: what is inside of what it visits is read in the same way.
struct Within<V>(V);

/// Around a visitor that expects an integer.
struct Integer<V>(V);

macro_rules! pass_on {
    ($($method:ident($($arg:ident: $ty:ty),*))+) => {$(
        fn $method<V: Visitor<'de>>(self, $($arg: $ty,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($arg,)* Within(visitor))
        }
    )+};
}

macro_rules! integers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(Integer(visitor))
        }
    )+};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Whole<D> {
    type Error = D::Error;

    /// Any JSON, however deep.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    pass_on! {
        deserialize_bool() deserialize_f32() deserialize_f64() deserialize_char() deserialize_str()
        deserialize_string() deserialize_bytes() deserialize_byte_buf() deserialize_option()
        deserialize_unit() deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str) deserialize_seq() deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize) deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier()
    }
}

macro_rules! visits {
    ($($method:ident: $ty:ty),+) => {$(
        fn $method<E: Error>(self, value: $ty) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )+};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Within<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visits! {
        visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_borrowed_str: &'de str,
        visit_string: String, visit_bytes: &[u8], visit_byte_buf: Vec<u8>
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Whole(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Whole(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Whole(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Whole(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        // The protocol's enums are words: nothing is inside of a variant.
        self.0.visit_enum(variant)
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Integer<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visits! {
        visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_str: &str, visit_string: String
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        // One more than an i64 can be: a float, unlike the greatest i64.
        let beyond = -(i64::MIN as f64);
        match value.fract() == 0.0 && (-beyond..beyond).contains(&value) {
            true => self.0.visit_i64(value as i64),
            false => self.0.visit_f64(value),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Whole<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Whole(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Whole<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Whole(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Whole<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Whole(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Debug, PartialEq, Deserialize)]
    struct Body {
        epoch: i64,
        #[serde(default)]
        after: Option<i64>,
        #[serde(default)]
        again: Vec<i64>,
        #[serde(default)]
        state: Value,
    }

    fn read(text: &str) -> Result<Body, serde_json::Error> {
        Body::deserialize(Whole(&mut serde_json::Deserializer::from_str(text)))
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let body = r#"{"epoch": 1000.0, "after": 1e3, "again": [1.0, 2], "state": [1.0, 1]}"#;
        let expected = Body {
            epoch: 1000,
            after: Some(1000),
            again: vec![1, 2],
            state: json!([1.0, 1]),
        };
        assert_eq!(read(body).unwrap(), expected);
    }

    #[test]
    fn what_is_not_whole_or_beyond_64_bits_is_refused() {
        for number in [
            "1.5",
            "9223372036854775808.0",
            "1e300",
            "-1e19",
            "\"1.0\"",
            "[1.0]",
        ] {
            let refused = read(&format!("{{\"epoch\": {number}}}")).unwrap_err();
            assert!(refused.to_string().contains("expected i64"), "{refused}");
        }
    }
}
