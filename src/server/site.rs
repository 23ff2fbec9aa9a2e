//! The static files of the site: embedded in a release binary, read from the site root in a development build.
//!
//! Every file has a strong `ETag` and must be revalidated: file names carry no hash, and a page of one version must
//! never run the WASM of another. Unchanged files cost one 304.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

/// A file that `build.rs` put into the binary.
struct Embedded {
    path: &'static str,
    plain: &'static [u8],
    brotli: Option<&'static [u8]>,
}

static EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/site_table.rs"));

/// A file of the site as it is in the binary; nothing in a development build.
pub fn embedded(path: &str) -> Option<&'static [u8]> {
    let file = EMBEDDED.iter().find(|file| file.path == path);
    file.map(|file| file.plain)
}

/// A file ready to be sent.
#[derive(Clone)]
struct File {
    plain: Bytes,
    brotli: Option<Bytes>,
    content_type: HeaderValue,
    hash: String,
}

impl File {
    fn new(path: &str, plain: Bytes, brotli: Option<Bytes>) -> Self {
        let hash = blake3::hash(&plain).to_hex()[..32].to_owned();
        Self {
            content_type: content_type(path),
            plain,
            brotli,
            hash,
        }
    }
}

/// Where the static files come from.
#[derive(Clone)]
pub struct Site(Arc<Source>);

enum Source {
    Binary(HashMap<&'static str, File>),
    Disk(PathBuf),
}

/// Files without which a page has neither styles nor scripts.
const NEEDED: [&str; 3] = ["pkg/step47.css", "pkg/step47.js", "pkg/step47.wasm"];

fn is_site(root: &Path) -> bool {
    NEEDED.iter().all(|file| root.join(file).is_file())
}

/// The site that belongs to a binary without one: `site_root` or, if nothing was built there, what `cargo xtask` built into the
/// target directory that holds the binary.
fn built(site_root: PathBuf, binary: Option<&Path>) -> PathBuf {
    let target = binary.and_then(|it| it.parent()?.parent());
    let beside = target
        .into_iter()
        .flat_map(|target| ["site-release", "site"].map(|name| target.join(name)));
    let mut places = std::iter::once(site_root.clone()).chain(beside);
    places.find(|place| is_site(place)).unwrap_or(site_root)
}

impl Site {
    /// The embedded site or, in a binary without one, the directory `site_root` or what was built beside the binary.
    pub fn new(site_root: PathBuf) -> Self {
        let binary = std::env::current_exe().ok();
        Self::from_table(EMBEDDED, built(site_root, binary.as_deref()))
    }

    /// Whether pages come without styles and scripts: nothing is embedded, and nothing was built where the site should be.
    pub fn is_missing(&self) -> bool {
        match &*self.0 {
            Source::Binary(_) => false,
            Source::Disk(root) => !is_site(root),
        }
    }

    /// Says in the log where the site comes from, unless it is embedded as in a release.
    pub fn tell(&self) {
        match &*self.0 {
            Source::Binary(_) => {}
            Source::Disk(root) if is_site(root) => {
                tracing::info!(site = %root.display(), "pages use the site in this directory");
            }
            Source::Disk(root) => tracing::warn!(
                site = %root.display(),
                "this binary has no site inside and none was built: pages come without styles and scripts. \
                 `cargo xtask build` makes a binary that has it"
            ),
        }
    }

    fn from_table(table: &[Embedded], site_root: PathBuf) -> Self {
        if table.is_empty() {
            return Self(Arc::new(Source::Disk(site_root)));
        }
        let files = table.iter().map(|it| {
            let brotli = it.brotli.map(Bytes::from_static);
            (
                it.path,
                File::new(it.path, Bytes::from_static(it.plain), brotli),
            )
        });
        Self(Arc::new(Source::Binary(files.collect())))
    }

    /// The answer to a request for a file, or `None` where the site has no such file: the page router's turn.
    pub fn respond(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Response> {
        if method != Method::GET && method != Method::HEAD {
            return None;
        }
        let file = self.find(path)?;
        let brotli = file.brotli.as_ref().filter(|_| accepts_brotli(headers));
        let etag = match brotli {
            Some(_) => format!("\"{}-br\"", file.hash),
            None => format!("\"{}\"", file.hash),
        };
        let mut response = if matches_etag(headers, &etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let mut full = Response::new(Body::from(brotli.unwrap_or(&file.plain).clone()));
            full.headers_mut()
                .insert(header::CONTENT_TYPE, file.content_type.clone());
            if brotli.is_some() {
                full.headers_mut()
                    .insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
            }
            full
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, HeaderValue::try_from(etag).ok()?);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        Some(response)
    }

    fn find(&self, path: &str) -> Option<File> {
        match &*self.0 {
            Source::Binary(files) => files.get(path).cloned(),
            Source::Disk(root) => {
                let below = plain_path(path)?;
                let bytes = fs::read(root.join(below)).ok()?;
                Some(File::new(path, bytes.into(), None))
            }
        }
    }
}

/// The path below the site root, if every part of it is a plain file name. No `..`, hidden file, escape or drive
/// letter passes: the files of the site are named in plain ASCII.
fn plain_path(path: &str) -> Option<&str> {
    let below = path.strip_prefix('/')?;
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    below.split('/').all(plain).then_some(below)
}

fn content_type(path: &str) -> HeaderValue {
    let mime = mime_guess::from_path(path).first_or_octet_stream();
    let text = mime.type_() == mime_guess::mime::TEXT && mime.get_param("charset").is_none();
    let value = if text {
        format!("{mime}; charset=utf-8")
    } else {
        mime.to_string()
    };
    HeaderValue::try_from(value)
        .unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"))
}

fn accepts_brotli(headers: &HeaderMap) -> bool {
    listed(headers, header::ACCEPT_ENCODING).any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let refused = |q: &str| q.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
        parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("br"))
            && !parts.any(refused)
    })
}

fn matches_etag(headers: &HeaderMap, etag: &str) -> bool {
    listed(headers, header::IF_NONE_MATCH)
        .any(|item| item == "*" || item.strip_prefix("W/").unwrap_or(item) == etag)
}

/// The members of a comma-separated header.
fn listed(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(name).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Embedded] = &[
        Embedded {
            path: "/pkg/step47.js",
            plain: b"export {}",
            brotli: Some(b"squeezed"),
        },
        Embedded {
            path: "/fonts/inter.woff2",
            plain: b"font",
            brotli: None,
        },
    ];

    fn embedded() -> Site {
        Site::from_table(TABLE, PathBuf::from("/nowhere"))
    }

    fn get(
        site: &Site,
        path: &str,
        headers: &[(header::HeaderName, &'static str)],
    ) -> Option<Response> {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        site.respond(&Method::GET, path, &headers.collect())
    }

    fn value(response: &Response, name: header::HeaderName) -> &str {
        response
            .headers()
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    async fn body(response: Response) -> Vec<u8> {
        axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap()
            .to_vec()
    }

    #[tokio::test]
    async fn a_browser_that_takes_brotli_gets_it() {
        let response = get(
            &embedded(),
            "/pkg/step47.js",
            &[(header::ACCEPT_ENCODING, "gzip, br")],
        )
        .unwrap();
        assert_eq!(value(&response, header::CONTENT_ENCODING), "br");
        assert_eq!(
            value(&response, header::CONTENT_TYPE),
            "text/javascript; charset=utf-8"
        );
        assert_eq!(value(&response, header::VARY), "accept-encoding");
        assert_eq!(body(response).await, b"squeezed");
    }

    #[tokio::test]
    async fn a_client_that_does_not_take_brotli_gets_the_plain_file() {
        for refusal in ["gzip", "br;q=0, gzip", "br; q=0.0"] {
            let response = get(
                &embedded(),
                "/pkg/step47.js",
                &[(header::ACCEPT_ENCODING, refusal)],
            )
            .unwrap();
            assert_eq!(value(&response, header::CONTENT_ENCODING), "", "{refusal}");
            assert_eq!(body(response).await, b"export {}", "{refusal}");
        }
    }

    #[tokio::test]
    async fn a_file_without_a_compressed_twin_is_sent_plain() {
        let response = get(
            &embedded(),
            "/fonts/inter.woff2",
            &[(header::ACCEPT_ENCODING, "br")],
        )
        .unwrap();
        assert_eq!(value(&response, header::CONTENT_TYPE), "font/woff2");
        assert_eq!(body(response).await, b"font");
    }

    #[tokio::test]
    async fn an_unchanged_file_costs_a_304() {
        let site = embedded();
        let first = get(&site, "/pkg/step47.js", &[]).unwrap();
        assert_eq!(value(&first, header::CACHE_CONTROL), "no-cache");
        let etag = value(&first, header::ETAG).to_owned();
        let ask = |seen: String, encoding: &'static str| {
            let headers = [
                (header::IF_NONE_MATCH, HeaderValue::try_from(seen).unwrap()),
                (header::ACCEPT_ENCODING, HeaderValue::from_static(encoding)),
            ];
            site.respond(
                &Method::GET,
                "/pkg/step47.js",
                &HeaderMap::from_iter(headers),
            )
            .unwrap()
        };
        for seen in [
            etag.clone(),
            format!("W/{etag}"),
            format!("\"old\", {etag}"),
            "*".into(),
        ] {
            let response = ask(seen, "gzip");
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(value(&response, header::ETAG), etag);
            assert!(body(response).await.is_empty());
        }
        assert_eq!(ask("\"old\"".into(), "gzip").status(), StatusCode::OK);
        assert_eq!(
            ask(etag, "br").status(),
            StatusCode::OK,
            "another encoding is another entity"
        );
    }

    #[test]
    fn what_the_site_does_not_have_is_left_to_the_pages() {
        let site = embedded();
        assert!(get(&site, "/runs", &[]).is_none());
        assert!(
            site.respond(&Method::POST, "/pkg/step47.js", &HeaderMap::new())
                .is_none()
        );
    }

    #[tokio::test]
    async fn a_binary_without_a_site_reads_the_site_root() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("pkg")).unwrap();
        fs::write(root.path().join("pkg/step47.wasm"), b"\0asm").unwrap();
        let site = Site::from_table(&[], root.path().to_owned());
        let response = get(&site, "/pkg/step47.wasm", &[]).unwrap();
        assert_eq!(value(&response, header::CONTENT_TYPE), "application/wasm");
        assert_eq!(body(response).await, b"\0asm");
        assert!(
            get(&site, "/pkg", &[]).is_none(),
            "a directory is not a file"
        );
    }

    #[test]
    fn a_site_that_was_built_beside_the_binary_is_found() {
        let target = tempfile::tempdir().unwrap();
        let at = |name: &str| target.path().join(name);
        let binary = at("release/step47");
        let find = || built(at("elsewhere"), Some(&binary));
        let site = |place: PathBuf| Site::from_table(&[], place);
        assert_eq!(find(), at("elsewhere"));
        assert!(site(find()).is_missing(), "nothing was built");
        for (name, files) in [("site", 3), ("site-release", 3), ("elsewhere", 2)] {
            fs::create_dir_all(at(name).join("pkg")).unwrap();
            for file in &NEEDED[..files] {
                fs::write(at(name).join(file), b"").unwrap();
            }
        }
        assert_eq!(find(), at("site-release"), "half a site is none");
        assert!(!site(find()).is_missing());
        fs::remove_dir_all(at("site-release")).unwrap();
        assert_eq!(find(), at("site"));
        assert!(!embedded().is_missing());
    }

    #[test]
    fn no_path_leaves_the_site_root() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("secret"), b"s").unwrap();
        fs::create_dir(root.path().join("site")).unwrap();
        fs::write(root.path().join("site/.hidden"), b"s").unwrap();
        let site = Site::from_table(&[], root.path().join("site"));
        let absolute = format!("/{}", root.path().join("secret").display());
        for path in [
            "/../secret",
            "/..%2fsecret",
            "/%2e%2e/secret",
            "/..\\secret",
            "/.hidden",
            "//",
            "",
            &absolute,
        ] {
            assert!(get(&site, path, &[]).is_none(), "{path}");
        }
    }
}
