//! Where a change comes from: our own pages or a program with a token, never another site.

use axum::http::{HeaderMap, Method};

use crate::domain::{Code, Problem};

pub fn same_origin(method: &Method, headers: &HeaderMap, token: bool) -> Result<(), Problem> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let ours = match (text("sec-fetch-site"), text("origin"), text("host")) {
        (Some(site), _, _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin), Some(host)) => origin
            .split_once("://")
            .is_some_and(|(_, place)| place == host),
        (None, Some(_), None) => false,
        (None, None, _) => token,
    };
    match ours {
        true => Ok(()),
        false => Err(Problem::new(
            Code::Forbidden,
            "a change must come from this server's own pages or with a token",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn checked(pairs: &[(&'static str, &'static str)], token: bool) -> bool {
        let headers = pairs.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        same_origin(&Method::POST, &headers.collect(), token).is_ok()
    }

    #[test]
    fn a_change_from_another_site_is_refused() {
        let host = ("host", "127.0.0.1:3047");
        assert!(checked(&[host, ("origin", "http://127.0.0.1:3047")], false));
        assert!(checked(&[host, ("sec-fetch-site", "same-origin")], false));
        assert!(
            checked(&[host], true),
            "a program with a token sends no Origin"
        );
        assert!(!checked(&[host], false));
        assert!(!checked(&[host, ("origin", "https://evil.example")], false));
        assert!(!checked(&[host, ("origin", "https://evil.example")], true));
        assert!(!checked(&[host, ("sec-fetch-site", "cross-site")], false));
        assert!(!checked(&[host, ("sec-fetch-site", "same-site")], false));
        assert!(!checked(&[host, ("origin", "null")], false));
    }
}
