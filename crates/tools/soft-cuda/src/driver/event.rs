//! Events: recording them, waiting for them, and the time between them.

use std::sync::{Arc, Mutex};

use super::context;
use super::handle::Handles;
use super::lock::lock;
use super::status::{Done, Status};
use super::stream::Signal;

/// An event, with the work that it was recorded behind.
pub struct Event {
    context: usize,
    timed: bool,
    recorded: Mutex<Option<Arc<Signal>>>,
}

static EVENTS: Handles<Event> = Handles::new();

const DISABLE_TIMING: u32 = 2;

/// Makes an event of the current context; returns its handle.
///
/// # Errors
/// The thread has no context.
pub fn create(flags: u32) -> Done<usize> {
    let context = context::current()?.handle;
    if flags & !7 != 0 {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let make = |_| Event { context, timed: flags & DISABLE_TIMING == 0, recorded: Mutex::default() };
    Ok(EVENTS.add(make).0)
}

/// Destroys an event.
///
/// # Errors
/// There is no such event.
pub fn destroy(handle: usize) -> Done {
    EVENTS.remove(handle).map(drop)
}

/// Removes the events of a context.
pub fn forget(context: usize) {
    EVENTS.retain(|event| event.context != context);
}

/// Records an event on a stream.
///
/// # Errors
/// A handle is wrong, stream and event are of different contexts, or the context has failed.
pub fn record(handle: usize, on: usize) -> Done {
    let (stream, context) = context::resolve(on)?;
    let event = EVENTS.get(handle)?;
    if event.context != context.handle {
        return Err(Status::ERROR_INVALID_HANDLE);
    }
    let done = context.enqueue(&stream, Box::new(|_| Ok(())));
    *lock(&event.recorded) = Some(done);
    Ok(())
}

fn healthy(event: &Event) -> Done {
    context::owner(event.context)?.healthy()
}

/// Checks that the work before the recorded event is done.
///
/// # Errors
/// The work is not done, the handle is wrong, or the context has failed.
pub fn query(handle: usize) -> Done {
    let event = EVENTS.get(handle)?;
    healthy(&event)?;
    let recorded = lock(&event.recorded).clone();
    match recorded {
        Some(signal) if signal.time().is_none() => Err(Status::ERROR_NOT_READY),
        _ => healthy(&event),
    }
}

/// Waits until the work before the recorded event is done.
///
/// # Errors
/// The handle is wrong, or the context has failed.
pub fn synchronize(handle: usize) -> Done {
    let event = EVENTS.get(handle)?;
    let recorded = lock(&event.recorded).clone();
    if let Some(signal) = recorded {
        signal.wait();
    }
    healthy(&event)
}

/// Makes work that is added to a stream from now on wait for the recorded event.
///
/// # Errors
/// A handle is wrong, or the context has failed.
pub fn wait(on: usize, handle: usize) -> Done {
    let (stream, context) = context::resolve(on)?;
    let event = EVENTS.get(handle)?;
    let recorded = lock(&event.recorded).clone();
    if let Some(signal) = recorded {
        context.enqueue_after(&stream, vec![signal], false, Box::new(|_| Ok(())));
    }
    Ok(())
}

/// The time between two events in milliseconds.
///
/// # Errors
/// One of the events was made without timing, was not recorded, or is not done.
pub fn elapsed(from: usize, to: usize) -> Done<f32> {
    let time = |handle| {
        let event = EVENTS.get(handle)?;
        healthy(&event)?;
        let recorded = lock(&event.recorded).clone();
        match recorded {
            Some(signal) if event.timed => signal.time().ok_or(Status::ERROR_NOT_READY),
            _ => Err(Status::ERROR_INVALID_HANDLE),
        }
    };
    let (from, to) = (time(from)?, time(to)?);
    Ok((to as i64 - from as i64) as f32 / 1e6)
}
