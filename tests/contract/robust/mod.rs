//! Everything that goes wrong in ordinary use, at once: the server killed and deployed, the disk full or failing, the
//! store's file moved, the database gone, beside hostile connections, schemas and bodies and the largest requests that
//! are allowed, while agents, viewers and operators work and tokens are revoked.
//!
//! Agents write down what was acknowledged to them; at the end every such commit is there, once. `cargo xtask test` runs
//! a short slice on each engine, `cargo xtask torture -- robust` the campaign. No answer to anybody may be a 500: nothing
//! here is damaged, and a store that cannot be written to says 503.

mod careless;
mod cast;
mod faults;
mod hostile;
mod leavers;
mod memory;
mod operators;
mod pulse;
mod scene;
mod schedule;
mod viewers;

use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep_until};

use self::{
    careless::{Careless, Large},
    cast::{Cast, Part},
    faults::Faults,
    hostile::Hostile,
    leavers::Leavers,
    memory::Memory,
    pulse::Pulse,
    scene::Scene,
    viewers::Viewers,
};
use crate::{
    durability::load::{Load, verify},
    support::{Engine, both_engines, campaigns},
};

/// How much of everything.
struct Size {
    agents: usize,
    /// How long an agent thinks between two steps.
    thinks: Duration,
    sockets: usize,
    large: Large,
    /// Of the disk that an embedded store is on.
    disk_mib: usize,
    kills: usize,
    deploys: usize,
    full_disks: usize,
    io_errors: usize,
    moved_files: usize,
    lost_databases: usize,
    /// Commits between two faults.
    between: usize,
    /// Over which the faults are spread; it takes longer if they do.
    lasts: Duration,
    /// A slice asserts no times: the machine may be busy with other tests.
    timed: bool,
}

impl Size {
    fn asked() -> Self {
        match std::env::var_os("STEP47_TORTURE") {
            Some(_) => Self {
                agents: 16,
                thinks: Duration::from_millis(150),
                sockets: 500,
                // Just below the limits of 32 MiB, 16 MiB and a million values.
                large: Large {
                    input: 31 << 20,
                    state: 16 << 20,
                    values: 900_000,
                },
                disk_mib: 2_048,
                kills: 50,
                deploys: 10,
                full_disks: 20,
                io_errors: 10,
                moved_files: 10,
                lost_databases: 20,
                between: 50,
                lasts: Duration::from_secs(600),
                timed: true,
            },
            // Its server is not optimised, and shares the machine: the same kinds, smaller.
            None => Self {
                agents: 6,
                thinks: Duration::ZERO,
                sockets: 60,
                large: Large {
                    input: 4 << 20,
                    state: 1 << 20,
                    values: 60_000,
                },
                disk_mib: 256,
                kills: 1,
                deploys: 1,
                full_disks: 1,
                io_errors: 1,
                moved_files: 1,
                lost_databases: 2,
                between: 40,
                lasts: Duration::ZERO,
                timed: false,
            },
        }
    }
}

async fn nothing_is_lost_while_everything_goes_wrong(on: Engine) {
    let size = Size::asked();
    let mut faults = Faults::on(on, &size).await;
    let api = faults.server.api();
    let cast = Arc::new(Cast::of(&faults.server).await);
    let shown = viewers::stopped_run(&api).await;
    let scene = Scene::new(api.clone(), cast.clone());
    let load = Load::paced(cast.api(Part::Agent, &api), size.agents, size.thinks);
    let memory = Memory::watch(&scene, faults.server.pid());
    let careless = Careless::start(&scene, size.large);
    let pulse = Pulse::start(&scene, careless.clone());
    let hostile = Hostile::start(&scene, size.sockets);
    let viewers = Viewers::start(&scene, &shown);
    operators::start(&scene, &shown);
    let leavers = Leavers::start(&scene);
    let began = Instant::now();
    for (share, fault) in schedule::of(on, &size, faults.has_a_disk()) {
        load.goes_on(size.between).await;
        sleep_until(began + size.lasts.mul_f64(share)).await;
        scene.goes_on();
        let happens = async {
            faults.happens(fault).await;
            let api = faults.server.api();
            load.moved_to(cast.api(Part::Agent, &api));
            scene.moved_to(api);
            memory.moved_to(faults.server.pid());
        };
        scene.disturbed_by(happens).await;
    }
    load.goes_on(size.between).await;
    sleep_until(began + size.lasts).await;
    careless.was_served().await;
    hostile.was_refused().await;
    let lasted = began.elapsed();
    let acknowledged = load.finish().await;
    scene.end().await;
    let api = faults.server.api();
    viewers.left_a_short_trail(&api, faults.processes()).await;
    verify(&api, &acknowledged).await;
    faults.store_is_sound().await;
    faults.nobody_panicked();
    println!(
        "{on:?}: {lasted:?}, {} processes, {} acknowledged commits, none lost",
        faults.processes(),
        acknowledged.len()
    );
    leavers.report(size.timed);
    memory.stayed_flat(size.timed);
    pulse.report(size.timed);
}

both_engines!(nothing_is_lost_while_everything_goes_wrong);

campaigns!(nothing_is_lost_while_everything_goes_wrong);
