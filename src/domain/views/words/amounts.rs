//! Counts, sizes and costs in words. What is not known is never zero.

use crate::domain::views::counts::COUNT_MAX;

/// "1 decision", "3 decisions".
pub fn several(n: i64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", number(n)),
    }
}

/// By how much a state changed: "+1.2 kB", "−88 B"; unchanged is a dash.
pub fn state_change(bytes: Option<i64>) -> String {
    match bytes {
        None => "—".into(),
        Some(0) => "±0 B".into(),
        Some(more @ 1..) => format!("+{}", size(more)),
        Some(less) => format!("−{}", size(-less)),
    }
}

/// An amount; unknown is a dash, never zero.
pub fn cost(usd: Option<f64>) -> String {
    match usd {
        Some(usd) if usd > 0.0 && usd < 0.0001 => "<$0.0001".into(),
        Some(usd) if usd != 0.0 && usd.abs() < 0.01 => format!("${usd:.4}"),
        Some(usd) => format!("${usd:.2}"),
        None => "—".into(),
    }
}

/// A bounded count: "212", "1,000+".
pub fn count(n: i64) -> String {
    match n {
        COUNT_MAX.. => "1,000+".into(),
        n => n.to_string(),
    }
}

/// A number with thousands apart: "8,204".
pub fn number(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if n < 0 { format!("−{text}") } else { text }
}

/// A size: "612 B", "4.0 kB".
pub fn size(bytes: i64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_never_claim_what_is_unknown() {
        assert_eq!(
            [None, Some(0.0), Some(18.42), Some(0.0004), Some(1e-6)].map(cost),
            ["—", "$0.00", "$18.42", "$0.0004", "<$0.0001"]
        );
        assert_eq!([37, 1_000].map(count), ["37", "1,000+"]);
        assert_eq!(
            [8_204, 999, 1_000_000].map(number),
            ["8,204", "999", "1,000,000"]
        );
        assert_eq!([612, 4_000].map(size), ["612 B", "4.0 kB"]);
    }
}
