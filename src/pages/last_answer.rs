//! The last good answer: a live page that cannot reach the server for a moment keeps what it shows.

use leptos::prelude::*;

use crate::{api::AppError, domain::Code};

pub struct LastAnswer<T: Send + Sync + 'static>(StoredValue<Option<(String, T)>>);

impl<T: Send + Sync + 'static> Default for LastAnswer<T> {
    fn default() -> Self {
        Self(StoredValue::new(None))
    }
}

impl<T: Clone + Send + Sync + 'static> LastAnswer<T> {
    /// The answer about `what`, or the one before it if this one is that the server cannot be reached.
    pub fn or_last(self, what: &str, answer: Result<T, AppError>) -> Result<T, AppError> {
        match answer {
            Ok(good) => {
                self.0.set_value(Some((what.to_owned(), good.clone())));
                Ok(good)
            }
            Err(error) if error.is(Code::Busy) => {
                let last = self.0.get_value().filter(|(it, _)| it == what);
                last.map_or(Err(error), |(_, good)| Ok(good))
            }
            Err(error) => Err(error),
        }
    }
}

impl<T: Send + Sync + 'static> Clone for LastAnswer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for LastAnswer<T> {}
