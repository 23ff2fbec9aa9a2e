//! A browser without pages: the cookie of one session, sent the way a browser sends it.

use reqwest::{Client, Method, RequestBuilder, Response, redirect::Policy};
use std::sync::LazyLock;

use super::Server;

/// Follows no redirect, so that each answer can be looked at.
static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .build()
        .expect("a client")
});

pub struct Browser {
    base: String,
    /// `name=value` of the session's cookie; empty if nobody is signed in.
    pub cookie: String,
}

impl Browser {
    /// A browser in which nobody is signed in.
    pub fn of(server: &Server) -> Self {
        Self {
            base: server.api().parts().0.to_owned(),
            cookie: String::new(),
        }
    }

    /// Adds a person and signs in as them.
    pub async fn signed_in(server: &Server, name: &str, role: &str) -> Self {
        let link = link(server, name, role).await;
        let mut browser = Self::of(server);
        let answer = browser.opens(&link, None).await;
        assert_eq!(answer.status(), 303, "{answer:?}");
        assert!(!browser.cookie.is_empty(), "{answer:?}");
        browser
    }

    /// Spends a link; keeps the cookie that comes with the answer.
    pub async fn opens(&mut self, link: &str, next: Option<&str>) -> Response {
        let next = next.map(|next| format!("&next={}", encoded(next)));
        let form = format!("token={}{}", encoded(link), next.unwrap_or_default());
        let answer = self.posts("/signin", &form).await;
        if let Some(cookie) = answer.headers().get("set-cookie") {
            let cookie = cookie.to_str().expect("a cookie in ASCII");
            self.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        }
        answer
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = CLIENT.request(method, format!("{}{path}", self.base));
        let request = request.header("sec-fetch-site", "same-origin");
        match self.cookie.is_empty() {
            true => request,
            false => request.header("cookie", &self.cookie),
        }
    }

    pub async fn gets(&self, path: &str) -> Response {
        let request = self.request(Method::GET, path);
        request.send().await.expect("an answer")
    }

    /// Posts a form.
    pub async fn posts(&self, path: &str, form: &str) -> Response {
        let request = self.request(Method::POST, path).body(form.to_owned());
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.send().await.expect("an answer")
    }
}

/// The secret of a new one-time link; adds the person, or lets them in again.
pub async fn link(server: &Server, name: &str, role: &str) -> String {
    let added = server
        .store
        .command(&["user", "add", name, "--role", role])
        .await;
    let url = String::from_utf8_lossy(&added.stdout).into_owned();
    let link = url
        .trim()
        .split_once("?token=")
        .map(|(_, it)| it.to_owned());
    link.unwrap_or_else(|| panic!("no link: {added:?}"))
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}
