//! Contexts.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use super::{call, put};
use crate::driver::context::{self, CONTEXTS, Context};
use crate::driver::status::{Done, Status};

/// `cuDevicePrimaryCtxRetain`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(to: *mut usize, device: c_int) -> Status {
    call("cuDevicePrimaryCtxRetain", || {
        let device = context::device(device)?;
        if to.is_null() {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller's.
        unsafe { put(to, context::retain_primary(device).handle) }
    })
}

/// `cuDevicePrimaryCtxRelease_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> Status {
    call("cuDevicePrimaryCtxRelease_v2", || context::release_primary(context::device(device)?))
}

/// `cuDevicePrimaryCtxReset_v2`: waits for what still runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxReset_v2(device: c_int) -> Status {
    call("cuDevicePrimaryCtxReset_v2", || {
        context::reset_primary(context::device(device)?);
        Ok(())
    })
}

/// `cuDevicePrimaryCtxGetState`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut u32, active: *mut c_int) -> Status {
    call("cuDevicePrimaryCtxGetState", || {
        let (has, is_active) = context::primary_state(context::device(device)?);
        // SAFETY: the caller's.
        unsafe {
            put(flags, has)?;
            put(active, c_int::from(is_active))
        }
    })
}

/// `cuDevicePrimaryCtxSetFlags_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: u32) -> Status {
    call("cuDevicePrimaryCtxSetFlags_v2", || {
        context::set_primary_flags(context::device(device)?, flags);
        Ok(())
    })
}

fn create(to: *mut usize, flags: u32, device: c_int) -> Done {
    let device = context::device(device)?;
    if to.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let handle = Context::create(device, flags).handle;
    context::push(handle)?;
    // SAFETY: the caller of the exported function vouches for it.
    unsafe { put(to, handle) }
}

/// `cuCtxCreate_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v2(to: *mut usize, flags: u32, device: c_int) -> Status {
    call("cuCtxCreate_v2", || create(to, flags, device))
}

/// `cuCtxCreate_v3`; affinities are not known here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v3(
    to: *mut usize,
    _params: *mut c_void,
    count: c_int,
    flags: u32,
    device: c_int,
) -> Status {
    call("cuCtxCreate_v3", || if count == 0 { create(to, flags, device) } else { Err(Status::ERROR_NOT_SUPPORTED) })
}

/// `cuCtxCreate_v4`; parameters are not known here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v4(to: *mut usize, params: *mut c_void, flags: u32, device: c_int) -> Status {
    call(
        "cuCtxCreate_v4",
        || {
            if params.is_null() { create(to, flags, device) } else { Err(Status::ERROR_NOT_SUPPORTED) }
        },
    )
}

/// `cuCtxDestroy_v2`: waits for what still runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDestroy_v2(handle: usize) -> Status {
    call("cuCtxDestroy_v2", || {
        context::initialized()?;
        context::destroy(&*CONTEXTS.get(handle).map_err(|_| Status::ERROR_INVALID_CONTEXT)?);
        Ok(())
    })
}

/// `cuCtxSetCurrent`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCurrent(handle: usize) -> Status {
    call("cuCtxSetCurrent", || context::set_current(handle))
}

/// `cuCtxGetCurrent`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(to: *mut usize) -> Status {
    call("cuCtxGetCurrent", || {
        context::initialized()?;
        // SAFETY: the caller's.
        unsafe { put(to, context::current_handle()) }
    })
}

/// `cuCtxPushCurrent_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPushCurrent_v2(handle: usize) -> Status {
    call("cuCtxPushCurrent_v2", || context::push(handle))
}

/// `cuCtxPopCurrent_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(to: *mut usize) -> Status {
    call("cuCtxPopCurrent_v2", || {
        let popped = context::pop()?;
        // SAFETY: the caller's.
        if to.is_null() { Ok(()) } else { unsafe { put(to, popped) } }
    })
}

/// `cuCtxGetDevice`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(to: *mut c_int) -> Status {
    // SAFETY: the caller's.
    call("cuCtxGetDevice", || unsafe { put(to, context::current_raw()?.device as c_int) })
}

/// `cuCtxGetFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetFlags(to: *mut u32) -> Status {
    // SAFETY: the caller's.
    call("cuCtxGetFlags", || unsafe { put(to, context::current_raw()?.flags.load(Ordering::Relaxed)) })
}

/// `cuCtxGetApiVersion`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetApiVersion(_context: usize, to: *mut u32) -> Status {
    // SAFETY: the caller's.
    call("cuCtxGetApiVersion", || unsafe { put(to, 3020) })
}

/// `cuCtxGetStreamPriorityRange`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> Status {
    call("cuCtxGetStreamPriorityRange", || {
        context::current()?;
        // SAFETY: the caller's; null is allowed.
        unsafe {
            let _ = put(least, 0);
            let _ = put(greatest, -5);
        }
        Ok(())
    })
}

/// `cuCtxSynchronize`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize() -> Status {
    call("cuCtxSynchronize", || {
        let context = context::current()?;
        context.idle();
        context.healthy()
    })
}

/// `cuCtxSetLimit`: taken, without effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetLimit(limit: u32, _value: usize) -> Status {
    call("cuCtxSetLimit", || {
        context::current()?;
        if limit <= 6 { Ok(()) } else { Err(Status::ERROR_UNSUPPORTED_LIMIT) }
    })
}

/// `cuCtxGetLimit`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetLimit(to: *mut usize, limit: u32) -> Status {
    call("cuCtxGetLimit", || {
        context::current()?;
        let value = match limit {
            0 => 1024,
            1 => 1 << 20,
            2 => 8 << 20,
            3..=6 => 0,
            _ => return Err(Status::ERROR_UNSUPPORTED_LIMIT),
        };
        // SAFETY: the caller's.
        unsafe { put(to, value) }
    })
}

/// `cuCtxEnablePeerAccess`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxEnablePeerAccess(peer: usize, flags: u32) -> Status {
    call("cuCtxEnablePeerAccess", || {
        let context = context::current()?;
        let peer = CONTEXTS.get(peer).map_err(|_| Status::ERROR_INVALID_CONTEXT)?;
        if flags != 0 {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        if peer.device == context.device {
            return Err(Status::ERROR_INVALID_DEVICE);
        }
        let before = context.reaches.fetch_or(1 << peer.device, Ordering::AcqRel);
        if before >> peer.device & 1 == 0 { Ok(()) } else { Err(Status::ERROR_PEER_ACCESS_ALREADY_ENABLED) }
    })
}

/// `cuCtxDisablePeerAccess`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDisablePeerAccess(peer: usize) -> Status {
    call("cuCtxDisablePeerAccess", || {
        let context = context::current()?;
        let peer = CONTEXTS.get(peer).map_err(|_| Status::ERROR_INVALID_CONTEXT)?;
        if peer.device == context.device {
            return Err(Status::ERROR_PEER_ACCESS_NOT_ENABLED);
        }
        let before = context.reaches.fetch_and(!(1 << peer.device), Ordering::AcqRel);
        if before >> peer.device & 1 != 0 { Ok(()) } else { Err(Status::ERROR_PEER_ACCESS_NOT_ENABLED) }
    })
}
