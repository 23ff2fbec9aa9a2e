//! Bodies of snapshots as bytes: what they hold, and how they are packed.
//!
//! | content | what the body holds |
//! |---|---|
//! | `keyframe` | the whole state |
//! | `change` | the changes against the snapshot before, in the stored form of `domain::diff` |
//! | `delta` | the same as an RFC 6902 patch: what earlier versions wrote |
//!
//! | packing | how |
//! |---|---|
//! | `json` | as it is: small bodies |
//! | `zstd` | on its own |
//! | `zstd-after` | after the deltas before it: steps of one run resemble each other |

use std::io::Read as _;

use crate::store::Error;

const ZSTD_LEVEL: i32 = 3;
/// Below this, compressing costs more than it saves.
const PLAIN_MAX: usize = 256;
/// Bytes of the deltas before that one is packed after.
const WINDOW: usize = 16 << 10;

/// The newest deltas since the keyframe, unpacked: what the next one is packed after. It is the same for who writes
/// and who reads, because both pass the same deltas in the same order.
#[derive(Debug, Clone, Default)]
pub struct Window(Vec<u8>);

impl Window {
    pub fn push(&mut self, delta: &[u8]) {
        let kept = delta.len().min(WINDOW);
        let room = WINDOW - kept;
        if self.0.len() > room {
            self.0.drain(..self.0.len() - room);
        }
        self.0.extend_from_slice(&delta[delta.len() - kept..]);
    }

    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The encoding's name and the body.
pub fn pack(content: &str, plain: &[u8], window: &Window) -> Result<(String, Vec<u8>), Error> {
    let (packing, body) = match (plain.len(), window.0.as_slice()) {
        (0..=PLAIN_MAX, _) => ("json", plain.to_vec()),
        (_, []) => (
            "zstd",
            zstd::bulk::compress(plain, ZSTD_LEVEL).map_err(Error::damaged)?,
        ),
        (_, before) => {
            let packer = zstd::bulk::Compressor::with_dictionary(ZSTD_LEVEL, before);
            let body = packer.and_then(|mut packer| packer.compress(plain));
            ("zstd-after", body.map_err(Error::damaged)?)
        }
    };
    Ok((format!("{content}+{packing}"), body))
}

pub fn unpack(packing: &str, body: &[u8], window: &Window) -> Result<String, Error> {
    let plain = match packing {
        "json" => body.to_vec(),
        "zstd" => zstd::stream::decode_all(body).map_err(Error::damaged)?,
        "zstd-after" => {
            let mut plain = Vec::new();
            zstd::stream::read::Decoder::with_dictionary(body, &window.0)
                .and_then(|mut unpacker| unpacker.read_to_end(&mut plain))
                .map_err(Error::damaged)?;
            plain
        }
        other => return Err(Error::damaged(format!("packing {other:?}"))),
    };
    String::from_utf8(plain).map_err(Error::damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_whatever_went_before() {
        let (mut written, mut read) = (Window::default(), Window::default());
        for n in 0..200 {
            let size = [20, 300, 5_000, 40_000][n % 4];
            let plain = format!("{n} {}", "the quick brown fox ".repeat(size / 20));
            let (encoding, body) = pack("change", plain.as_bytes(), &written).unwrap();
            let packing = encoding.split_once('+').unwrap().1;
            assert_eq!(unpack(packing, &body, &read).unwrap(), plain);
            written.push(plain.as_bytes());
            read.push(plain.as_bytes());
            assert!(written.0.len() <= WINDOW);
        }
    }
}
