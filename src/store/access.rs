//! People, tokens and sessions. A secret has 256 random bits, is shown once, and is kept only as its hash.

use async_trait::async_trait;

use super::{
    Command, Error, Store,
    engine::{Param, params},
    tx::Tx,
};
use crate::domain::{
    Code, Hash, Problem, Role,
    access::{Principal, Token, User},
};

const LINK_LIVES_MS: i64 = 24 * 3_600_000;
const SESSION_LIVES_MS: i64 = 30 * 24 * 3_600_000;

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

/// One statement as a command; answers how many rows it touched.
struct Statement {
    sql: &'static str,
    /// Its parameters; the transaction's time follows them.
    given: Vec<Param>,
}

#[async_trait]
impl Command for Statement {
    type Answer = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64, Error> {
        let params = self.given.iter().cloned().chain([tx.now.into()]).collect();
        tx.conn().execute(self.sql, params).await
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
        let sql = "INSERT INTO users (name, role, created_at) VALUES ($1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET role = excluded.role, disabled_at = NULL";
        let params = params![self.name.as_str(), self.role.as_str(), tx.now];
        tx.conn().execute(sql, params).await?;
        Ok(())
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
        let sql = "UPDATE users SET disabled_at = $2 WHERE name = $1 AND disabled_at IS NULL";
        let params = params![self.name.as_str(), tx.now];
        Ok(tx.conn().execute(sql, params).await? > 0)
    }
}

/// Why a person cannot be shut out.
fn stays(why: &str) -> Problem {
    Problem::new(Code::Invalid, why).with("path", "name")
}

/// Refuses to lose `name` as the last admin.
async fn keep_an_admin(tx: &mut Tx, name: &str) -> Result<(), Error> {
    let sql =
        "SELECT name FROM users WHERE role = 'admin' AND disabled_at IS NULL ORDER BY name LIMIT 2";
    let mut admins = Vec::new();
    for mut row in tx.conn().fetch(sql, params![]).await? {
        admins.push(row.text()?);
    }
    match admins.as_slice() {
        [only] if only == name => {
            Err(stays("This is the last admin: make somebody else an admin first").into())
        }
        _ => Ok(()),
    }
}

impl Store {
    async fn statement(&self, sql: &'static str, given: Vec<Param>) -> Result<u64, Error> {
        self.write(Statement { sql, given }).await
    }

    /// Makes a token; the answer is the only time its secret is seen.
    pub async fn create_token(&self, name: &str, role: Role) -> Result<String, Error> {
        named("name", name)?;
        let (secret, hash) = secret("s47");
        let id = uuid::Uuid::now_v7().simple().to_string();
        let sql =
            "INSERT INTO tokens (id, name, role, hash, created_at) VALUES ($1, $2, $3, $4, $5)";
        self.statement(sql, params![id, name, role.as_str(), hash])
            .await?;
        Ok(secret)
    }

    pub async fn tokens(&self) -> Result<Vec<Token>, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT id, name, role, created_at, revoked_at FROM tokens ORDER BY created_at DESC, id LIMIT 1000";
        let rows = conn.fetch(sql, params![]).await?;
        rows.into_iter()
            .map(|mut row| {
                Ok(Token {
                    id: row.text()?,
                    name: row.text()?,
                    role: row.word()?,
                    created_at: row.time()?,
                    revoked_at: row.opt_time()?,
                })
            })
            .collect()
    }

    /// Revokes the token of this id, or every live one of this name; answers how many.
    pub async fn revoke_token(&self, id_or_name: &str) -> Result<u64, Error> {
        let sql =
            "UPDATE tokens SET revoked_at = $2 WHERE (id = $1 OR name = $1) AND revoked_at IS NULL";
        self.statement(sql, params![id_or_name]).await
    }

    /// Revokes the live token of this id; answers whether there was one.
    pub async fn revoke_token_id(&self, id: &str) -> Result<bool, Error> {
        let sql = "UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
        Ok(self.statement(sql, params![id]).await? > 0)
    }

    /// Who a bearer token stands for.
    pub async fn bearer(&self, secret: &str) -> Result<Option<Principal>, Error> {
        let sql = "SELECT name, role FROM tokens WHERE hash = $1 AND revoked_at IS NULL";
        self.principal(sql, params![of_secret(secret)]).await
    }

    async fn principal(
        &self,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Option<Principal>, Error> {
        let mut conn = self.engine.read().await?;
        let row = conn.fetch_one(sql, params).await?;
        row.map(|mut row| {
            Ok(Principal {
                name: row.text()?,
                role: row.word()?,
            })
        })
        .transpose()
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
        let sql = "SELECT name, role FROM users WHERE name = $1 AND disabled_at IS NULL";
        if self.principal(sql, params![name]).await?.is_none() {
            return Err(Problem::not_found("person, or they are shut out").into());
        }
        let (secret, hash) = secret("link");
        let expires_at = self.now().await?.plus_ms(LINK_LIVES_MS);
        let sql = "INSERT INTO signin_links (hash, user_name, expires_at, created_at) VALUES ($1, $2, $3, $4)";
        self.statement(sql, params![hash, name, expires_at]).await?;
        Ok(secret)
    }

    pub async fn users(&self) -> Result<Vec<User>, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT name, role, created_at, disabled_at FROM users ORDER BY name LIMIT 1000";
        let rows = conn.fetch(sql, params![]).await?;
        rows.into_iter()
            .map(|mut row| {
                Ok(User {
                    name: row.text()?,
                    role: row.word()?,
                    created_at: row.time()?,
                    disabled_at: row.opt_time()?,
                })
            })
            .collect()
    }

    /// Shuts a person out: no sign-in, no session. Answers whether there was one to shut out. Nobody shuts
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
        let sql = "SELECT name FROM users WHERE role = 'admin' AND disabled_at IS NULL ORDER BY name LIMIT 20";
        let rows = conn.fetch(sql, params![]).await?;
        rows.into_iter().map(|mut row| row.text()).collect()
    }

    /// Whose link this is, if it still opens.
    pub async fn link_owner(&self, link: &str) -> Result<Option<Principal>, Error> {
        let sql = "SELECT u.name, u.role FROM signin_links l JOIN users u ON u.name = l.user_name \
             WHERE l.hash = $1 AND l.used_at IS NULL AND l.expires_at > $2 AND u.disabled_at IS NULL";
        let now = self.now().await?;
        self.principal(sql, params![of_secret(link), now]).await
    }

    /// Uses up a sign-in link; answers the secret of a new session.
    pub async fn sign_in(&self, link: &str) -> Result<Option<String>, Error> {
        let Some(owner) = self.link_owner(link).await? else {
            return Ok(None);
        };
        let sql = "UPDATE signin_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        if self.statement(sql, params![of_secret(link)]).await? == 0 {
            return Ok(None);
        }
        let (secret, hash) = secret("session");
        let expires_at = self.now().await?.plus_ms(SESSION_LIVES_MS);
        let sql = "INSERT INTO sessions (hash, user_name, expires_at, created_at) VALUES ($1, $2, $3, $4)";
        self.statement(sql, params![hash, owner.name.as_str(), expires_at])
            .await?;
        tracing::info!(user = owner.name, "signed in");
        Ok(Some(secret))
    }

    /// Whose session this is.
    pub async fn session(&self, secret: &str) -> Result<Option<Principal>, Error> {
        let sql = "SELECT u.name, u.role FROM sessions s JOIN users u ON u.name = s.user_name \
             WHERE s.hash = $1 AND s.expires_at > $2 AND u.disabled_at IS NULL";
        let now = self.now().await?;
        self.principal(sql, params![of_secret(secret), now]).await
    }

    pub async fn sign_out(&self, secret: &str) -> Result<(), Error> {
        let sql = "UPDATE sessions SET expires_at = $2 WHERE hash = $1";
        self.statement(sql, params![of_secret(secret)]).await?;
        Ok(())
    }
}

fn named(path: &str, name: &str) -> Result<(), Error> {
    let fits = (1..=64).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    match fits {
        true => Ok(()),
        false => Err(Problem::invalid(path, "must have 1–64 printable characters").into()),
    }
}
