//! Who may do what: the one place that decides it, for the API, server functions, streams and pages.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

use crate::domain::{
    nouns::{integrity::AuditHead, lifetime::Lifetime, time::Time},
    tree::hash::Hash,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Agent,
    Viewer,
    Operator,
    Admin,
}

crate::domain::nouns::status::words!(Role {
    Agent = "agent", Viewer = "viewer", Operator = "operator", Admin = "admin",
});

/// What a request wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Read runs, steps, snapshots and events.
    Read,
    /// Advance a run: create, lease, begin, commit and the like.
    Advance,
    /// Decide as an operator.
    Decide,
    /// Manage people and tokens.
    Administer,
}

/// What a route or a server function asks of its caller; each declares it where it is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Everybody may come in.
    Open,
    Needs(Action),
    /// A page, or a form of one: who is not signed in is sent to the sign-in page.
    Page(Action),
}

impl Role {
    pub fn may(self, action: Action) -> bool {
        match action {
            Action::Read => true,
            Action::Advance => matches!(self, Self::Agent | Self::Admin),
            Action::Decide => matches!(self, Self::Operator | Self::Admin),
            Action::Administer => self == Self::Admin,
        }
    }
}

/// What a caller shows to come in. A person and a token may share a name: this tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caller {
    /// A person, by a session.
    Person,
    /// A program, by a bearer token.
    Token,
    /// Whoever may open the store itself, by a command: nobody let them in, and nobody knows who it was.
    #[serde(rename = "command line")]
    CommandLine,
}

crate::domain::nouns::status::words!(Caller {
    Person = "person", Token = "token", CommandLine = "command line",
});

/// Who a request comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    pub kind: Caller,
    pub name: String,
    pub role: Role,
    /// The address that the request came from, where it is known.
    #[serde(skip)]
    pub peer: Option<IpAddr>,
    /// The person that a token belongs to, and ends with.
    #[serde(skip)]
    pub owner: Option<String>,
    /// The id of a token, as lists show it: several tokens may have one name.
    #[serde(skip)]
    pub token: Option<String>,
}

impl Principal {
    pub fn new(kind: Caller, name: impl Into<String>, role: Role) -> Self {
        Self {
            kind,
            name: name.into(),
            role,
            peer: None,
            owner: None,
            token: None,
        }
    }

    /// The person behind it: themselves, or whoever the token belongs to. What it makes ends with them.
    pub fn person(&self) -> Option<&str> {
        match self.kind {
            Caller::Person => Some(&self.name),
            Caller::Token => self.owner.as_deref(),
            Caller::CommandLine => None,
        }
    }
}

/// A person who may sign in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct User {
    pub name: String,
    pub role: Role,
    pub created_at: Time,
    pub disabled_at: Option<Time>,
}

/// A browser in which a person is signed in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub created_at: Time,
    pub expires_at: Time,
    /// The last request, to the minute; not known of one that no request was made by since it could be.
    #[serde(default)]
    pub seen_at: Option<Time>,
    /// The one that asks.
    pub current: bool,
}

/// A token as lists show it: never the secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Token {
    pub id: String,
    pub name: String,
    pub role: Role,
    pub created_at: Time,
    pub revoked_at: Option<Time>,
    /// The person who made it: it ends with them.
    #[serde(default)]
    pub owner: Option<String>,
    #[serde(default)]
    pub expires_at: Option<Time>,
    /// The last request, to the minute.
    #[serde(default)]
    pub used_at: Option<Time>,
}

/// Who may come in, as far as the reader may know it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccessSheet {
    pub me: Principal,
    /// Whom to ask.
    pub admins: Vec<String>,
    /// People and tokens, for those who manage them.
    pub managed: Option<Managed>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Managed {
    pub users: Vec<User>,
    pub tokens: Vec<Token>,
}

/// A change of who may come in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    AddUser {
        name: String,
        role: Role,
    },
    NewLink {
        name: String,
    },
    DisableUser {
        name: String,
    },
    CreateToken {
        name: String,
        role: Role,
        /// How long it works; without end if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Lifetime>,
    },
    RevokeToken {
        id: String,
    },
}

impl Change {
    /// It is about a person, not about a token.
    pub fn of_people(&self) -> bool {
        matches!(
            self,
            Self::AddUser { .. } | Self::NewLink { .. } | Self::DisableUser { .. }
        )
    }
}

/// What a change gave; secrets are in no other answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Changed {
    /// A one-time sign-in link.
    Link {
        name: String,
        url: String,
    },
    Secret {
        id: String,
        name: String,
        secret: String,
    },
    Disabled {
        name: String,
    },
    Revoked,
}

/// Where the chain of events stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Integrity {
    pub engine: String,
    pub schema: i64,
    pub event: i64,
    pub head: Hash,
    pub audit: AuditHead,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_the_protocol_says_and_no_more() {
        use Action::*;
        let may = |role: Role| [Read, Advance, Decide, Administer].map(|a| role.may(a));
        assert_eq!(may(Role::Agent), [true, true, false, false]);
        assert_eq!(may(Role::Viewer), [true, false, false, false]);
        assert_eq!(may(Role::Operator), [true, false, true, false]);
        assert_eq!(may(Role::Admin), [true, true, true, true]);
    }
}
