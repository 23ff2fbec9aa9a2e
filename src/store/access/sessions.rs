//! Sessions: in by a one-time link, out here or everywhere; and who is still let in.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::{collections::HashSet, net::IpAddr};

use super::{
    super::{
        Command, Error, Store, audit,
        engine::{Connection, Param, params},
        fresh,
        rows::{
            seen::SeenRow, session::SessionRow, signin_link::LinkRow, token::TokenRow,
            user::UserRow,
        },
        seal,
        table::Declared,
        tables,
        tx::Tx,
    },
    of_secret, person, secret,
    seen::{last_seen, seen},
    tokens,
};
use crate::domain::{
    Hash, Time,
    nouns::{
        access::{Caller, Principal, Session},
        audit::AuditKind,
    },
};

const SESSION_LIVES_MS: i64 = 30 * 24 * 3_600_000;
/// Credentials asked about by one statement.
const AMONG_MAX: usize = 256;
/// Sessions of one person that are listed.
const LISTED_MAX: i64 = 100;

/// The hash of the secret that a caller shows. The kind is part of it: the secret of a session is no token, and a token no
/// session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Credential {
    pub kind: Caller,
    pub hash: Hash,
}

impl Credential {
    pub fn new(kind: Caller, secret: &str) -> Self {
        Self {
            kind,
            hash: of_secret(secret),
        }
    }
}

/// Spends a link and begins a session, both or neither.
struct SignIn {
    link: Hash,
    session: Hash,
    peer: Option<IpAddr>,
}

#[async_trait]
impl Command for SignIn {
    type Answer = Option<Principal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Option<Principal>, Error> {
        let now = tx.now;
        let Some(mut who) = owner_of_link(tx.conn(), self.link, now).await? else {
            return Ok(None);
        };
        who.peer = self.peer;
        let used = vec![("used_at", now.into())];
        tables::SIGNIN_LINKS
            .amend(tx.conn(), params![self.link], used)
            .await?;
        let session = SessionRow {
            hash: self.session,
            user_name: who.name.clone(),
            expires_at: now.plus_ms(SESSION_LIVES_MS),
            created_at: now,
        };
        session.insert(tx.conn()).await?;
        // Seen from its first moment on: a session that is never used would otherwise never become idle.
        let seen = SeenRow {
            hash: self.session,
            at: now,
        };
        seen.insert(tx.conn()).await?;
        let detail = json!({"role": who.role});
        tx.audit(audit::by(&who, AuditKind::Session, "sign_in", detail));
        Ok(Some(who))
    }
}

/// Whose link this is, if it was not used and is not over, and they may come in.
async fn owner_of_link(
    conn: &mut dyn Connection,
    hash: Hash,
    now: Time,
) -> Result<Option<Principal>, Error> {
    let opens = "WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";
    let links = LinkRow::select(conn, opens, params![hash, now]).await?;
    match links.first() {
        Some(link) => person(conn, &link.user_name).await,
        None => Ok(None),
    }
}

/// Whose session this is, if it is not over and they may come in.
async fn owner_of_session(
    conn: &mut dyn Connection,
    hash: Hash,
    now: Time,
) -> Result<Option<Principal>, Error> {
    let lives = "WHERE hash = $1 AND expires_at > $2";
    let sessions = SessionRow::select(conn, lives, params![hash, now]).await?;
    match sessions.first() {
        Some(session) => person(conn, &session.user_name).await,
        None => Ok(None),
    }
}

/// Ends what is open in a person's name: sessions, and links that were not used.
pub(super) async fn end_all(tx: &mut Tx, name: &str) -> Result<u64, Error> {
    let links = "DELETE FROM signin_links WHERE user_name = $1";
    tx.conn().execute(links, params![name]).await?;
    let seen = "DELETE FROM seen WHERE hash IN (SELECT hash FROM sessions WHERE user_name = $1)";
    tx.conn().execute(seen, params![name]).await?;
    let sessions = "DELETE FROM sessions WHERE user_name = $1";
    tx.conn().execute(sessions, params![name]).await
}

struct EndAll {
    who: Principal,
}

#[async_trait]
impl Command for EndAll {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        let ended = end_all(tx, &self.who.name).await?;
        let detail = json!({"sessions": ended});
        let entry = audit::by(&self.who, AuditKind::Session, "sign_out_everywhere", detail);
        tx.audit(entry);
        Ok(())
    }
}

impl Store {
    /// Whom a credential stands for.
    pub async fn caller(&self, credential: Credential) -> Result<Option<Principal>, Error> {
        let mut conn = self.engine.read().await?;
        let hash = credential.hash;
        if credential.kind == Caller::Person {
            let now = conn.now().await?;
            let seen = seen(&mut *conn, hash).await?;
            return match self.is_idle(seen, now) {
                true => Ok(None),
                false => owner_of_session(&mut *conn, hash, now).await,
            };
        }
        tokens::principal(&mut *conn, hash).await
    }

    /// Which of these still stand for somebody; a damaged row lets nobody in. However many there are, it is asked by
    /// a few statements.
    pub async fn standing(&self, credentials: &[Credential]) -> Result<HashSet<Credential>, Error> {
        let of = |kind| {
            let all = credentials.iter().filter(move |it| it.kind == kind);
            all.map(|it| Param::from(it.hash)).collect::<Vec<_>>()
        };
        let mut conn = self.engine.read().await?;
        let now = conn.now().await?;
        // Credentials that are neither over nor revoked, with their person: they count if that person may come in.
        let mut alive: Vec<(Credential, Option<String>)> = Vec::new();
        for token in sound::<TokenRow>(&mut *conn, "hash", of(Caller::Token)).await? {
            if tokens::lives(&token, now) {
                let (kind, hash) = (Caller::Token, token.hash);
                alive.push((Credential { kind, hash }, token.owner));
            }
        }
        let people = credentials.iter().filter(|it| it.kind == Caller::Person);
        let seen = last_seen(&mut *conn, people.map(|it| it.hash)).await?;
        for session in sound::<SessionRow>(&mut *conn, "hash", of(Caller::Person)).await? {
            let seen = seen.get(&session.hash).copied();
            if session.expires_at > now && !self.is_idle(seen, now) {
                let (kind, hash) = (Caller::Person, session.hash);
                alive.push((Credential { kind, hash }, Some(session.user_name)));
            }
        }
        let names: HashSet<_> = alive.iter().filter_map(|(_, of)| of.as_deref()).collect();
        let names = names.into_iter().map(Param::from).collect();
        let mut welcome = HashSet::new();
        for user in sound::<UserRow>(&mut *conn, "name", names).await? {
            if user.disabled_at.is_none() {
                welcome.insert(user.name);
            }
        }
        alive.retain(|(_, of)| of.as_ref().is_none_or(|name| welcome.contains(name)));
        Ok(alive
            .into_iter()
            .map(|(credential, _)| credential)
            .collect())
    }

    /// Whose link this is, if it still opens.
    pub async fn link_owner(&self, link: &str) -> Result<Option<Principal>, Error> {
        let mut conn = self.engine.read().await?;
        let now = conn.now().await?;
        owner_of_link(&mut *conn, of_secret(link), now).await
    }

    /// Uses up a sign-in link; answers the secret of a new session.
    pub async fn sign_in(&self, link: &str, peer: Option<IpAddr>) -> Result<Option<String>, Error> {
        let (secret, session) = secret("session");
        let command = SignIn {
            link: of_secret(link),
            session,
            peer,
        };
        let who = self.write(command).await?;
        Ok(who.map(|who| {
            tracing::info!(user = who.name, "signed in");
            secret
        }))
    }

    /// Ends one session.
    pub async fn sign_out(&self, who: &Principal, session: Credential) -> Result<(), Error> {
        let entry = audit::by(who, AuditKind::Session, "sign_out", Value::Null);
        self.noted(entry).await;
        let sql = "SELECT hash FROM sessions WHERE hash = $1";
        self.end(&tables::SESSIONS, "expires_at", sql, session.hash)
            .await?;
        Ok(())
    }

    /// Ends all sessions of a person, and what links they have not used.
    pub async fn sign_out_everywhere(&self, who: Principal) -> Result<(), Error> {
        self.write(EndAll { who }).await
    }

    /// A person's sessions, newest first; `current` is the one that asks.
    pub async fn sessions(
        &self,
        name: &str,
        current: Option<Credential>,
    ) -> Result<Vec<Session>, Error> {
        let mut conn = self.engine.read().await?;
        let now = conn.now().await?;
        let live =
            "WHERE user_name = $1 AND expires_at > $2 ORDER BY created_at DESC, hash LIMIT $3";
        let known = params![name, now, LISTED_MAX];
        let rows = SessionRow::sound_ones(&mut *conn, live, known).await?;
        let seen = last_seen(&mut *conn, rows.iter().map(|row| row.hash)).await?;
        let sessions = rows.into_iter().map(|row| Session {
            expires_at: row.expires_at,
            created_at: row.created_at,
            seen_at: seen.get(&row.hash).copied(),
            current: current.is_some_and(|it| it.hash == row.hash),
        });
        Ok(sessions
            .filter(|it| !self.is_idle(it.seen_at, now))
            .collect())
    }
}

/// The sound rows whose column has one of these values.
pub(super) async fn sound<R: Declared + Send>(
    conn: &mut dyn Connection,
    column: &'static str,
    values: Vec<Param>,
) -> Result<Vec<R>, Error> {
    let sql = format!("{} WHERE {column} IN ", R::table().select_text());
    let mut found = Vec::new();
    for some in values.chunks(AMONG_MAX) {
        let rows = fresh::among(conn, &sql, Vec::new(), some.to_vec()).await?;
        let rows = rows.into_iter().map(R::opened);
        found.extend(rows.filter_map(seal::sound));
    }
    Ok(found)
}
