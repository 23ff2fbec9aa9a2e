//! The server's memory, looked at again and again: hostile peers must not make it grow.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use super::scene::Scene;

/// What it may hold at any moment. Bodies under way count 256 MiB at most; what one of them is made into takes up to
/// ten times what it counts, and only one that is so large is sent at a time.
const PEAK_MB: u64 = 3_000;
/// Looks at one process, four in a second, that are enough to tell whether it grows.
const LOOKS_MIN: usize = 240;
/// Beside a fourth: hundreds of connections come and go between two looks, and an allocator keeps pages.
const SLACK_MB: u64 = 32;

pub struct Memory {
    pid: Arc<AtomicU32>,
    /// Which process, and how much it held.
    seen: Arc<Mutex<Vec<(u32, u64)>>>,
}

impl Memory {
    pub fn watch(scene: &Scene, pid: u32) -> Self {
        let pid = Arc::new(AtomicU32::new(pid));
        let seen = Arc::<Mutex<Vec<(u32, u64)>>>::default();
        let memory = Self {
            pid: pid.clone(),
            seen: seen.clone(),
        };
        scene.repeat(Duration::from_millis(250), move |_| {
            let pid = pid.load(Ordering::SeqCst);
            let resident = resident_mb(pid).map(|mb| (pid, mb));
            seen.lock().expect("whole").extend(resident);
            std::future::ready(())
        });
        memory
    }

    pub fn moved_to(&self, pid: u32) {
        self.pid.store(pid, Ordering::SeqCst);
    }

    /// A short test only looks at the peak: memory that grows shows in one process that lives for minutes. The last one
    /// of a campaign does. Its first third fills caches; from then on its floor must stay: the amount below which it
    /// is in a fourth of the looks. Bodies under way come and go above it and would hide a leak in a median or a peak,
    /// which differ with what happened to be under way; what is never given back raises the floor.
    pub fn stayed_flat(&self, long: bool) {
        let seen = self.seen.lock().expect("whole");
        let peak = seen.iter().map(|(_, mb)| *mb).max().unwrap_or_default();
        println!("memory: {peak} MB at most");
        assert!(peak > 0, "the server's memory was never seen");
        assert!(peak <= PEAK_MB, "memory: {peak} MB");
        if !long {
            return;
        }
        let last = seen.last().map(|(pid, _)| *pid);
        let last = seen.iter().filter(|(pid, _)| Some(*pid) == last);
        let last: Vec<u64> = last.map(|(_, mb)| *mb).collect();
        assert!(
            last.len() >= LOOKS_MIN,
            "the last process was looked at {} times: too short to tell",
            last.len()
        );
        let third = last.len() / 3;
        let (middle, end) = (floor(&last[third..2 * third]), floor(&last[2 * third..]));
        println!("memory of the last process: from {middle} to {end} MB in its last two thirds");
        assert!(
            end <= middle + middle / 4 + SLACK_MB,
            "memory grew from {middle} MB to {end} MB"
        );
    }
}

/// Below this in a fourth of the looks.
fn floor(looks: &[u64]) -> u64 {
    let mut looks = looks.to_vec();
    looks.sort_unstable();
    looks.get(looks.len() / 4).copied().unwrap_or_default()
}

/// What the process holds in memory; nothing while it is being replaced.
pub fn resident_mb(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kb: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb / 1024)
}
