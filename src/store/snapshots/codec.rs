//! Bodies of snapshots as bytes: what they hold (a keyframe or a delta) and how they are packed.

use crate::store::{Error, engine::read_json};

const ZSTD_LEVEL: i32 = 3;
/// Below this, compressing costs more than it saves.
const PLAIN_MAX: usize = 256;

/// The encoding's name and the body.
pub fn pack(content: &str, plain: Vec<u8>) -> Result<(String, Vec<u8>), Error> {
    let (packing, body) = match plain.len() {
        0..=PLAIN_MAX => ("json", plain),
        _ => (
            "zstd",
            zstd::bulk::compress(&plain, ZSTD_LEVEL).map_err(Error::damaged)?,
        ),
    };
    Ok((format!("{content}+{packing}"), body))
}

pub fn unpack<T: serde::de::DeserializeOwned>(packing: &str, body: &[u8]) -> Result<T, Error> {
    let plain = match packing {
        "json" => body.to_vec(),
        "zstd" => zstd::stream::decode_all(body).map_err(Error::damaged)?,
        other => return Err(Error::damaged(format!("packing {other:?}"))),
    };
    read_json(&String::from_utf8(plain).map_err(Error::damaged)?)
}
