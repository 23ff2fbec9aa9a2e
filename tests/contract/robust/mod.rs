//! Everything that goes wrong in ordinary use, at once: the server killed, the disk full, the database gone, beside
//! hostile connections, schemas and bodies, while agents, viewers and operators work.
//!
//! Agents write down what was acknowledged to them; at the end every such commit is there, once. `cargo xtask test` runs
//! a short slice on each engine, `cargo xtask torture -- robust` the campaign.

mod bystanders;
mod faults;
mod hostile;
mod memory;
mod pulse;
mod scene;

use self::{
    faults::{Fault, Faults},
    memory::Memory,
    pulse::Pulse,
    scene::Scene,
};
use crate::{
    durability::load::{Load, verify},
    support::{Engine, both_engines, campaigns},
};

/// How much of everything.
struct Size {
    agents: usize,
    sockets: usize,
    kills: usize,
    full_disks: usize,
    lost_databases: usize,
    /// Commits between two faults.
    between: usize,
    /// A slice asserts no times: the machine may be busy with other tests.
    timed: bool,
}

impl Size {
    fn asked() -> Self {
        match std::env::var_os("STEP47_TORTURE") {
            Some(_) => Self {
                agents: 16,
                sockets: 500,
                kills: 50,
                full_disks: 20,
                lost_databases: 20,
                between: 300,
                timed: true,
            },
            None => Self {
                agents: 6,
                sockets: 60,
                kills: 2,
                full_disks: 2,
                lost_databases: 2,
                between: 40,
                timed: false,
            },
        }
    }
}

async fn nothing_is_lost_while_everything_goes_wrong(on: Engine) {
    let size = Size::asked();
    let mut faults = Faults::on(on).await;
    let scene = Scene::new(faults.server.api());
    let load = Load::start(faults.server.api(), size.agents);
    let memory = Memory::watch(&scene, faults.server.pid());
    let pulse = Pulse::start(&scene);
    hostile::start(&scene, size.sockets);
    bystanders::start(&scene);
    for fault in Fault::mixed(on, &size) {
        load.goes_on(size.between).await;
        pulse.pauses_for(faults.happens(fault)).await;
        let api = faults.server.api();
        load.moved_to(api.clone());
        scene.moved_to(api);
        memory.moved_to(faults.server.pid());
    }
    load.goes_on(size.between).await;
    let acknowledged = load.finish().await;
    scene.end().await;
    verify(&faults.server.api(), &acknowledged).await;
    faults.store_is_sound().await;
    faults.nobody_panicked();
    pulse.report(size.timed);
    memory.stayed_flat();
    println!("{} acknowledged commits, none lost", acknowledged.len());
}

both_engines!(nothing_is_lost_while_everything_goes_wrong);

campaigns!(nothing_is_lost_while_everything_goes_wrong);
