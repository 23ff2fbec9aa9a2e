//! Spans, ages and moments in words, in the reader's zone.

use super::several;
use crate::domain::nouns::time::Time;

/// A span with the two units that matter: "36m 29s", "3h 51m", "0.8 s".
pub fn span(ms: i64) -> String {
    let ms = ms.max(0);
    let (s, m, h, d) = (ms / 1_000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match ms {
        0..=99 => format!("{ms} ms"),
        100..=9_999 => format!("{}.{} s", s, ms % 1_000 / 100),
        10_000..=59_999 => format!("{s} s"),
        60_000..=3_599_999 => format!("{m}m {:02}s", s % 60),
        3_600_000..=86_399_999 => format!("{h}h {:02}m", m % 60),
        _ => format!("{d}d {:02}h", h % 24),
    }
}

/// How long ago, in one unit.
pub fn ago(ms: i64) -> String {
    match ms {
        ..5_000 => "now".into(),
        5_000..60_000 => format!("{} s ago", ms / 1_000),
        60_000..3_600_000 => format!("{} min ago", ms / 60_000),
        3_600_000..86_400_000 => format!("{} h ago", ms / 3_600_000),
        _ => format!("{} d ago", ms / 86_400_000),
    }
}

/// The same within a sentence: "4 seconds ago".
pub fn ago_in_full(ms: i64) -> String {
    let (n, unit) = match ms {
        ..1_500 => return "a moment ago".into(),
        1_500..60_000 => (ms / 1_000, "second"),
        60_000..3_600_000 => (ms / 60_000, "minute"),
        3_600_000..86_400_000 => (ms / 3_600_000, "hour"),
        _ => (ms / 86_400_000, "day"),
    };
    format!("{} ago", several(n, unit))
}

/// A moment that fits a column, for readers without a clock: "16 Nov 02:00".
pub fn moment(at: Time) -> String {
    moment_at(at, 0)
}

/// The same, so many minutes east of UTC.
pub fn moment_at(at: Time, offset: i32) -> String {
    at.at_offset(offset).format("%-d %b %H:%M").to_string()
}

/// A moment in full: "16 Nov 2026 02:00:49 UTC".
pub fn moment_in_full(at: Time) -> String {
    moment_in_full_at(at, 0)
}

/// The same, so many minutes east of UTC: "16 Nov 2026 07:30:49 UTC+5:30".
pub fn moment_in_full_at(at: Time, offset: i32) -> String {
    let moment = at.at_offset(offset).format("%-d %b %Y %H:%M:%S");
    format!("{moment} {}", zone(offset))
}

/// A time of day to the millisecond: "09:50:25.114".
pub fn time_of_day(at: Time) -> String {
    time_of_day_at(at, 0)
}

/// The same, so many minutes east of UTC.
pub fn time_of_day_at(at: Time, offset: i32) -> String {
    at.at_offset(offset).format("%H:%M:%S%.3f").to_string()
}

/// A zone by its distance from UTC: "UTC", "UTC+1", "UTC−3:30".
fn zone(offset: i32) -> String {
    let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
    let sign = if offset < 0 { '−' } else { '+' };
    match (hours, minutes) {
        (0, 0) => "UTC".into(),
        (hours, 0) => format!("UTC{sign}{hours}"),
        (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
    }
}

/// A time of day in a zone: "09:50:25".
pub fn time_to_the_second_at(at: Time, offset: i32) -> String {
    at.at_offset(offset).format("%H:%M:%S").to_string()
}

/// Whether a moment in the past is so near that its day need not be said.
pub(super) fn is_near(at: Time, now: Time) -> bool {
    now.ms_since(at) < 12 * 3_600_000
}

/// A moment in the past as it is said now: "09:50:25", and with its day where that is long ago.
pub fn since_at(at: Time, now: Time, offset: i32) -> String {
    match is_near(at, now) {
        true => time_to_the_second_at(at, offset),
        false => moment_at(at, offset),
    }
}

/// A mark on an axis that is `length` microseconds long, in a zone.
pub fn tick_at(at: Time, length: i64, offset: i32) -> String {
    const SECOND: i64 = 1_000_000;
    let format = match length / SECOND {
        0..6 => "%H:%M:%S%.3f",
        6..600 => "%H:%M:%S",
        600..120_000 => "%H:%M",
        120_000..1_200_000 => "%-d %b %H:%M",
        _ => "%-d %b",
    };
    at.at_offset(offset).format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_ages_read_like_the_screens() {
        let spans = [12, 800, 42_000, 2_189_000, 13_860_000, 100_000_000].map(span);
        assert_eq!(
            spans,
            ["12 ms", "0.8 s", "42 s", "36m 29s", "3h 51m", "1d 03h"]
        );
        let ages = [-3, 40_000, 720_000, 7_200_000, 604_800_000].map(ago);
        assert_eq!(
            ages,
            ["now", "40 s ago", "12 min ago", "2 h ago", "7 d ago"]
        );
        let ages = [-3, 1_900, 4_200, 720_000, 7_200_000, 604_800_000].map(ago_in_full);
        assert_eq!(
            ages,
            [
                "a moment ago",
                "1 second ago",
                "4 seconds ago",
                "12 minutes ago",
                "2 hours ago",
                "7 days ago"
            ]
        );
    }

    #[test]
    fn a_moment_is_said_in_the_readers_zone() {
        let at = Time(1_794_794_449_114_000); // 2026-11-16T02:00:49.114Z
        assert_eq!(moment(at), "16 Nov 02:00");
        assert_eq!(moment_at(at, -180), "15 Nov 23:00");
        assert_eq!(time_of_day(at), "02:00:49.114");
        assert_eq!(time_of_day_at(at, 330), "07:30:49.114");
        assert_eq!(since_at(at, at.plus_ms(60_000), 330), "07:30:49");
        assert_eq!(since_at(at, at.plus_ms(86_400_000), 330), "16 Nov 07:30");
        assert_eq!(moment_in_full(at), "16 Nov 2026 02:00:49 UTC");
        let in_full = [60, 330, -210].map(|offset| moment_in_full_at(at, offset));
        assert_eq!(
            in_full,
            [
                "16 Nov 2026 03:00:49 UTC+1",
                "16 Nov 2026 07:30:49 UTC+5:30",
                "15 Nov 2026 22:30:49 UTC−3:30",
            ]
        );
    }
}
