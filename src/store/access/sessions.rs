//! Sessions: in by a one-time link, out here or everywhere; and who is still let in.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::{collections::HashSet, net::IpAddr};

use super::{
    super::{
        Command, Error, Store, audit,
        engine::{Connection, Param, Row, params},
        fresh,
        rows::{seen::SeenRow, session::SessionRow, token::TokenRow},
        seal,
        table::{Declared as _, Table},
        tables,
        tx::Tx,
    },
    of_secret, person, secret,
    seen::{last_seen, seen},
    tokens,
};
use crate::domain::{
    Hash,
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

/// What a caller shows, as far as anything is kept of it. The kind belongs to it: the secret of a session is no
/// token, and a token no session.
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
        let Some(mut who) = owner(tx.conn(), &tables::SIGNIN_LINKS, OPENS, self.link, now).await?
        else {
            return Ok(None);
        };
        who.peer = self.peer;
        let used = vec![("used_at", now.into())];
        tables::SIGNIN_LINKS
            .amend(tx.conn(), params![self.link], used)
            .await?;
        let expires_at = now.plus_ms(SESSION_LIVES_MS);
        let session = params![self.session, who.name.as_str(), expires_at, now];
        tables::SESSIONS.insert(tx.conn(), session).await?;
        // From the first moment on: a session that is never used is idle, too.
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

const OPENS: &str = "WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";
const LIVES: &str = "WHERE hash = $1 AND expires_at > $2";

/// Whose name stands in the row that this finds, if they may come in.
async fn owner(
    conn: &mut dyn Connection,
    table: &'static Table,
    rest: &'static str,
    hash: Hash,
    now: crate::domain::Time,
) -> Result<Option<Principal>, Error> {
    let found = table.select(conn, rest, params![hash, now]).await?;
    let Some(mut row) = found.into_iter().next() else {
        return Ok(None);
    };
    let (_hash, name) = (row.bytes()?, row.text()?);
    person(conn, &name).await
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
                false => owner(&mut *conn, &tables::SESSIONS, LIVES, hash, now).await,
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
        // Each that lives by itself, and whose it is: it stands if that person may come in.
        let mut alive: Vec<(Credential, Option<String>)> = Vec::new();
        for mut row in sound(&mut *conn, &tables::TOKENS, "hash", of(Caller::Token)).await? {
            let token = TokenRow::read_fields(&mut row)?;
            if tokens::lives(&token, now) {
                let (kind, hash) = (Caller::Token, token.hash);
                alive.push((Credential { kind, hash }, token.owner));
            }
        }
        let people = credentials.iter().filter(|it| it.kind == Caller::Person);
        let seen = last_seen(&mut *conn, people.map(|it| it.hash)).await?;
        for mut row in sound(&mut *conn, &tables::SESSIONS, "hash", of(Caller::Person)).await? {
            let (hash, name, expires_at) = (row.hash()?, row.text()?, row.time()?);
            if expires_at > now && !self.is_idle(seen.get(&hash).copied(), now) {
                let kind = Caller::Person;
                alive.push((Credential { kind, hash }, Some(name)));
            }
        }
        let names: HashSet<_> = alive.iter().filter_map(|(_, of)| of.as_deref()).collect();
        let names = names.into_iter().map(Param::from).collect();
        let mut welcome = HashSet::new();
        for row in sound(&mut *conn, &tables::USERS, "name", names).await? {
            let user = super::user(row)?;
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
        owner(
            &mut *conn,
            &tables::SIGNIN_LINKS,
            OPENS,
            of_secret(link),
            now,
        )
        .await
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

/// The sound rows of a table whose column has one of these values.
pub(super) async fn sound(
    conn: &mut dyn Connection,
    table: &'static Table,
    column: &'static str,
    values: Vec<Param>,
) -> Result<Vec<Row>, Error> {
    let sql = format!("{} WHERE {column} IN ", table.select_text());
    let mut found = Vec::new();
    for some in values.chunks(AMONG_MAX) {
        let rows = fresh::among(conn, &sql, Vec::new(), some.to_vec()).await?;
        found.extend(
            rows.into_iter()
                .filter_map(|row| seal::sound(table.open(row))),
        );
    }
    Ok(found)
}
