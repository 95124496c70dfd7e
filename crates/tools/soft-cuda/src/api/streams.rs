//! The exported functions for streams.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use super::must;
use crate::driver::context::{self, Context, Work};
use crate::driver::event;
use crate::driver::status::{Done, Status};
use crate::driver::transfer::{Side, Where};

fn create(to: *mut usize, flags: u32, priority: c_int) -> Done<usize> {
    let context = context::current()?;
    must(!to.is_null() && flags <= 1)?;
    Ok(context::create_stream(&context, flags, priority.clamp(-5, 0)))
}

/// Enqueues work on a stream; if `always`, it is done even if the context has failed.
fn enqueue(on: usize, always: bool, work: Work) -> Done {
    let (stream, context) = context::resolve(on)?;
    context.enqueue_after(&stream, Vec::new(), always, work);
    Ok(())
}

exports! {
    cuStreamCreate(to: *mut usize, flags: u32) -> to => create(to, flags, 0)?;
    /// Makes a stream; the priority is kept, without effect.
    cuStreamCreateWithPriority(to: *mut usize, flags: u32, priority: c_int) -> to => create(to, flags, priority)?;
    /// Destroys a stream; its pending work is still done.
    cuStreamDestroy_v2(on: usize) => context::initialized().and_then(|()| context::destroy_stream(on));
    cuStreamSynchronize(on: usize) => {
        let (stream, context) = context::resolve(on)?;
        if let Some(last) = stream.last() {
            last.wait();
        }
        context.healthy()
    };
    cuStreamQuery(on: usize) => {
        let (stream, context) = context::resolve(on)?;
        if stream.last().is_some() { Err(Status::ERROR_NOT_READY) } else { context.healthy() }
    };
    cuStreamWaitEvent(on: usize, event: usize, flags: u32) => must(flags <= 1).and_then(|()| event::wait(on, event));
    cuStreamGetFlags(on: usize, flags: *mut u32) -> flags => context::resolve(on)?.0.made_with.0;
    cuStreamGetPriority(on: usize, priority: *mut c_int) -> priority => context::resolve(on)?.0.made_with.1;
    cuStreamGetCtx(on: usize, to: *mut usize) -> to => context::resolve(on)?.1.handle;
    cuStreamWriteValue32_v2(on: usize, at: u64, value: u32, flags: u32) => {
        context::resolve(on)?;
        must(at.is_multiple_of(4) && flags <= 1)?;
        let side = Side::new(at, 4, Where::Device)?;
        enqueue(on, false, Box::new(move |_: &Context| {
            // SAFETY: the side has 4 aligned bytes and keeps them; kernels access them by atomic accesses.
            unsafe { AtomicU32::from_ptr(side.host() as *mut u32) }.store(value, Ordering::SeqCst);
            Ok(())
        }))
    };
    cuLaunchHostFunc(on: usize, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) => {
        context::resolve(on)?;
        let function = function.ok_or(Status::ERROR_INVALID_VALUE)?;
        let data = data.expose_provenance();
        enqueue(on, false, Box::new(move |_: &Context| {
            // SAFETY: the caller vouches for it: the function may be called with this, once, on any thread.
            unsafe { function(std::ptr::with_exposed_provenance_mut(data)) };
            Ok(())
        }))
    };
    /// Enqueues a call of a function, which is made with the error even if the context has failed.
    cuStreamAddCallback(
        on: usize,
        function: Option<unsafe extern "C" fn(usize, Status, *mut c_void)>,
        data: *mut c_void,
        flags: u32,
    ) => {
        context::resolve(on)?;
        let function = function.filter(|_| flags == 0).ok_or(Status::ERROR_INVALID_VALUE)?;
        let data = data.expose_provenance();
        enqueue(on, true, Box::new(move |context: &Context| {
            let status = context.healthy().err().unwrap_or(Status::SUCCESS);
            // SAFETY: the caller vouches for it: the function may be called with this, once, on any thread.
            unsafe { function(on, status, std::ptr::with_exposed_provenance_mut(data)) };
            Ok(())
        }))
    };
}
