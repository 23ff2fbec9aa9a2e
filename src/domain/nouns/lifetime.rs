//! How long something lives, as people write it: `30d`, `12h`, `45m`, `90s`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// Units and their milliseconds, the longest first.
const UNITS: [(char, i64); 4] = [
    ('d', 86_400_000),
    ('h', 3_600_000),
    ('m', 60_000),
    ('s', 1_000),
];
/// Ten years: more is a typing error.
const DAYS_MAX: i64 = 3_650;

/// Milliseconds, at least one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime(pub i64);

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is no time span: write 30d, 12h, 45m or 90s, up to {DAYS_MAX}d");
        let unit = text.chars().next_back().ok_or_else(wrong)?;
        let (_, ms) = UNITS.iter().find(|(it, _)| *it == unit).ok_or_else(wrong)?;
        let number = &text[..text.len() - unit.len_utf8()];
        let plain = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
        let count: i64 = number.parse().map_err(|_| wrong())?;
        match count.checked_mul(*ms) {
            Some(ms) if plain && ms > 0 && ms <= DAYS_MAX * UNITS[0].1 => Ok(Self(ms)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Lifetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, ms)| self.0 % ms == 0);
        let (unit, ms) = whole.unwrap_or(&UNITS[3]);
        write!(f, "{}{unit}", self.0 / ms)
    }
}

impl Serialize for Lifetime {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Lifetime {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_reads_as_people_write_it_and_nothing_else() {
        for (text, ms) in [
            ("30d", 2_592_000_000),
            ("12h", 43_200_000),
            ("45m", 2_700_000),
            ("90s", 90_000),
        ] {
            let read: Lifetime = text.parse().unwrap();
            assert_eq!((read.0, read.to_string().as_str()), (ms, text));
        }
        for wrong in [
            "",
            "d",
            "30",
            "0d",
            "-1d",
            "+1d",
            "1.5h",
            "30 d",
            "30D",
            "4000d",
            "99999999999999999999d",
            "1ä",
        ] {
            assert!(wrong.parse::<Lifetime>().is_err(), "{wrong:?}");
        }
    }
}
