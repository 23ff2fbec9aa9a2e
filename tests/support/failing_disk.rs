//! A disk that is read-only for a while, or cannot sync: a small library (`failing_disk.c`) that is loaded into the server
//! and fails what is written to its store. No rights are needed for it, and no other file is concerned.

use std::{
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

const SOURCE: &str = include_str!("failing_disk.c");

#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// EROFS from whatever writes.
    ReadOnly,
    /// EIO from whatever makes durable what was written.
    NoSync,
}

pub struct FailingDisk {
    folder: TempDir,
}

impl FailingDisk {
    /// One that works, until it is told to fail.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("failing_disk.c");
        fs::write(&source, SOURCE).expect("a file");
        let disk = Self { folder };
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(disk.library())
            .arg(&source)
            .arg("-ldl")
            .output()
            .unwrap_or_else(|why| {
                panic!("this test needs a C compiler, and `cc` does not start ({why}): install one, on Debian `apt-get install gcc libc6-dev`")
            });
        assert!(made.status.success(), "cc: {made:?}");
        disk
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("failing_disk.so")
    }

    fn switch(&self, fault: Fault) -> PathBuf {
        let name = match fault {
            Fault::ReadOnly => "switch.read_only",
            Fault::NoSync => "switch.no_sync",
        };
        self.folder.path().join(name)
    }

    /// What the environment of a server must say, so that its store is on this disk.
    pub fn environment(&self, store: &Path) -> Vec<(&'static str, OsString)> {
        // The library sees paths as the system knows them, with no link in them.
        let folder = store.parent().and_then(|it| it.canonicalize().ok());
        let name = store.file_name().expect("a file");
        let prefix = folder.expect("a folder").join(name);
        vec![
            ("LD_PRELOAD", self.library().into()),
            ("FAILING_DISK_PREFIX", prefix.into()),
            (
                "FAILING_DISK_SWITCH",
                self.folder.path().join("switch").into(),
            ),
        ]
    }

    /// A binary that is linked in one piece loads no library: nothing would fail in it.
    pub fn is_loaded_by(&self, pid: u32) -> bool {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        maps.contains("failing_disk.so")
    }

    /// From now on.
    pub fn fails(&self, fault: Fault) {
        File::create(self.switch(fault)).expect("a file");
    }

    pub fn works_again(&self, fault: Fault) {
        fs::remove_file(self.switch(fault)).expect("the switch");
    }
}
