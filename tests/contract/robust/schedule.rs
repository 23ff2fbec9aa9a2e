//! Which faults a campaign has, and when each of them is due.

use super::Size;
use crate::support::Engine;

/// Processes are replaced in this first part of the campaign only: the last one then lives long enough to show
/// whether its memory grows.
const REPLACED: f64 = 0.66;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// SIGKILL, and a new process.
    Kill,
    /// SIGTERM, and a new process on the same address.
    Deploy,
    /// No room for another byte on a real disk, then room again.
    FullDisk,
    /// Every write that makes a file longer fails.
    IoError,
    /// The store's file is moved away, and put back.
    MovedFile,
    /// PostgreSQL killed and started again, or all of its connections cut.
    LostDatabase,
}

impl Fault {
    fn replaces_the_process(self) -> bool {
        matches!(self, Self::Kill | Self::Deploy)
    }
}

/// All faults that this engine can meet, kinds spread evenly, each with the share of the campaign's time that is
/// over when it is due. Without a disk of its own none can be full: then writes fail more often instead.
pub fn of(on: Engine, size: &Size, has_a_disk: bool) -> Vec<(f64, Fault)> {
    let (full_disks, io_errors) = match has_a_disk {
        true => (size.full_disks, size.io_errors),
        false => (0, size.full_disks + size.io_errors),
    };
    let mut kinds = vec![(Fault::Kill, size.kills), (Fault::Deploy, size.deploys)];
    match on {
        Engine::Sqlite => kinds.extend([
            (Fault::FullDisk, full_disks),
            (Fault::IoError, io_errors),
            (Fault::MovedFile, size.moved_files),
        ]),
        Engine::Postgres => kinds.push((Fault::LostDatabase, size.lost_databases)),
    }
    let mut due = Vec::new();
    for (fault, count) in kinds {
        let part = match fault.replaces_the_process() {
            true => REPLACED,
            false => 1.0,
        };
        due.extend((0..count).map(|n| ((n as f64 + 0.5) / count as f64 * part, fault)));
    }
    due.sort_by(|a, b| a.0.total_cmp(&b.0));
    due
}
