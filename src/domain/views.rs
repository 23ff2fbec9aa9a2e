//! What people look at: sheets, rows, timelines and forms as a page or the command line shows them, and the words for them.

pub mod audit_words;
pub mod blame;
pub mod counts;
pub mod diff_sheet;
pub mod edit;
pub mod form;
pub mod inbox;
pub mod outline;
pub mod pick;
pub mod run_words;
pub mod search;
pub mod sheet;
pub mod state_view;
pub mod strip;
pub mod tally;
pub mod terms;
pub mod timeline;
pub mod typed_json;
pub mod words;
