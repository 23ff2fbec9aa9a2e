//! A glance at a value that may be megabytes: the writer sees what it is, and need not read it.

/// A stored value, if it has fewer bytes than were named; of a longer one only by what it is known again.
pub enum Glance<T> {
    Short(T),
    Long { mark: String },
}
