//! The promises of the protocol `/v1` and of the store, kept by the real server on both engines.
//!
//! Written from the contract, as an outsider would: raw JSON over HTTP, real processes, real kills.
//! `cargo xtask test` starts the PostgreSQL that one half needs; `STEP47_TEST_ENGINES=sqlite` leaves it out,
//! `cargo xtask torture` repeats the kills many more times.

#[path = "../support/mod.rs"]
mod support;

mod access;
mod bad_input;
mod browsers;
mod checkpoints;
mod claims;
mod cli;
mod commits;
mod connections;
mod console;
mod decisions;
mod described;
mod diffs;
mod doors;
mod durability;
mod endings;
mod events;
mod evidence;
mod failed_answers;
mod failures;
mod fairness;
mod gates;
mod hostile_bodies;
mod hostile_schemas;
mod large_requests;
mod leases;
mod limits;
mod lists;
mod live;
mod memory;
mod model;
mod no_site;
mod openapi;
mod operations;
mod pages;
mod patches;
mod people;
mod plan;
mod progress;
mod races;
mod reads;
mod recovery;
mod repeats;
mod revoked;
mod robust;
mod run_page;
mod runs;
mod sessions;
mod signals;
mod steps;
mod tags;
mod timeline;
mod tokens;
mod trail;
mod workers;
