//! A binary that was built without the site says so, in its log and on its pages; a site that was built beside it is found.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::support::{block_on, eventually, found};

/// A server whose binary lies alone in a target directory of its own.
struct Alone {
    child: Child,
    said: PathBuf,
    log: PathBuf,
}

impl Alone {
    fn start(target: &Path) -> Self {
        let binary = target.join("release/step47");
        if !binary.exists() {
            fs::create_dir_all(target.join("release")).expect("a directory");
            let built = env!("CARGO_BIN_EXE_step47");
            // Another file system takes a copy.
            if fs::hard_link(built, &binary).is_err() {
                fs::copy(built, &binary).expect("a copy");
            }
        }
        let (said, log) = (target.join("out"), target.join("log"));
        let child = Command::new(&binary)
            .args([
                "serve",
                "--store",
                "sqlite:step47.db",
                "--listen",
                "127.0.0.1:0",
            ])
            .current_dir(target)
            .env_remove("LEPTOS_SITE_ROOT")
            .stdin(Stdio::null())
            .stdout(fs::File::create(&said).expect("a file"))
            .stderr(fs::File::create(&log).expect("a file"))
            .spawn()
            .expect("the server starts");
        Self { child, said, log }
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let base = eventually("the server listens", async || {
            let said = fs::read_to_string(&self.said).ok()?;
            let (_, rest) = said.split_once("listening on ")?;
            Some(rest.split_once('\n')?.0.to_owned())
        })
        .await;
        let client = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client");
        let answer = client
            .get(base + path)
            .header("accept", "text/html")
            .send()
            .await;
        let answer = answer.expect("an answer");
        (answer.status().as_u16(), answer.text().await.expect("text"))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // A process that ended by itself needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let found = found::in_log(&self.log, false);
        found::keep(&found);
        assert!(
            found.is_empty() || std::thread::panicking(),
            "the server panicked or answered 500: {found:#?}"
        );
    }
}

#[test]
fn a_binary_without_the_site_says_so_and_finds_one_that_was_built() {
    block_on(async {
        let target = tempfile::tempdir().expect("a directory");
        let server = Alone::start(target.path());
        let (status, page) = server.get("/signin").await;
        assert_eq!(status, 200);
        assert!(page.contains("no styles and scripts"), "{page}");
        assert!(page.contains("cargo xtask build"), "{page}");
        let log = fs::read_to_string(&server.log).expect("a log");
        assert!(
            log.contains("WARN") && log.contains("cargo xtask build"),
            "{log}"
        );
        drop(server);

        let pkg = target.path().join("site-release/pkg");
        fs::create_dir_all(&pkg).expect("a directory");
        for (file, text) in [
            ("step47.css", "body{}"),
            ("step47.js", ""),
            ("step47.wasm", ""),
        ] {
            fs::write(pkg.join(file), text).expect("a file");
        }
        let server = Alone::start(target.path());
        let (_, page) = server.get("/signin").await;
        assert!(!page.contains("no styles and scripts"), "{page}");
        assert_eq!(server.get("/pkg/step47.css").await, (200, "body{}".into()));
        let log = fs::read_to_string(&server.log).expect("a log");
        assert!(
            log.contains("site-release") && !log.contains("WARN"),
            "{log}"
        );
    });
}
