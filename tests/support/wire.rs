//! A bare connection, for clients that do not finish what they begin.

use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Api, DEADLINE};

pub struct Wire {
    stream: TcpStream,
}

impl Wire {
    pub async fn open(api: &Api) -> Self {
        let (base, _) = api.parts();
        let stream = TcpStream::connect(base.trim_start_matches("http://"))
            .await
            .expect("somebody listens");
        Self { stream }
    }

    /// Opens one and sends this much.
    pub async fn with(api: &Api, text: &str) -> Self {
        let mut wire = Self::open(api).await;
        wire.send(text.as_bytes()).await;
        wire
    }

    /// The head of a request that announces a body of this length.
    pub async fn posting(api: &Api, path: &str, length: usize) -> Self {
        let (_, token) = api.parts();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        Self::with(api, &head).await
    }

    /// A server that hung up does not take it, which is no failure of the test by itself.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = tokio::time::timeout(DEADLINE, self.stream.write_all(bytes)).await;
    }

    /// What the server says until it hangs up.
    pub async fn rest(&mut self) -> String {
        let mut said = Vec::new();
        // A connection may be reset after its answer: what came before counts.
        let _ = tokio::time::timeout(DEADLINE, self.stream.read_to_end(&mut said))
            .await
            .expect("the server hangs up in time");
        String::from_utf8_lossy(&said).into_owned()
    }

    /// What the server says next, or nothing if it says nothing for this long.
    pub async fn says(&mut self, within: Duration) -> Option<String> {
        let mut said = vec![0; 64 << 10];
        let read = tokio::time::timeout(within, self.stream.read(&mut said)).await;
        let length = read.ok()?.unwrap_or(0);
        Some(String::from_utf8_lossy(&said[..length]).into_owned())
    }
}
