//! What operators decide, and what waits for them.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    AsOf, RunId,
    rules::decision::DecisionPage,
    views::inbox::InboxPage,
    wire::protocol::{Decide, DecideAnswer},
};

/// Questions on one page of the inbox.
#[cfg(feature = "ssr")]
const INBOX_PAGE: i64 = 20;
/// Decisions of one run on a page.
#[cfg(feature = "ssr")]
const DECISIONS_PAGE: i64 = 50;

door!(DecideOne: Needs(Decide));
/// Decides about a run or one of its steps. Pages ask for a reason; a blank one is refused. Sent again with the same
/// `key`, it changes nothing and gets the first answer: a page whose answer got lost asks for it so.
#[server(DecideOne, endpoint = "decisions/decide", input = Json, output = Json)]
pub async fn decide(
    run: RunId,
    body: Decide,
    key: Option<String>,
) -> Result<DecideAnswer, AppError> {
    use crate::domain::{Hash, Problem, wire::protocol::Check as _};
    let author = super::authorise::<DecideOne>()?;
    body.check()?;
    let silent = body.reason.as_deref().is_none_or(|it| it.trim().is_empty());
    if silent && body.kind.needs_reason() {
        return Err(Problem::invalid("reason", "say why: it is kept with the decision").into());
    }
    let said = Hash::of(&serde_json::json!(body));
    let key = known_by(key, &author, &run, said)?;
    let store = super::store()?;
    Ok(store.decide_once(run, author, body, key).await?)
}

/// What a decision is recognised by when it is sent again: its key, who sent it, and the hash of what was `said`.
#[cfg(feature = "ssr")]
pub(super) fn known_by(
    key: Option<String>,
    author: &crate::domain::Principal,
    run: &RunId,
    said: crate::domain::Hash,
) -> Result<Option<crate::store::commands::Key>, crate::domain::Problem> {
    let fits = |key: &String| (1..=256).contains(&key.len()) && key.is_ascii();
    if key.as_ref().is_some_and(|key| !fits(key)) {
        let why = "must have 1–256 ASCII characters";
        return Err(crate::domain::Problem::invalid("key", why));
    }
    Ok(key.map(|key| crate::store::commands::Key {
        scope: format!("{} decide {run}", author.name),
        key,
        body: said,
    }))
}

door!(ReadDecisions: Needs(Read));
/// The decisions about a run, newest first; `before` is the `next` of the page before.
#[server(ReadDecisions, endpoint = "decisions/of_run", input = Json, output = Json)]
pub async fn of_run(run: RunId, before: Option<i64>) -> Result<DecisionPage, AppError> {
    super::authorise::<ReadDecisions>()?;
    Ok(super::store()?
        .decisions(&run, before, DECISIONS_PAGE)
        .await?)
}

door!(ReadInbox: Needs(Read));
/// Questions that wait for a person, oldest first.
#[server(ReadInbox, endpoint = "decisions/inbox", input = Json, output = Json)]
pub async fn inbox(cursor: Option<String>) -> Result<AsOf<InboxPage>, AppError> {
    super::authorise::<ReadInbox>()?;
    let store = super::store()?;
    super::as_of(&store, store.inbox(cursor.as_deref(), INBOX_PAGE)).await
}
