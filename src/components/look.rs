//! What a state's views ask for as they are opened. A page answers; the views only ask.

use leptos::prelude::*;

use crate::{
    api::AppError,
    domain::{
        RunId,
        views::{blame::Blame, diff_sheet::DiffQuery, state_view::BranchPage},
    },
};

/// A state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    pub run: RunId,
    pub snapshot: i64,
}

/// Branches that are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    Below {
        stand: Stand,
        path: String,
        items: Option<(i64, i64)>,
    },
    Unchanged {
        run: RunId,
        query: DiffQuery,
        path: String,
        old_path: String,
    },
    Found {
        stand: Stand,
        text: String,
    },
}

pub type Answer<T> = RwSignal<Option<Result<T, AppError>>>;

/// Whom to ask; each answer goes to its signal.
#[derive(Clone, Copy)]
pub struct Look {
    /// What is wanted, from which number on.
    pub branches: Callback<(Wanted, i64, Answer<BranchPage>)>,
    pub blame: Callback<(Stand, String, Answer<Blame>)>,
    /// A value as JSON.
    pub value: Callback<(Stand, String, Answer<String>)>,
    /// The address of a step of the run.
    pub step: Callback<i64, String>,
}
