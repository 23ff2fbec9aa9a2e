//! People, and what they and programs come in with. A secret has 256 random bits, is shown once, and is kept only as its hash.

mod seen;
mod sessions;
mod tokens;

use async_trait::async_trait;

pub use self::{seen::SESSION_IDLE, sessions::Credential};

use super::{
    Command, Error, Store,
    engine::{Connection, Param, params},
    rows::{signin_link::LinkRow, user::UserRow},
    table::{Declared as _, Table},
    tables,
    tx::Tx,
};
use crate::domain::{
    Code, Hash, Problem, Role,
    nouns::access::{Caller, Principal, User},
};

const LINK_LIVES_MS: i64 = 24 * 3_600_000;

/// A new secret and what is kept of it.
fn secret(prefix: &str) -> (String, Hash) {
    let hex: String = rand::random::<[u8; 32]>()
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let secret = format!("{prefix}_{hex}");
    let hash = Hash::of_bytes(secret.as_bytes());
    (secret, hash)
}

fn of_secret(secret: &str) -> Hash {
    Hash::of_bytes(secret.as_bytes())
}

/// A new one-time link for a person.
struct AddLink {
    hash: Hash,
    user_name: String,
}

#[async_trait]
impl Command for AddLink {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        let link = LinkRow {
            hash: self.hash,
            user_name: self.user_name.clone(),
            expires_at: tx.now.plus_ms(LINK_LIVES_MS),
            created_at: tx.now,
            used_at: None,
        };
        link.insert(tx.conn()).await
    }
}

/// The rows that a statement finds by one parameter are over from now on; answers how many.
struct End {
    table: &'static Table,
    /// Reads their keys.
    find: &'static str,
    by: Param,
    column: &'static str,
}

#[async_trait]
impl Command for End {
    type Answer = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64, Error> {
        let rows = tx.conn().fetch(self.find, vec![self.by.clone()]).await?;
        let mut ended = 0;
        for row in rows {
            let over = vec![(self.column, tx.now.into())];
            ended += u64::from(self.table.amend(tx.conn(), row.rest(), over).await?);
        }
        Ok(ended)
    }
}

/// Adds a person, or gives one another role and lets them in again.
struct SetUser {
    name: String,
    role: Role,
}

#[async_trait]
impl Command for SetUser {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        if self.role != Role::Admin {
            keep_an_admin(tx, &self.name).await?;
        }
        let name = self.name.as_str();
        if person(tx.conn(), name).await?.is_none() {
            // A person who is let in again gets no old session or token back, even if an older version left one.
            sessions::end_all(tx, name).await?;
            tokens::end_of(tx, name).await?;
        }
        let again = vec![
            ("role", self.role.as_str().into()),
            ("disabled_at", None::<i64>.into()),
        ];
        if tables::USERS.amend(tx.conn(), params![name], again).await? {
            return Ok(());
        }
        let user = UserRow {
            name: self.name.clone(),
            role: self.role,
            created_at: tx.now,
            disabled_at: None,
        };
        user.insert(tx.conn()).await
    }
}

struct DisableUser {
    name: String,
    by: Option<String>,
}

#[async_trait]
impl Command for DisableUser {
    type Answer = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool, Error> {
        if self.by.as_ref() == Some(&self.name) {
            return Err(stays("This is you: another admin has to shut you out").into());
        }
        keep_an_admin(tx, &self.name).await?;
        if person(tx.conn(), &self.name).await?.is_none() {
            return Ok(false);
        }
        sessions::end_all(tx, &self.name).await?;
        tokens::end_of(tx, &self.name).await?;
        let disabled = vec![("disabled_at", tx.now.into())];
        let name = params![self.name.as_str()];
        tables::USERS.amend(tx.conn(), name, disabled).await
    }
}

/// Why a person cannot be shut out.
fn stays(why: &str) -> Problem {
    Problem::new(Code::Invalid, why).with("path", "name")
}

/// A person who may come in.
async fn person(conn: &mut dyn Connection, name: &str) -> Result<Option<Principal>, Error> {
    let welcome = "WHERE name = $1 AND disabled_at IS NULL";
    let rows = UserRow::select(conn, welcome, params![name]).await?;
    let user = rows.into_iter().next();
    Ok(user.map(|user| Principal::new(Caller::Person, user.name, user.role)))
}

/// A damaged row lets nobody in, and so makes no admin.
async fn admins(conn: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let sql = "WHERE role = 'admin' AND disabled_at IS NULL ORDER BY name LIMIT 20";
    let rows = UserRow::sound_ones(conn, sql, params![]).await?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

/// A person as they are shown.
fn user(row: UserRow) -> User {
    User {
        name: row.name,
        role: row.role,
        created_at: row.created_at,
        disabled_at: row.disabled_at,
    }
}

/// Refuses to lose `name` as the last admin.
async fn keep_an_admin(tx: &mut Tx, name: &str) -> Result<(), Error> {
    match admins(tx.conn()).await?.as_slice() {
        [only] if only == name => {
            Err(stays("This is the last admin: make somebody else an admin first").into())
        }
        _ => Ok(()),
    }
}

impl Store {
    async fn end(
        &self,
        table: &'static Table,
        column: &'static str,
        find: &'static str,
        by: impl Into<Param>,
    ) -> Result<u64, Error> {
        let by = by.into();
        self.write(End {
            table,
            find,
            by,
            column,
        })
        .await
    }

    /// Adds a person, or lets one in again; answers the secret of a one-time sign-in link.
    pub async fn add_user(&self, name: &str, role: Role) -> Result<String, Error> {
        named("name", name)?;
        if role == Role::Agent {
            return Err(Problem::invalid("role", "people are viewer, operator or admin").into());
        }
        self.write(SetUser {
            name: name.to_owned(),
            role,
        })
        .await?;
        self.new_link(name).await
    }

    /// The secret of a new one-time sign-in link for a person who may come in.
    pub async fn new_link(&self, name: &str) -> Result<String, Error> {
        let mut conn = self.engine.read().await?;
        let known = person(&mut *conn, name).await?;
        drop(conn);
        if known.is_none() {
            return Err(Problem::not_found("person, or they are disabled").into());
        }
        let (secret, hash) = secret("link");
        let user_name = name.to_owned();
        self.write(AddLink { hash, user_name }).await?;
        Ok(secret)
    }

    /// Whether anybody was ever let in.
    pub async fn knows_anybody(&self) -> Result<bool, Error> {
        let mut conn = self.engine.read().await?;
        let one = "SELECT 1 FROM users LIMIT 1";
        Ok(conn.fetch_one(one, params![]).await?.is_some())
    }

    pub async fn users(&self) -> Result<Vec<User>, Error> {
        let mut conn = self.engine.read().await?;
        let by_name = "ORDER BY name LIMIT 1000";
        let rows = UserRow::sound_ones(&mut *conn, by_name, params![]).await?;
        Ok(rows.into_iter().map(user).collect())
    }

    /// Shuts a person out: their sessions, links and tokens are gone for good. Answers whether there was one to shut out. Nobody shuts
    /// themselves out, and an admin stays.
    pub async fn disable_user(&self, name: &str, by: Option<&str>) -> Result<bool, Error> {
        self.write(DisableUser {
            name: name.to_owned(),
            by: by.map(str::to_owned),
        })
        .await
    }

    /// Who manages people and tokens.
    pub async fn admins(&self) -> Result<Vec<String>, Error> {
        let mut conn = self.engine.read().await?;
        admins(&mut *conn).await
    }
}

fn named(path: &str, name: &str) -> Result<(), Error> {
    let fits = (1..=64).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    match fits {
        true => Ok(()),
        false => Err(Problem::invalid(path, "must have 1–64 printable characters").into()),
    }
}
