//! Tokens: bearer secrets for programs. One may belong to a person, and ends with them; one may end by itself.

use async_trait::async_trait;

use super::{
    super::{
        Command, Error, Store,
        engine::{Connection, params},
        rows::token::TokenRow,
        table::Declared as _,
        tables,
        tx::Tx,
    },
    named, person, secret,
    seen::last_seen,
};
use crate::domain::{
    Hash, Problem, Role, Time,
    nouns::{
        access::{Caller, Principal, Token},
        lifetime::Lifetime,
    },
};

/// A new token. Its owner must be somebody who may come in when it is written.
struct Create {
    id: String,
    name: String,
    role: Role,
    hash: Hash,
    owner: Option<String>,
    lives: Option<Lifetime>,
}

#[async_trait]
impl Command for Create {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        if let Some(owner) = &self.owner
            && person(tx.conn(), owner).await?.is_none()
        {
            let why = "is nobody who may come in: see `step47 user list`";
            return Err(Problem::invalid("owner", why).into());
        }
        let expires_at = self.lives.map(|it| tx.now.plus_ms(it.0));
        let token = TokenRow {
            id: self.id.clone(),
            name: self.name.clone(),
            role: self.role,
            hash: self.hash,
            created_at: tx.now,
            revoked_at: None,
            owner: self.owner.clone(),
            expires_at,
        };
        token.insert(tx.conn()).await
    }
}

/// Revokes what belongs to a person. A damaged token lets nobody in, and so keeps nobody from being shut out.
pub(super) async fn end_of(tx: &mut Tx, owner: &str) -> Result<(), Error> {
    let sql = "SELECT id FROM tokens WHERE owner = $1 AND revoked_at IS NULL";
    for row in tx.conn().fetch(sql, params![owner]).await? {
        let over = vec![("revoked_at", tx.now.into())];
        match tables::TOKENS.amend(tx.conn(), row.rest(), over).await {
            Err(error) if !error.is_damage() => return Err(error),
            Err(error) => tracing::error!(%error, "a damaged token cannot be revoked"),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// A token as it is shown; when it was last used stands elsewhere.
pub(super) fn token(row: TokenRow) -> Token {
    Token {
        id: row.id,
        name: row.name,
        role: row.role,
        created_at: row.created_at,
        revoked_at: row.revoked_at,
        owner: row.owner,
        expires_at: row.expires_at,
        used_at: None,
    }
}

/// It is neither revoked nor past its end. Whether its owner may come in is for the caller to ask.
pub(super) fn lives(token: &TokenRow, now: Time) -> bool {
    token.revoked_at.is_none() && token.expires_at.is_none_or(|end| end > now)
}

/// Whom a token stands for.
pub(super) async fn principal(
    conn: &mut dyn Connection,
    hash: Hash,
) -> Result<Option<Principal>, Error> {
    let rows = TokenRow::select(conn, "WHERE hash = $1", params![hash]).await?;
    let Some(token) = rows.into_iter().next() else {
        return Ok(None);
    };
    if !lives(&token, conn.now().await?) {
        return Ok(None);
    }
    if let Some(owner) = &token.owner
        && person(conn, owner).await?.is_none()
    {
        return Ok(None);
    }
    Ok(Some(Principal {
        owner: token.owner,
        token: Some(token.id),
        ..Principal::new(Caller::Token, token.name, token.role)
    }))
}

impl Store {
    /// Makes a token; answers its id, and its secret, which is seen this one time.
    pub async fn create_token(
        &self,
        name: &str,
        role: Role,
        owner: Option<&str>,
        lives: Option<Lifetime>,
    ) -> Result<(String, String), Error> {
        named("name", name)?;
        let (secret, hash) = secret("s47");
        let id = uuid::Uuid::now_v7().simple().to_string();
        let create = Create {
            id: id.clone(),
            name: name.to_owned(),
            role,
            hash,
            owner: owner.map(str::to_owned),
            lives,
        };
        self.write(create).await?;
        Ok((id, secret))
    }

    pub async fn tokens(&self) -> Result<Vec<Token>, Error> {
        let mut conn = self.engine.read().await?;
        let newest = "ORDER BY created_at DESC, id LIMIT 1000";
        let rows = TokenRow::sound_ones(&mut *conn, newest, params![]).await?;
        let used = last_seen(&mut *conn, rows.iter().map(|row| row.hash)).await?;
        let seen = |row: TokenRow| Token {
            used_at: used.get(&row.hash).copied(),
            ..token(row)
        };
        Ok(rows.into_iter().map(seen).collect())
    }

    /// The live tokens of this id or name; a damaged one is left out.
    pub async fn live_tokens(&self, id_or_name: &str) -> Result<Vec<Token>, Error> {
        let mut conn = self.engine.read().await?;
        let live = "WHERE (id = $1 OR name = $1) AND revoked_at IS NULL \
             ORDER BY created_at DESC, id LIMIT 1000";
        let rows = TokenRow::sound_ones(&mut *conn, live, params![id_or_name]).await?;
        Ok(rows.into_iter().map(token).collect())
    }

    /// Revokes the token of this id, or every live one of this name; answers how many.
    pub async fn revoke_token(&self, id_or_name: &str) -> Result<u64, Error> {
        let sql = "SELECT id FROM tokens WHERE (id = $1 OR name = $1) AND revoked_at IS NULL";
        self.end(&tables::TOKENS, "revoked_at", sql, id_or_name)
            .await
    }

    /// Revokes the live token of this id; answers whether there was one.
    pub async fn revoke_token_id(&self, id: &str) -> Result<bool, Error> {
        let sql = "SELECT id FROM tokens WHERE id = $1 AND revoked_at IS NULL";
        Ok(self.end(&tables::TOKENS, "revoked_at", sql, id).await? > 0)
    }
}
