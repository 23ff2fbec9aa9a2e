//! Moments, in microseconds since 1970 UTC: what the store keeps and what the wire writes as RFC 3339.

use chrono::{DateTime, FixedOffset, Local, Offset as _, SecondsFormat, TimeZone as _, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

impl Time {
    pub fn now() -> Self {
        Self(Utc::now().timestamp_micros())
    }

    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms.saturating_mul(1_000)))
    }

    /// Whole milliseconds from `earlier` to `self`; negative if it lies ahead.
    pub fn ms_since(self, earlier: Time) -> i64 {
        (self.0 - earlier.0) / 1_000
    }

    pub fn utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.0).unwrap_or_default()
    }

    /// In a zone so many minutes east of UTC.
    pub fn at_offset(self, minutes: i32) -> DateTime<FixedOffset> {
        let zone = FixedOffset::east_opt(minutes.saturating_mul(60)).unwrap_or(Utc.fix());
        self.utc().with_timezone(&zone)
    }

    /// How many minutes east of UTC this machine's own zone is at this moment.
    pub fn local_offset(self) -> i32 {
        let offset = Local.offset_from_utc_datetime(&self.utc().naive_utc());
        offset.fix().local_minus_utc() / 60
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.utc().to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        DateTime::parse_from_rfc3339(&text)
            .map(|t| Self(t.timestamp_micros()))
            .map_err(|e| D::Error::custom(format!("{text:?} is not an RFC 3339 time: {e}")))
    }
}

#[cfg(feature = "ssr")]
mod schema {
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type},
    };

    impl ToSchema for super::Time {}

    impl PartialSchema for super::Time {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_microseconds_and_read_back_exactly() {
        let t = Time(1_731_747_000_000_042);
        let text = serde_json::to_string(&t).unwrap();
        assert_eq!(text, "\"2024-11-16T08:50:00.000042Z\"");
        assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), t);
    }
}
