//! States as they are stored: a delta against the snapshot before, with keyframes placed so that storage follows
//! the change and any snapshot reads in bounded time. Everything above sees only [`Held`], [`load`] and [`read`].

pub(super) mod builder;
mod codec;
mod held;
mod read;
pub(super) mod stored;

pub use held::{Change, Held, INSERT, Packed, fits};
pub(super) use read::built;
pub use read::{StateAt, load, read, state, stretch};
