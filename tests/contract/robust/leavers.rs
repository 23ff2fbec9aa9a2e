//! Tokens that are made, used and revoked all the time: what one of them has open ends within two seconds.

use reqwest::Method;
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use super::{
    cast::Part,
    scene::{Scene, SceneHandle},
};
use crate::support::{Answer, Api, DEADLINE, Stream, pause, unique};

/// From the answer to whoever revoked a token until its streams have ended.
const BOUND: Duration = Duration::from_secs(2);

/// How long that took, each time that nothing was broken meanwhile.
pub struct Leavers(Arc<Mutex<Vec<Duration>>>);

impl Leavers {
    pub fn start(scene: &Scene) -> Self {
        let seen = Arc::<Mutex<Vec<Duration>>>::default();
        let shared = seen.clone();
        scene.repeat(Duration::from_secs(1), move |place| {
            let seen = shared.clone();
            async move {
                if let Some(took) = leaves(&place).await {
                    seen.lock().expect("whole").push(took);
                }
            }
        });
        Self(seen)
    }

    pub fn report(&self, timed: bool) {
        let seen = self.0.lock().expect("whole");
        let longest = seen.iter().max().copied().unwrap_or_default();
        println!(
            "{} tokens revoked, their streams ended within {longest:?}",
            seen.len()
        );
        assert!(!timed || !seen.is_empty(), "no token was revoked");
        assert!(
            !timed || longest <= BOUND,
            "a revoked token's stream went on for {longest:?}"
        );
    }
}

/// One token from its making to its end. Nothing if a fault came between.
async fn leaves(place: &SceneHandle) -> Option<Duration> {
    let before = place.calm()?;
    let admin = place.api(Part::Admin);
    let name = unique("leaver");
    let order = json!({"change": "create_token", "name": name, "role": "viewer"});
    let made = asked(&admin, "change", json!({"change": order})).await?;
    let secret = made["Secret"]["secret"].as_str().expect("a secret");
    let leaver = admin.with_token(secret);
    // The one is quiet, the other has news all the time.
    let quiet = opened(Stream::try_open(&leaver, &format!("?after={}", i64::MAX), None).await)?;
    let busy = opened(Stream::try_live(&leaver, "").await)?;
    let sheet = asked(&admin, "sheet", json!({})).await?;
    let tokens = sheet["managed"]["tokens"].as_array().expect("tokens");
    let token = tokens.iter().find(|it| it["name"] == json!(name));
    let id = &token.expect("the token is listed")["id"];
    let order = json!({"change": "revoke_token", "id": id});
    asked(&admin, "change", json!({"change": order})).await?;
    let began = Instant::now();
    for stream in [quiet, busy] {
        ends(stream).await;
    }
    let took = began.elapsed();
    let calm = place.calm() == Some(before);
    is_refused(place, secret).await;
    calm.then_some(took)
}

/// Where the server is now: it may have been replaced.
async fn is_refused(place: &SceneHandle, secret: &str) {
    // Not `eventually`: the future of a closure that borrows is not `Send` for every lifetime.
    let end = Instant::now() + DEADLINE;
    loop {
        let leaver = place.api(Part::Admin).with_token(secret);
        let request = leaver.request(Method::GET, "/v1/runs?limit=1");
        if let Ok(answer) = Answer::try_to(request, "GET /v1/runs".into()).await {
            assert!(matches!(answer.status, 200 | 401 | 503), "{answer:?}");
            if answer.status == 401 {
                return;
            }
        }
        assert!(Instant::now() < end, "the revoked token is still taken");
        pause(20).await;
    }
}

/// What a server function of the settings answered; nothing if the server was busy, or on its way down or up.
async fn asked(admin: &Api, what: &str, body: Value) -> Option<Value> {
    let path = format!("/api/access/{what}");
    let answer = admin.try_post(&path, &body).await.ok()?;
    assert!(matches!(answer.status, 200 | 503), "{path}: {answer:?}");
    (answer.status == 200).then(|| answer.body())
}

fn opened(stream: Result<Stream, String>) -> Option<Stream> {
    match stream {
        Ok(stream) => Some(stream),
        Err(why) => {
            assert!(!why.starts_with("500"), "a stream: {why}");
            None
        }
    }
}

async fn ends(mut stream: Stream) {
    let end = async { while let Some(Some(_)) = stream.within(DEADLINE).await {} };
    let ended = tokio::time::timeout(DEADLINE, end).await;
    ended.expect("the stream of a revoked token ends");
}
