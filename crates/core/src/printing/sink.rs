//! The function that a queue's printed lines are handed to.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use super::lines::Printed;
use crate::error::{Error, Result, system};
use crate::sync::lock;

thread_local! {
    /// The sinks that this thread is in, by their addresses, the innermost last.
    static WITHIN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

type Function = dyn FnMut(&Printed) + Send;

/// A user's function for what kernels print. It is called by one thread at a time, and never from within itself.
#[derive(Clone)]
pub(super) struct Sink(Arc<Mutex<Box<Function>>>);

/// An entry of [`WITHIN`], until it is dropped.
struct Within(());

impl Drop for Within {
    fn drop(&mut self) {
        WITHIN.with_borrow_mut(|within| within.pop());
    }
}

impl Sink {
    pub(super) fn new(function: impl FnMut(&Printed) + Send + 'static) -> Sink {
        Sink(Arc::new(Mutex::new(Box::new(function))))
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Fails on a thread that is in this sink: it would wait for itself.
    pub(super) fn is_not_running_here(&self) -> Result<()> {
        if WITHIN.with_borrow(|within| within.contains(&self.address())) { Err(used_by_its_sink()) } else { Ok(()) }
    }

    /// Hands over what a launch has printed.
    ///
    /// # Errors
    /// This thread is in the sink already.
    pub(super) fn take(&self, printed: &Printed) -> Result<()> {
        self.is_not_running_here()?;
        let mut function = lock(&self.0);
        WITHIN.with_borrow_mut(|within| within.push(self.address()));
        let _within = Within(());
        function(printed);
        Ok(())
    }
}

/// The error of a sink that has its own queue print.
#[cold]
fn used_by_its_sink() -> Error {
    let message = "the function given to `Queue::print_to` would be called while it runs; have it keep the lines, and \
                   launch or wait once it has returned";
    system("what a kernel prints cannot be handed to a function that uses the kernel's queue", message)
}
