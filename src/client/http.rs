//! One request and its answer; sent again while the server is away.

use reqwest::{Method, StatusCode, Url, header};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    future::Future,
    time::{Duration, Instant},
};

use super::{backoff::Backoff, error::Error};
use crate::domain::{Code, Problem};

/// A way to the server: cheap to clone, safe to share.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: Url,
    patience: Duration,
    timeout: Duration,
}

/// What is asked. Kept as bytes, so that a repeat is the same to the last bit.
pub(super) struct Request {
    method: Method,
    path: String,
    body: Option<Vec<u8>>,
    /// Makes a repeat known for what it is, where nothing in the body does.
    key: Option<String>,
    /// How long the server may take its time to answer.
    wait: Duration,
    /// What kind of answer is wanted, where there are several.
    accept: Option<&'static str>,
}

/// A server that failed may have failed for now (its disk was full), or at this very request, for good: it is asked
/// again for no longer than this.
const FAILED_PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no answer.
enum Fault {
    /// The server says that it failed.
    Failed(Problem),
    Away {
        why: String,
        asked: Option<Duration>,
    },
    Refused(Problem),
}

impl Client {
    /// `url` is where the server listens, `token` one of the role agent.
    pub fn new(url: &str, token: &str) -> Result<Self, Error> {
        let setup = |why: &dyn std::fmt::Display| Error::Setup(why.to_string());
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Fails only if another thread was faster, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let mut url: Url = url.parse().map_err(|why| setup(&why))?;
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        let mut bearer = header::HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| Error::Setup("the token holds characters that no token has".into()))?;
        bearer.set_sensitive(true);
        let http = reqwest::Client::builder()
            .default_headers([(header::AUTHORIZATION, bearer)].into_iter().collect())
            .connect_timeout(Duration::from_secs(5))
            .build()
            .map_err(|why| setup(&why))?;
        Ok(Self {
            http,
            url,
            patience: Duration::from_secs(60),
            timeout: Duration::from_secs(30),
        })
    }

    /// How long a request is sent again while the server is away. Under a lease, its end is the limit.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// How long one try of a request may take, beyond what it asks the server to wait.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sends until there is an answer; `None` for one without a body.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        request: Request,
    ) -> Result<Option<T>, Error> {
        let sent = || self.exchange(&request);
        let body = self.patiently(&request.path, sent).await?;
        match body.is_empty() {
            true => Ok(None),
            false => decode(&body).map(Some),
        }
    }

    /// Sends until an answer begins that goes on for as long as its reader likes.
    pub(super) async fn stream(&self, request: &Request) -> Result<reqwest::Response, Error> {
        self.patiently(&request.path, || self.begun(request)).await
    }

    async fn begun(&self, request: &Request) -> Result<reqwest::Response, Fault> {
        let begun = self.send(self.prepared(request)?);
        let late = |_| Fault::away("no answer in time");
        tokio::time::timeout(self.timeout, begun)
            .await
            .map_err(late)?
    }

    /// Tries until it works, is refused, or patience is over.
    async fn patiently<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        path: &str,
        tried: impl Fn() -> F,
    ) -> Result<T, Error> {
        let started = Instant::now();
        let mut backoff = Backoff::default();
        loop {
            let (why, asked, failed) = match tried().await {
                Ok(answer) => return Ok(answer),
                Err(Fault::Refused(problem)) => return Err(problem.into()),
                Err(Fault::Failed(problem)) => (problem.detail.clone(), None, Some(problem)),
                Err(Fault::Away { why, asked }) => (why, asked, None),
            };
            let pause = backoff.next(asked);
            let waited = started.elapsed();
            if let Some(problem) = failed
                && waited + pause > self.patience.min(FAILED_PATIENCE)
            {
                return Err(problem.into());
            }
            if waited + pause > self.patience {
                let url = self.url.to_string();
                return Err(Error::Unreachable { url, waited, why });
            }
            tracing::debug!(path, why, ?pause, "the server is away");
            tokio::time::sleep(pause).await;
        }
    }

    async fn exchange(&self, request: &Request) -> Result<Vec<u8>, Fault> {
        let http = self.prepared(request)?;
        let answer = self.send(http.timeout(self.timeout + request.wait)).await?;
        Ok(answer.bytes().await?.into())
    }

    fn prepared(&self, request: &Request) -> Result<reqwest::RequestBuilder, Fault> {
        let url = self.url.join(&request.path).map_err(|why| {
            let detail = format!("{}: {why}", request.path);
            Fault::Refused(Problem::new(Code::Malformed, detail))
        })?;
        let mut http = self.http.request(request.method.clone(), url);
        if let Some(body) = &request.body {
            http = http
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        if let Some(key) = &request.key {
            http = http.header("Idempotency-Key", key);
        }
        if let Some(kind) = request.accept {
            http = http.header(header::ACCEPT, kind);
        }
        Ok(http)
    }

    /// The answer, its body still to come, unless it is a refusal.
    async fn send(&self, http: reqwest::RequestBuilder) -> Result<reqwest::Response, Fault> {
        let answer = http.send().await?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let asked = retry_after(&answer);
        let body = answer.bytes().await?;
        match status {
            StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Err(Fault::Away {
                why: problem(status, &body).detail,
                asked,
            }),
            status => match problem(status, &body) {
                failed if status.is_server_error() && failed.code == Code::Internal => {
                    Err(Fault::Failed(failed))
                }
                refused => Err(Fault::Refused(refused)),
            },
        }
    }
}

impl Fault {
    fn away(why: &str) -> Self {
        Self::Away {
            why: why.to_owned(),
            asked: None,
        }
    }
}

impl From<reqwest::Error> for Fault {
    fn from(error: reqwest::Error) -> Self {
        let mut why = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            why = cause.to_string();
            source = cause.source();
        }
        Self::Away { why, asked: None }
    }
}

impl Request {
    pub fn get(path: String) -> Self {
        Self {
            method: Method::GET,
            path,
            body: None,
            key: None,
            wait: Duration::ZERO,
            accept: None,
        }
    }

    pub fn post(path: String, body: &impl Serialize) -> Result<Self, Error> {
        let body = serde_json::to_vec(body).map_err(Error::shape("the request"))?;
        Ok(Self {
            method: Method::POST,
            body: Some(body),
            ..Self::get(path)
        })
    }

    /// A repeat of this request must not count twice, and only a key can tell.
    pub fn keyed(self) -> Self {
        Self {
            key: Some(uuid::Uuid::now_v7().to_string()),
            ..self
        }
    }

    /// This kind of answer is wanted.
    pub fn accepting(self, kind: &'static str) -> Self {
        Self {
            accept: Some(kind),
            ..self
        }
    }

    /// The server holds its answer back for up to this long.
    pub fn waiting(self, wait_ms: i64) -> Self {
        Self {
            wait: Duration::from_millis(wait_ms.max(0) as u64),
            ..self
        }
    }
}

/// A state may nest deeper than serde_json's own limit; the server has checked it.
pub(super) fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_slice(body);
    json.disable_recursion_limit();
    T::deserialize(&mut json).map_err(Error::shape("the server's answer"))
}

/// The refusal in the body, or what can be said of one that is not ours.
fn problem(status: StatusCode, body: &[u8]) -> Problem {
    serde_json::from_slice(body).unwrap_or_else(|_| {
        let start = String::from_utf8_lossy(&body[..body.len().min(200)]);
        Problem::new(Code::Internal, format!("HTTP {status}: {start}"))
    })
}

fn retry_after(answer: &reqwest::Response) -> Option<Duration> {
    let seconds = answer.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    seconds.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_never_shows_its_token() {
        let client = Client::new("http://127.0.0.1:3047", "s47_secret").unwrap();
        assert!(!format!("{client:?}").contains("s47_secret"));
    }

    #[test]
    fn an_answer_that_is_not_ours_is_told_with_its_status() {
        let told = problem(StatusCode::IM_A_TEAPOT, b"short and stout");
        assert_eq!(told.detail, "HTTP 418 I'm a teapot: short and stout");
    }

    /// Answers each connection in turn, and gives back what was asked.
    fn listen(answers: &'static [&'static str]) -> (String, std::thread::JoinHandle<Vec<String>>) {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serve = move |answer: &&str| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = vec![0; 4_096];
            let len = stream.read(&mut asked).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&asked[..len]).into_owned()
        };
        let asked = std::thread::spawn(move || answers.iter().map(serve).collect());
        (url, asked)
    }

    #[tokio::test]
    async fn a_request_is_repeated_to_the_last_bit_until_there_is_an_answer() {
        let (url, asked) = listen(&[
            "HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            "",
            "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\nconnection: close\r\n\r\n{",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\n7",
        ]);
        let client = Client::new(&url, "t").unwrap();
        let request = Request::post("v1/claims".into(), &"body").unwrap().keyed();
        assert_eq!(client.ask(request).await.unwrap(), Some(7));
        let asked = asked.join().unwrap();
        assert!(asked[0].contains("idempotency-key: "), "{}", asked[0]);
        assert!(asked.iter().all(|again| *again == asked[0]), "{asked:#?}");
    }

    #[tokio::test]
    async fn a_refusal_is_not_repeated() {
        let (url, asked) = listen(&[concat!(
            "HTTP/1.1 409 Conflict\r\nconnection: close\r\n\r\n",
            r#"{"code":"lease_lost","title":"lease lost","status":409,"detail":"stop"}"#
        )]);
        let client = Client::new(&url, "t").unwrap();
        let refused = client.ask::<()>(Request::get("v1/runs".into())).await;
        assert!(matches!(refused, Err(Error::LeaseLost)), "{refused:?}");
        assert_eq!(asked.join().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_server_that_failed_is_asked_again_and_damage_is_not() {
        const FAILED: &str = concat!(
            "HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\n",
            r#"{"code":"internal","title":"internal","status":500,"detail":"the store failed"}"#
        );
        let (url, asked) = listen(&[
            FAILED,
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\n7",
            concat!(
                "HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\n",
                r#"{"code":"corrupt","title":"corrupt","status":500,"detail":"damaged"}"#
            ),
        ]);
        let client = Client::new(&url, "t").unwrap();
        let get = || Request::get("v1/runs/x".into());
        assert_eq!(client.ask(get()).await.unwrap(), Some(7));
        let damaged = client.ask::<()>(get()).await;
        assert!(matches!(damaged, Err(Error::Refused(_))), "{damaged:?}");
        assert_eq!(asked.join().unwrap().len(), 3);

        let (url, asked) = listen(&[FAILED]);
        let hasty = Client::new(&url, "t").unwrap().patience(Duration::ZERO);
        let failed = hasty.ask::<()>(get()).await;
        assert!(
            matches!(&failed, Err(Error::Refused(problem)) if problem.detail == "the store failed"),
            "what the server said is told: {failed:?}"
        );
        asked.join().unwrap();
    }

    #[tokio::test]
    async fn patience_is_bounded_when_nobody_listens() {
        let client = Client::new("http://127.0.0.1:9", "t")
            .unwrap()
            .patience(Duration::from_millis(300));
        let started = Instant::now();
        let error = client
            .ask::<()>(Request::get("v1/runs/x".into()))
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
