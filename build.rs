//! Embeds the built site into the server: with `STEP47_SITE` naming a directory (as `cargo xtask build` does), every
//! file in it becomes an entry of the table that `src/server/site.rs` includes; without it the table is empty and the
//! server reads the site from disk.

use std::{
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_SSR").is_none() {
        return Ok(()); // the browser and the agents embed nothing
    }
    println!("cargo:rerun-if-env-changed=STEP47_SITE");
    if Path::new("migrations").is_dir() {
        println!("cargo:rerun-if-changed=migrations"); // sqlx reads them while it compiles
    }

    let mut table = String::from("&[\n");
    if let Some(site) = env::var_os("STEP47_SITE").map(PathBuf::from) {
        let mut files = Vec::new();
        collect(&site, &mut files)?;
        files.sort();
        for file in &files {
            table.push_str(&entry(&site, file));
        }
    }
    table.push_str("]\n");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("site_table.rs"), table)
}

/// All files below `dir`, each watched for changes; the `.br` beside a file belongs to that file.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", dir.display());
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            println!("cargo:rerun-if-changed={}", path.display());
            if path.extension().is_none_or(|extension| extension != "br") {
                files.push(path);
            }
        }
    }
    Ok(())
}

/// One line of the table: `Embedded { path: "/pkg/step47.js", plain: include_bytes!(…), brotli: Some(…) }`.
fn entry(site: &Path, file: &Path) -> String {
    let url: String = file
        .strip_prefix(site)
        .expect("collected below the site")
        .iter()
        .fold(String::new(), |url, part| {
            url + "/" + &part.to_string_lossy()
        });
    let mut line =
        format!("    Embedded {{ path: {url:?}, plain: include_bytes!({file:?}), brotli: ");
    let compressed = PathBuf::from(format!("{}.br", file.display()));
    let _ = if compressed.is_file() {
        write!(line, "Some(include_bytes!({compressed:?}))")
    } else {
        write!(line, "None")
    };
    line + " },\n"
}
