//! Who may do what: the one place that decides it, for the API, server functions, streams and pages.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Agent,
    Viewer,
    Operator,
    Admin,
}

super::status::words!(Role {
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

/// Who a request comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    pub name: String,
    pub role: Role,
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
