//! Documents mutated byte by byte, as a fuzzer does: whatever still parses must diff exactly.
//! `cargo xtask torture` runs many more of them.

use super::*;

/// A small generator of its own: the same inputs on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

const SEEDS: [&str; 5] = [
    r#"{"messages":[{"role":"user","content":"Match invoice INV-2214 with PO 7731"},{"role":"assistant","content":"It matches."}],"plan":["a","b","c"],"n":-0.0}"#,
    r#"[{"id":1,"v":[1,2,3]},{"id":2,"v":[2,3,4]},{"id":3,"v":[]},[],{},null,true,1e300,18446744073709551615]"#,
    r#"{"":{"/":{"~":"~1"}},"a":{"b":{"c":{"d":[[[[0]]]]}}},"é":"naïve café 🦀 déjà vu, again and again"}"#,
    r#"[0,1,0,1,0,1,0,1,1,1,0,0,0,1]"#,
    r#""just a text with some words in it, and some more words""#,
];
const PIECES: [&str; 12] = [
    "0",
    "1",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\"",
    ":",
    "null",
    "\"id\":",
    "\u{10ffff}",
];

fn mutated(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.next(4) {
        let at = random.next(bytes.len() + 1);
        match random.next(5) {
            0 => {
                let piece = PIECES[random.next(PIECES.len())].bytes();
                bytes.splice(at..at, piece);
            }
            1 if at < bytes.len() => bytes[at] ^= 1 << random.next(7),
            2 => {
                let end = (at + random.next(12)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let end = (at + random.next(24)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.next(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            _ if at + 1 < bytes.len() => bytes.swap(at, at + 1),
            _ => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutated_documents_diff_exactly() {
    compare(3_000);
}

#[test]
#[ignore = "long: cargo xtask torture"]
fn mutated_documents_diff_exactly_for_long() {
    compare(3_000_000);
}

fn compare(rounds: usize) {
    let mut random = Random(0x5747_4747_4747_4747);
    let mut pool: Vec<String> = SEEDS.map(str::to_owned).to_vec();
    let mut compared = 0;
    for _ in 0..rounds {
        let from = random.next(pool.len());
        let text = mutated(&pool[from], &mut random);
        let Ok(new) = serde_json::from_str::<Tree>(&text) else {
            continue;
        };
        let old: Tree = serde_json::from_str(&pool[from]).unwrap();
        let changes = holds(&old, &new);
        // Changes of one document on another: refused or applied, never a panic.
        let other: Tree = serde_json::from_str(&pool[random.next(pool.len())]).unwrap();
        let _ = apply(&other, &changes);
        compared += 1;
        match pool.len() < 64 {
            true => pool.push(text),
            false if text.len() < 2_000 => pool[from] = text,
            false => {}
        }
        if pool[from].len() >= 2_000 {
            pool[from] = SEEDS[random.next(SEEDS.len())].to_owned();
        }
    }
    assert!(compared > rounds / 20, "only {compared} documents parsed");
}
