//! One file per route; a page owns its resources and hands what they hold to components.

pub mod audit;
pub mod deciding;
pub mod diff;
pub mod edit;
mod finder;
pub mod inbox;
pub mod last_answer;
pub mod look;
pub mod not_found;
pub mod open_plan;
pub mod resume;
pub mod route;
pub mod run;
pub mod runs;
pub mod settings;
pub mod shell;
pub mod signin;
pub mod workers;
