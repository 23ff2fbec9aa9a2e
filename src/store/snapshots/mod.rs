//! States as they are stored: a delta against the snapshot before, with keyframes placed so that storage follows
//! the change and any snapshot reads in bounded time. Everything above sees only [`NewestState`], [`load`] and [`read`].

pub(super) mod builder;
mod codec;
mod newest_state;
mod read;
pub(super) mod stored;

pub use newest_state::{Change, INSERT, NewestState, Packed, fits};
pub(super) use read::built;
pub use read::{StateAt, load, read, state, stretch};
