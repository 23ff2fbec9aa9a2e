//! What the parts of one page read in common, read once for all of them: the number of the newest event, and then the row
//! of a run. All parts show the same run, and none shows one that is older than the event from which the page is kept current.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};
use tokio::sync::OnceCell;

use super::rows::RunRow;
use crate::domain::RunId;

#[derive(Default)]
pub struct PageReads {
    pub head: OnceCell<i64>,
    runs: Mutex<HashMap<RunId, Arc<OnceCell<RunRow>>>>,
}

impl PageReads {
    /// Where the run's row is kept, once it was read.
    pub fn run(&self, id: &RunId) -> Arc<OnceCell<RunRow>> {
        let mut runs = self.runs.lock().unwrap_or_else(|it| it.into_inner());
        runs.entry(id.clone()).or_default().clone()
    }
}
