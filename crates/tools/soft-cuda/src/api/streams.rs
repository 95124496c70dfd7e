//! Streams.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{call, put};
use crate::driver::status::{Done, Status};
use crate::driver::transfer::{Side, Where};
use crate::driver::{context, event, stream};

fn create(to: *mut usize, flags: u32, priority: c_int) -> Done {
    let context = context::current()?;
    if to.is_null() || flags > 1 {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller of the exported function vouches for it.
    unsafe { put(to, stream::create(&context, flags, priority.clamp(-5, 0))) }
}

/// `cuStreamCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(to: *mut usize, flags: u32) -> Status {
    call("cuStreamCreate", || create(to, flags, 0))
}

/// `cuStreamCreateWithPriority`: priorities are kept, without effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(to: *mut usize, flags: u32, priority: c_int) -> Status {
    call("cuStreamCreateWithPriority", || create(to, flags, priority))
}

/// `cuStreamDestroy_v2`: what the stream has to do is done yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(on: usize) -> Status {
    call("cuStreamDestroy_v2", || {
        context::initialized()?;
        stream::destroy(on)
    })
}

/// `cuStreamSynchronize`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize(on: usize) -> Status {
    call("cuStreamSynchronize", || {
        let (stream, context) = stream::resolve(on)?;
        if let Some(last) = stream.last() {
            last.wait();
        }
        context.healthy()
    })
}

/// `cuStreamQuery`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamQuery(on: usize) -> Status {
    call("cuStreamQuery", || {
        let (stream, context) = stream::resolve(on)?;
        if stream.last().is_some() {
            return Err(Status::ERROR_NOT_READY);
        }
        context.healthy()
    })
}

/// `cuStreamWaitEvent`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent(on: usize, event: usize, flags: u32) -> Status {
    call("cuStreamWaitEvent", || if flags > 1 { Err(Status::ERROR_INVALID_VALUE) } else { event::wait(on, event) })
}

/// `cuStreamGetFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetFlags(on: usize, flags: *mut u32) -> Status {
    // SAFETY: the caller's.
    call("cuStreamGetFlags", || unsafe { put(flags, stream::resolve(on)?.0.made_with.0) })
}

/// `cuStreamGetPriority`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetPriority(on: usize, priority: *mut c_int) -> Status {
    // SAFETY: the caller's.
    call("cuStreamGetPriority", || unsafe { put(priority, stream::resolve(on)?.0.made_with.1) })
}

/// `cuStreamGetCtx`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx(on: usize, to: *mut usize) -> Status {
    // SAFETY: the caller's.
    call("cuStreamGetCtx", || unsafe { put(to, stream::resolve(on)?.1.handle) })
}

/// `cuStreamWriteValue32_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32_v2(on: usize, at: u64, value: u32, flags: u32) -> Status {
    call("cuStreamWriteValue32_v2", || {
        let (stream, context) = stream::resolve(on)?;
        if !at.is_multiple_of(4) || flags > 1 {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        let side = Side::new(at, 4, Where::Device)?;
        let write = Box::new(move |_: &context::Context| {
            // SAFETY: the side has 4 aligned bytes and keeps them; kernels access them by atomic accesses.
            unsafe { AtomicU32::from_ptr(side.host() as *mut u32) }.store(value, Ordering::SeqCst);
            Ok(())
        });
        stream::enqueue(&stream, &context, write);
        Ok(())
    })
}

/// `cuLaunchHostFunc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc(
    on: usize,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> Status {
    call("cuLaunchHostFunc", || {
        let (stream, context) = stream::resolve(on)?;
        let function = function.ok_or(Status::ERROR_INVALID_VALUE)?;
        let data = data.expose_provenance();
        let run = Box::new(move |_: &context::Context| {
            // SAFETY: the caller's: the function may be called with this, once, on any thread.
            unsafe { function(std::ptr::with_exposed_provenance_mut(data)) };
            Ok(())
        });
        stream::enqueue(&stream, &context, run);
        Ok(())
    })
}

/// `cuStreamAddCallback`: the function is called in a context that has failed, too, with the error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAddCallback(
    on: usize,
    function: Option<unsafe extern "C" fn(usize, Status, *mut c_void)>,
    data: *mut c_void,
    flags: u32,
) -> Status {
    call("cuStreamAddCallback", || {
        let (stream, context) = stream::resolve(on)?;
        let function = function.filter(|_| flags == 0).ok_or(Status::ERROR_INVALID_VALUE)?;
        let data = data.expose_provenance();
        let run = Box::new(move |context: &context::Context| {
            let status = context.healthy().err().unwrap_or(Status::SUCCESS);
            // SAFETY: the caller's: the function may be called with this, once, on any thread.
            unsafe { function(on, status, std::ptr::with_exposed_provenance_mut(data)) };
            Ok(())
        });
        stream::enqueue_after(&stream, &context, Vec::new(), true, run);
        Ok(())
    })
}
