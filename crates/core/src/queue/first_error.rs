//! The first error of a queue that no wait has taken yet.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};
use crate::sync::lock;

/// The first error of a queue since the last one was taken. Clones share it: the queue's thread keeps errors, and a
/// thread that waits for the queue takes them.
#[derive(Clone, Debug, Default)]
pub struct FirstError(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Whether there is an error, so that the check before each launch takes no lock; changed with the lock held.
    there_is: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl FirstError {
    /// Keeps an error, if it is the first.
    #[inline]
    pub fn keep(&self, outcome: Result<()>) {
        if let Err(error) = outcome {
            let mut kept = lock(&self.0.error);
            kept.get_or_insert(error);
            self.0.there_is.store(true, Ordering::Release);
        }
    }

    /// Whether there is an error.
    #[inline]
    pub fn is_some(&self) -> bool {
        self.0.there_is.load(Ordering::Acquire)
    }

    /// A copy of the error, which is not taken.
    pub fn get(&self) -> Option<Error> {
        if self.is_some() { lock(&self.0.error).clone() } else { None }
    }

    /// Takes the error, if there is one.
    #[inline]
    pub fn take(&self) -> Option<Error> {
        if !self.is_some() {
            return None;
        }
        let mut kept = lock(&self.0.error);
        self.0.there_is.store(false, Ordering::Release);
        kept.take()
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
