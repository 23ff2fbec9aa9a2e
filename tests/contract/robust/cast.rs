//! Who takes part. Each kind of client has a token of its own, so that what one of them takes is counted for it alone:
//! the server must be fair to the others.

use crate::support::{Api, Server};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Agents at work, and the heartbeat that is measured.
    Agent,
    /// Asks for as much as the limits allow.
    Careless,
    /// Schemas and bodies that are made to do harm.
    Hostile,
    /// Bodies that never end.
    Flooder,
    Viewer,
    Operator,
    /// Makes tokens, and revokes them.
    Admin,
}

impl Part {
    const ALL: [Self; 7] = [
        Self::Agent,
        Self::Careless,
        Self::Hostile,
        Self::Flooder,
        Self::Viewer,
        Self::Operator,
        Self::Admin,
    ];

    /// Of its token, and as the audit trail names it.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    fn role(self) -> &'static str {
        match self {
            Self::Agent | Self::Careless | Self::Hostile | Self::Flooder => "agent",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// The token of each part.
pub struct Cast(Vec<(Part, String)>);

impl Cast {
    pub async fn of(server: &Server) -> Self {
        let mut tokens = Vec::new();
        for part in Part::ALL {
            let api = server.api_as(part.role(), &part.name()).await;
            tokens.push((part, api.parts().1.to_owned()));
        }
        Self(tokens)
    }

    /// The same server as this part sees it.
    pub fn api(&self, part: Part, at: &Api) -> Api {
        let found = self.0.iter().find(|(it, _)| *it == part);
        let (_, token) = found.expect("each part has a token");
        at.with_token(token)
    }
}
