//! JSON whose members stay in the order in which they were sent: a form shows its fields in the order of its schema.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum OrderedJson {
    /// Neither a list nor an object.
    Plain(Value),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl OrderedJson {
    pub fn get(&self, name: &str) -> Option<&Self> {
        let (_, value) = self.members().iter().find(|(it, _)| it == name)?;
        Some(value)
    }

    /// The value at this JSON pointer.
    pub fn at(&self, path: &[String]) -> Option<&Self> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self);
        };
        let inside = match self {
            Self::List(items) => items.get(first.parse::<usize>().ok()?),
            _ => self.get(first),
        };
        inside?.at(rest)
    }

    /// Empty where it is no object.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// Empty where it is no list.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Plain(value) => value.as_str(),
            _ => None,
        }
    }

    /// The same without an order.
    pub fn value(&self) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::List(items) => items.iter().map(Self::value).collect(),
            Self::Object(members) => {
                let members = members.iter().map(|(name, it)| (name.clone(), it.value()));
                Value::Object(members.collect())
            }
        }
    }
}

impl From<Value> for OrderedJson {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => {
                let members = map.into_iter().map(|(name, it)| (name, Self::from(it)));
                Self::Object(members.collect())
            }
            plain => Self::Plain(plain),
        }
    }
}

impl Serialize for OrderedJson {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(to),
            Self::List(items) => to.collect_seq(items),
            Self::Object(members) => to.collect_map(members.iter().map(|(name, it)| (name, it))),
        }
    }
}

impl<'de> Deserialize<'de> for OrderedJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(InOrder)
    }
}

struct InOrder;

/// Scalars become what `Value` makes of them.
macro_rules! plain {
    ($($visit:ident: $type:ty),+) => {$(
        fn $visit<E>(self, it: $type) -> Result<OrderedJson, E> {
            Ok(OrderedJson::Plain(Value::from(it)))
        }
    )+};
}

impl<'de> Visitor<'de> for InOrder {
    type Value = OrderedJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    plain!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_string: String);

    fn visit_unit<E>(self) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Plain(Value::Null))
    }

    fn visit_none<E>(self) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Plain(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<OrderedJson, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OrderedJson, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(OrderedJson::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedJson, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(OrderedJson::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stay_in_the_order_they_were_sent_in() {
        let text = r#"{"z":{"b":[1,-2,1.5,null],"a":"x"},"a":true}"#;
        let read: OrderedJson = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!(read.value(), serde_json::from_str::<Value>(text).unwrap());
        let path = ["z", "b", "1"].map(String::from);
        assert_eq!(read.at(&path), Some(&OrderedJson::Plain(Value::from(-2))));
        assert_eq!(read.at(&["none".to_owned()]), None);
    }
}
