//! A store's URL: as it is shown, and as it is given to the database's driver. Neither lets a secret into a log.

use sqlx::postgres::PgConnectOptions;
use std::str::FromStr as _;

/// What the driver understands behind the `?` of a PostgreSQL's URL.
const KNOWN: &[&str] = &[
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// A store URL without anything secret: of a PostgreSQL only the place is shown, because a password may stand in front
/// of the host, in `?password=`, `?sslpassword=` and elsewhere.
pub fn redacted(store: &str) -> String {
    let Some((scheme @ ("postgres" | "postgresql"), rest)) = store.split_once(':') else {
        return store.to_owned();
    };
    let hidden = format!("{scheme}://…");
    // An @ behind the host may belong to a password that was not written as a URL wants it.
    let behind = rest.strip_prefix("//").and_then(|it| it.split_once('/'));
    if behind.is_none_or(|(_, behind)| behind.contains('@')) {
        return hidden;
    }
    let Ok(options) = PgConnectOptions::from_str(&connectable(store)) else {
        return hidden;
    };
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => options.get_host().to_owned(),
    };
    let port = match options.get_port() {
        5432 => String::new(),
        port => format!(":{port}"),
    };
    let database = options.get_database().unwrap_or_default();
    format!("{hidden}@{host}{port}/{database}")
}

/// The URL without parameters that the driver does not know: it would log them with their values.
pub fn connectable(store: &str) -> String {
    let Some((place, query)) = store.split_once('?') else {
        return store.to_owned();
    };
    let known = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        let known = KNOWN.contains(&name) || name.starts_with("options[");
        if !known {
            tracing::warn!(name, "the store's URL has a parameter that is not known");
        }
        known
    };
    let kept: Vec<_> = query.split('&').filter(known).collect();
    match kept.is_empty() {
        true => place.to_owned(),
        false => format!("{place}?{}", kept.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_url_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://ana:hush@db/step47", "postgres://…@db/step47"),
            (
                "postgres://ana:hush@db:6432/step47?sslmode=require",
                "postgres://…@db:6432/step47",
            ),
            (
                "postgres://db/step47?user=ana&password=hush",
                "postgres://…@db/step47",
            ),
            (
                "postgresql://ana@db/step47?sslpassword=hush",
                "postgresql://…@db/step47",
            ),
            ("sqlite:a@b.db", "sqlite:a@b.db"),
        ] {
            assert_eq!(redacted(url), shown);
        }
        for url in [
            "postgres://db/step47?password=x%40hush",
            "postgres://db/step47?password=a@hush",
            "postgres://ana:hush@hush@db/step47",
            "postgres://ana:hu/sh?hush@db/step47",
            "postgres://ana:12/hush@db/step47",
            "postgres://ana:hush@db:no-port/step47",
            "postgres:hush",
        ] {
            let shown = redacted(url);
            assert!(!shown.contains("hush"), "{shown}");
            assert!(shown.starts_with("postgres"), "{shown}");
        }
    }

    #[test]
    fn the_driver_gets_no_parameter_that_it_would_log() {
        let url = "postgres://db/a?sslpassword=hush&sslmode=require&password=x&extra=hush";
        let kept = "postgres://db/a?sslmode=require&password=x";
        assert_eq!(connectable(url), kept);
        assert_eq!(
            connectable("postgres://db/a?sslpassword=x"),
            "postgres://db/a"
        );
        assert_eq!(connectable("postgres://db/a"), "postgres://db/a");
    }
}
