//! The server's memory, looked at again and again: hostile peers must not make it grow.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use super::scene::Scene;

/// Beyond the first half's peak, the second half may need this much more: caches fill, allocators keep pages.
const SLACK_MB: u64 = 200;

pub struct Memory {
    pid: Arc<AtomicU32>,
    seen: Arc<Mutex<Vec<u64>>>,
}

impl Memory {
    pub fn watch(scene: &Scene, pid: u32) -> Self {
        let pid = Arc::new(AtomicU32::new(pid));
        let seen = Arc::<Mutex<Vec<u64>>>::default();
        let memory = Self {
            pid: pid.clone(),
            seen: seen.clone(),
        };
        scene.repeat(Duration::from_millis(250), move |_| {
            let resident = resident_mb(pid.load(Ordering::SeqCst));
            seen.lock().expect("whole").extend(resident);
            std::future::ready(())
        });
        memory
    }

    pub fn moved_to(&self, pid: u32) {
        self.pid.store(pid, Ordering::SeqCst);
    }

    pub fn stayed_flat(&self) {
        let seen = self.seen.lock().expect("whole");
        let (first, second) = seen.split_at(seen.len() / 2);
        let peak = |half: &[u64]| half.iter().max().copied().unwrap_or_default();
        let (first, second) = (peak(first), peak(second));
        println!("memory: at most {first} MB in the first half, {second} MB in the second");
        assert!(second > 0, "the server's memory was never seen");
        assert!(
            second <= first + first / 2 + SLACK_MB,
            "memory grew from {first} MB to {second} MB"
        );
    }
}

/// What the process holds in memory; nothing while it is being replaced.
pub fn resident_mb(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kb: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb / 1024)
}
