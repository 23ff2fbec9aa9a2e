//! How server functions speak: JSON, read as text in the way that a page's own data is, so that the browser needs one reader of
//! each type and not two.

use serde::{Serialize, de::DeserializeOwned};
use server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType, codec::Post};

/// In a request's body and in the answer's.
pub type Json = Post<Text>;

pub struct Text;

impl ContentType for Text {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for Text {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for Text {
    type Error = serde_json::Error;

    fn encode(value: &T) -> Result<Bytes, Self::Error> {
        serde_json::to_vec(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for Text {
    type Error = Unread;

    fn decode(bytes: Bytes) -> Result<T, Unread> {
        read(&bytes)
    }
}

/// Why something could not be read. It passes through `server_fn` as text: on the server that is the refusal itself, so
/// that the field which is wrong keeps its name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unread(String);

#[cfg(feature = "ssr")]
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unread> {
    let read = crate::server::body::parse(bytes, crate::domain::wire::protocol::VALUES_MAX);
    read.map_err(|problem| Unread(serde_json::json!(problem).to_string()))
}

#[cfg(not(feature = "ssr"))]
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unread> {
    let text = str::from_utf8(bytes).map_err(|why| Unread(why.to_string()))?;
    serde_json::from_str(text).map_err(|why| Unread(why.to_string()))
}
