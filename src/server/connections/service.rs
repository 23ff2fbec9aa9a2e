//! One connection's requests on their way to the router, and the answers on their way back.

use axum::{
    Router,
    body::{Body, Bytes},
    http::{Request, Response},
};
use futures::future::BoxFuture;
use hyper::body::{Frame, Incoming, SizeHint};
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};
use tower::Service as _;

use super::pulse::{Busy, Pulse};
use crate::server::peer::Peer;

pub struct Asked {
    router: Router,
    peer: Peer,
    behind_tls: bool,
    pulse: Pulse,
}

impl Asked {
    pub fn new(router: Router, peer: Peer, behind_tls: bool, pulse: Pulse) -> Self {
        Self {
            router,
            peer,
            behind_tls,
            pulse,
        }
    }
}

impl hyper::service::Service<Request<Incoming>> for Asked {
    type Response = Response<Answered>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let busy = self.pulse.begin();
        let peer = Peer::of(self.peer.0, request.headers(), self.behind_tls);
        request.extensions_mut().insert(peer);
        let answer = self.router.clone().call(request);
        Box::pin(async move {
            let response = answer.await?;
            Ok(response.map(|body| Answered { body, _busy: busy }))
        })
    }
}

/// An answer's body; the request is under way until all of it was taken.
pub struct Answered {
    body: Body,
    _busy: Busy,
}

impl hyper::body::Body for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
