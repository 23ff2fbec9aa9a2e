//! How the first admin gets the sign-in link: on a terminal it is shown. Elsewhere stdout often is a log that many
//! read, so the link goes to a file that only this user can read, and the file is named.

use std::{
    fs::{self, OpenOptions},
    io::{self, IsTerminal, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use crate::cli::say::tell;

/// Printed before the path of the file.
pub const IN_FILE: &str = "sign-in link in ";

pub fn hand_over(link: &str, store: &str) {
    if io::stdout().is_terminal() {
        tell!("sign in: {link}");
        return;
    }
    let path = beside(store);
    match keep(&path, link) {
        Ok(()) => {
            let path = path.display();
            tell!("{IN_FILE}{path}");
            tracing::info!(%path, "the sign-in link of the first admin is in this file");
        }
        Err(error) => tracing::error!(
            %error,
            path = %path.display(),
            "cannot keep the sign-in link of the first admin; `step47 user add admin --role admin` makes another"
        ),
    }
}

/// The file's place: beside an embedded store, else in the working directory.
fn beside(store: &str) -> PathBuf {
    let file = store.strip_prefix("sqlite:").map(|it| {
        let path = it.strip_prefix("//").unwrap_or(it);
        path.split('?').next().unwrap_or_default().to_owned()
    });
    let file = file.filter(|it| !it.is_empty() && !it.starts_with(':'));
    let path = PathBuf::from(format!("{}.sign-in", file.as_deref().unwrap_or("step47")));
    std::path::absolute(&path).unwrap_or(path)
}

fn keep(path: &Path, link: &str) -> io::Result<()> {
    // A file that is left from an earlier store may be readable by others.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{link}")
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn the_file_lies_beside_the_store() {
        for store in ["sqlite:/data/a.db", "sqlite:///data/a.db?mode=rwc"] {
            assert_eq!(beside(store).to_str(), Some("/data/a.db.sign-in"));
        }
        for store in ["postgres://ana:hush@db/a", "sqlite::memory:"] {
            assert!(beside(store).ends_with("step47.sign-in"), "{store}");
        }
    }
}
