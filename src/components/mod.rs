//! What pages are made of: props in, view out; nothing here fetches.

pub mod account;
pub mod connection;
pub mod crash_banner;
pub mod excerpt;
pub mod frame;
pub mod glyph;
pub mod help;
pub mod inspector;
pub mod keyboard;
pub mod needs_you;
pub mod notice;
pub mod pill;
pub mod preference;
pub mod run_head;
pub mod run_row;
pub mod runs_table;
pub mod search_box;
pub mod segments;
pub mod sidebar;
pub mod step_list;
pub mod strip;
pub mod theme;
pub mod time;
