//! A queue whose operations are done when they have been submitted.

use std::sync::Mutex;

use super::executor::{self, Executor};
use super::operation::Operation;
use crate::backend::{BackendQueue, LaunchRequest};
use crate::error::{Error, Result};
use crate::sync::lock;

/// A queue whose operations are done when they have been submitted, by the thread that submits them.
pub(super) struct Blocking<E> {
    executor: Mutex<E>,
}

impl<E: Executor> Blocking<E> {
    /// A blocking queue over this executor.
    pub(super) fn new(executor: E) -> Blocking<E> {
        Blocking { executor: Mutex::new(executor) }
    }

    #[inline]
    fn now(&self, work: impl FnOnce(&mut E)) -> Result<()> {
        let mut executor = lock(&self.executor);
        work(&mut executor);
        executor.flush();
        executor.drain();
        executor.errors().take().map_or(Ok(()), Err)
    }
}

// SAFETY: operations are given to the executor one after another, in the order in which they come, and it keeps that.
unsafe impl<E: Executor> BackendQueue for Blocking<E> {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        self.now(|executor| unsafe { executor::launch(executor, request) })
    }

    fn prepare(&self, request: &LaunchRequest<'_>) -> Result<()> {
        lock(&self.executor).prepare(request.kernel, &request.shape, &request.options)
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.now(|executor| executor::operate(executor, operation, false))
    }

    fn wait(&self) -> Result<()> {
        drop(lock(&self.executor));
        Ok(())
    }

    fn pending_error(&self) -> Option<Error> {
        None
    }
}
