//! The first error of a queue that nobody has taken yet.

use std::sync::{Arc, Mutex};

use wattle_core::{Error, Result};

use crate::error::lock;

/// The first error of a queue since somebody last took one. Clones are the same one: the queue's thread keeps errors,
/// and who waits for the queue takes them.
#[derive(Clone, Debug, Default)]
pub struct FirstError(Arc<Mutex<Option<Error>>>);

impl FirstError {
    /// Keeps an error, if it is the first.
    pub fn keep(&self, outcome: Result<()>) {
        if let Err(error) = outcome {
            lock(&self.0).get_or_insert(error);
        }
    }

    /// Whether there is one.
    pub fn is_some(&self) -> bool {
        lock(&self.0).is_some()
    }

    /// A copy of it, which stays.
    pub fn get(&self) -> Option<Error> {
        lock(&self.0).clone()
    }

    /// Takes it.
    pub fn take(&self) -> Option<Error> {
        lock(&self.0).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::system;

    #[test]
    fn the_first_one_is_kept_until_it_is_taken() {
        let (error, other) = (FirstError::default(), FirstError::default());
        let same = error.clone();
        error.keep(Ok(()));
        assert!(!error.is_some());
        error.keep(Err(system("one", "first")));
        error.keep(Err(system("two", "second")));
        assert!(same.is_some() && !other.is_some());
        assert!(same.get().unwrap().to_string().contains("first"));
        assert!(error.take().unwrap().to_string().contains("first"));
        assert!(same.take().is_none());
        same.keep(Err(system("two", "second")));
        assert!(error.take().unwrap().to_string().contains("second"));
    }
}
