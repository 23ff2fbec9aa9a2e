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
    type Error = serde_json::Error;

    fn decode(bytes: Bytes) -> Result<T, Self::Error> {
        let text = str::from_utf8(&bytes).map_err(serde::de::Error::custom)?;
        serde_json::from_str(text)
    }
}
