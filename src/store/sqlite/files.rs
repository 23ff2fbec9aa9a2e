//! The files of an embedded store: made for their owner alone, and watched while they are open.
//!
//! A program writes on into a file that was deleted or replaced, and notices nothing: all of that is lost when it ends.
//! So before a write is acknowledged, the files at the store's path must be the ones that are open.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions, Permissions},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::{domain::Trouble, store::Error};

/// Makes the file if it is missing, readable by its owner alone. SQLite gives `-wal` and `-shm` the same mode.
pub fn create(file: &Path) -> io::Result<()> {
    if in_memory(file) {
        return Ok(());
    }
    // Never opens one that is there: closing it would drop the locks of this process's other connections.
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// There is no such file, and one in memory is not meant.
pub fn missing(file: &Path) -> bool {
    !in_memory(file) && !file.exists()
}

/// A store of an earlier version may be readable by everyone on the machine. Only for a file that is known to be a store:
/// the mode of any other file is not ours to change.
pub fn close_to_others(file: &Path) {
    for file in parts(file) {
        let Ok(found) = fs::metadata(&file) else {
            continue;
        };
        if !found.is_file() || found.mode() & 0o077 == 0 {
            continue;
        }
        match fs::set_permissions(&file, Permissions::from_mode(0o600)) {
            Ok(()) => tracing::info!(file = %file.display(), "no longer readable by others"),
            Err(error) => {
                tracing::warn!(file = %file.display(), %error, "readable by others: chmod 600 it");
            }
        }
    }
}

fn in_memory(file: &Path) -> bool {
    file.as_os_str().as_encoded_bytes().starts_with(b"file:")
}

/// The store itself and what SQLite keeps beside it.
fn parts(file: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut name = OsString::from(file);
        name.push(end);
        name.into()
    })
}

/// The files that are open, by device and inode: neither is given to another file while one of them is open.
pub struct Files {
    parts: Vec<(PathBuf, (u64, u64))>,
    /// The path that was given, which may lead through links, and the file that it led to.
    given: Option<(PathBuf, (u64, u64))>,
}

impl Files {
    /// Right after they were opened.
    pub fn opened(file: &Path) -> Result<Self, Error> {
        if in_memory(file) {
            let parts = Vec::new();
            return Ok(Self { parts, given: None });
        }
        let unreadable = |file: &Path, error| Error::Setup(format!("{}: {error}", file.display()));
        // Where the file really is: SQLite keeps the others beside it, and a link put in its place later is noticed.
        let target = fs::canonicalize(file).map_err(|error| unreadable(file, error))?;
        let mut found = Vec::new();
        for part in parts(&target) {
            match identity(&part) {
                Ok(identity) => found.push((part, identity)),
                // A store that can only be read may be without the files beside it.
                Err(error) if error.kind() == ErrorKind::NotFound && !found.is_empty() => {}
                Err(error) => return Err(unreadable(&part, error)),
            }
        }
        let led_to = led_to(file).map_err(|error| unreadable(file, error))?;
        Ok(Self {
            parts: found,
            given: Some((file.to_owned(), led_to)),
        })
    }

    pub fn are_in_place(&self) -> Result<(), Error> {
        let parts = self.parts.iter().map(|(it, opened)| (identity(it), opened));
        // A link on the way that leads elsewhere by now: the next start would open another store.
        let given = self.given.iter().map(|(it, opened)| (led_to(it), opened));
        for (found, opened) in parts.chain(given) {
            let trouble = match found {
                Ok(found) if found == *opened => continue,
                Ok(_) => Trouble::FileGone,
                Err(error) if error.kind() == ErrorKind::NotFound => Trouble::FileGone,
                Err(_) => Trouble::Io,
            };
            return Err(Error::Unwritable(trouble));
        }
        Ok(())
    }
}

/// Identifies the path itself, not what a link leads to: a link put in its place counts as another file, because SQLite looks
/// for `-wal` beside the target.
fn identity(file: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(file).map(|found| (found.dev(), found.ino()))
}

/// Identifies the file at the end of all links.
fn led_to(file: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(file).map(|found| (found.dev(), found.ino()))
}
