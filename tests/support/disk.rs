//! Disks that are full for a while: a real small one where the tests may mount it, and a limit on the size of files, which
//! needs no rights and makes every further write of one process fail.

use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Past this no file of the process grows, its log aside, which is shorter.
const LIMIT: &str = "200000";

/// From now on writes fail that reach beyond the limit.
pub fn stops_taking_writes(pid: u32) {
    limit(pid, LIMIT);
}

/// From now on every write fails, also one to the log.
pub fn takes_no_byte(pid: u32) {
    limit(pid, "0");
}

pub fn takes_writes_again(pid: u32) {
    limit(pid, "unlimited");
}

/// Only the soft limit, which everyone may raise again.
fn limit(pid: u32, bytes: &str) {
    let limited = Command::new("prlimit")
        .args(["--pid", &pid.to_string(), &format!("--fsize={bytes}:")])
        .status()
        .expect("prlimit, of util-linux");
    assert!(limited.success(), "prlimit --fsize={bytes}: of {pid}");
}

/// A small file system in memory.
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// Of 16 MiB; nothing where file systems may not be mounted, which takes root. Where root cannot do it either, CI fails: nobody
    /// would see there that this is not tested.
    pub fn mount() -> Option<Self> {
        Self::of(16)
    }

    /// Of so many MiB.
    pub fn of(mib: usize) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "step47-test"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(said) if said.status.success() => Some(Self(folder)),
            said => {
                let root = fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
                let watched = root && std::env::var_os("CI").is_some();
                assert!(
                    !watched,
                    "CI has to test on a small disk, and none can be mounted: {said:?}"
                );
                eprintln!("not tested on a real disk: it cannot be mounted here ({said:?})");
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    /// To the last byte.
    pub fn fill(&self) {
        let mut file = File::create(self.ballast()).expect("a file");
        // Large pieces first, because the disk may have gigabytes; small ones for what they leave.
        for piece in [1 << 20, 4096] {
            let piece = vec![7u8; piece];
            while file.write_all(&piece).is_ok() {}
        }
    }

    pub fn free(&self) {
        fs::remove_file(self.ballast()).expect("the ballast");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: the server that is killed beside this may still hold a file.
        let gone = Command::new("umount").arg("-l").arg(self.path()).status();
        assert!(gone.is_ok_and(|it| it.success()) || std::thread::panicking());
    }
}
