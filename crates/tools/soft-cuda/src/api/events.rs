//! Events.

use super::{call, put};
use crate::driver::status::Status;
use crate::driver::{context, event};

/// `cuEventCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(to: *mut usize, flags: u32) -> Status {
    // SAFETY: the caller's.
    call("cuEventCreate", || unsafe { put(to, event::create(flags)?) })
}

/// `cuEventDestroy_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(event: usize) -> Status {
    call("cuEventDestroy_v2", || {
        context::initialized()?;
        event::destroy(event)
    })
}

/// `cuEventRecord`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(event: usize, on: usize) -> Status {
    call("cuEventRecord", || event::record(event, on))
}

/// `cuEventRecordWithFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecordWithFlags(event: usize, on: usize, flags: u32) -> Status {
    call(
        "cuEventRecordWithFlags",
        || if flags > 1 { Err(Status::ERROR_INVALID_VALUE) } else { event::record(event, on) },
    )
}

/// `cuEventQuery`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventQuery(event: usize) -> Status {
    call("cuEventQuery", || event::query(event))
}

/// `cuEventSynchronize`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(event: usize) -> Status {
    call("cuEventSynchronize", || event::synchronize(event))
}

/// `cuEventElapsedTime`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, from: usize, to: usize) -> Status {
    // SAFETY: the caller's.
    call("cuEventElapsedTime", || unsafe { put(milliseconds, event::elapsed(from, to)?) })
}

/// `cuEventElapsedTime_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(milliseconds: *mut f32, from: usize, to: usize) -> Status {
    // SAFETY: the caller's.
    call("cuEventElapsedTime_v2", || unsafe { put(milliseconds, event::elapsed(from, to)?) })
}
