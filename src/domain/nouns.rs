//! The nouns: runs, steps, attempts, events, the people and workers around them, and the ids and times that name them.

pub mod access;
pub mod attempt;
pub mod audit;
pub mod event;
pub mod ids;
pub mod integrity;
pub mod lifetime;
pub mod noted;
pub mod ordered_json;
pub mod run;
#[cfg(test)]
pub mod sample;
pub mod status;
pub mod step;
pub mod time;
pub mod trouble;
pub mod worker;
