//! The demo's server: a process of its own, so that it can be looked at, stopped and killed like any other.

use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::ChildStdout,
    time::timeout,
};

use super::children::{Children, Ended};
use crate::cli::{Failure, serve::first_link::IN_FILE};

/// Migrations on a large store take their time.
const START: Duration = Duration::from_secs(120);

pub struct Server {
    pub url: String,
    /// Opens once, for an admin.
    pub sign_in: String,
    /// For the agents.
    pub token: String,
    pub ended: Ended,
}

impl Server {
    pub async fn start(
        children: &mut Children,
        store: &str,
        listen: SocketAddr,
    ) -> Result<Self, Failure> {
        // Only this makes a store that is not there yet; the list of people would refuse it.
        children.output(&["migrate", "--store", store]).await?;
        let users = children
            .output(&["user", "list", "--json", "--store", store])
            .await?;
        let first = serde_json::from_str::<Vec<serde_json::Value>>(&users)?.is_empty();
        let listen = listen.to_string();
        let (stdout, ended) = children.server(&["serve", "--store", store, "--listen", &listen])?;
        let mut lines = BufReader::new(stdout).lines();
        let url = said(&mut lines, &ended, "listening on ").await?;
        let sign_in = match first {
            true => {
                let file = said(&mut lines, &ended, IN_FILE).await?;
                let link = tokio::fs::read_to_string(&file).await?;
                // It is shown here and now; a copy has no use.
                tokio::fs::remove_file(&file).await?;
                link.trim().to_owned()
            }
            false => {
                let again = [
                    "user",
                    "add",
                    "admin",
                    "--role",
                    "admin",
                    "--public-url",
                    &url,
                ];
                children
                    .output(&[&again[..], &["--store", store]].concat())
                    .await?
            }
        };
        let token = [
            "token", "create", "--role", "agent", "--name", "demo", "--store", store,
        ];
        let token = children.output(&token).await?;
        // Whatever else it prints is nobody's concern, but the pipe must not fill up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self {
            url,
            sign_in,
            token,
            ended,
        })
    }
}

/// The rest of the first line that starts like this.
async fn said(
    lines: &mut Lines<BufReader<ChildStdout>>,
    ended: &Ended,
    start: &str,
) -> Result<String, Failure> {
    let found = timeout(START, async {
        while let Some(line) = lines.next_line().await? {
            if let Some(rest) = line.strip_prefix(start) {
                return Ok(rest.to_owned());
            }
        }
        let mut ended = ended.clone();
        let ended = ended.wait_for(Option::is_some).await?.clone();
        Err(format!("the server did not start: {}", ended.unwrap_or_default()).into())
    });
    found
        .await
        .map_err(|_| format!("the server never said {start:?}"))?
}
