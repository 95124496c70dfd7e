//! The exported functions for contexts.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{must, offer};
use crate::driver::context::{self, Context, device as known};
use crate::driver::status::{Done, Status};
use crate::driver::teardown;

fn create(to: *mut usize, flags: u32, device: c_int) -> Done<usize> {
    let device = known(device)?;
    must(!to.is_null())?;
    let handle = Context::create(device, flags).handle;
    context::push(handle)?;
    Ok(handle)
}

/// The current context, and the one with the handle `peer`.
fn peers(peer: usize) -> Done<(Arc<Context>, Arc<Context>)> {
    Ok((context::current()?, context::find(peer)?))
}

exports! {
    cuDevicePrimaryCtxRetain(to: *mut usize, device: c_int) -> to => {
        let device = known(device)?;
        must(!to.is_null())?;
        context::retain_primary(device).handle
    };
    cuDevicePrimaryCtxRelease_v2(device: c_int) => teardown::release_primary(known(device)?);
    /// Ends the primary context once the work that still runs is done.
    cuDevicePrimaryCtxReset_v2(device: c_int) => known(device).map(teardown::reset_primary);
    cuDevicePrimaryCtxGetState(device: c_int, flags: *mut u32, active: *mut c_int) -> flags, active => {
        let (flags, is_active) = context::primary_state(known(device)?);
        (flags, c_int::from(is_active))
    };
    cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: u32) => {
        known(device).map(|device| context::set_primary_flags(device, flags))
    };
    cuCtxCreate_v2(to: *mut usize, flags: u32, device: c_int) -> to => create(to, flags, device)?;
    /// Makes a context; execution affinities are refused.
    cuCtxCreate_v3(to: *mut usize, _params: *mut c_void, count: c_int, flags: u32, device: c_int) -> to => {
        if count == 0 { create(to, flags, device)? } else { return Err(Status::ERROR_NOT_SUPPORTED) }
    };
    /// Makes a context; parameters are refused.
    cuCtxCreate_v4(to: *mut usize, params: *mut c_void, flags: u32, device: c_int) -> to => {
        if params.is_null() { create(to, flags, device)? } else { return Err(Status::ERROR_NOT_SUPPORTED) }
    };
    /// Ends a context once the work that still runs is done.
    cuCtxDestroy_v2(handle: usize) => {
        context::initialized()?;
        teardown::destroy(&*context::find(handle)?);
        Ok(())
    };
    cuCtxSetCurrent(handle: usize) => context::set_current(handle);
    cuCtxGetCurrent(to: *mut usize) -> to => {
        context::initialized()?;
        context::current_handle()
    };
    cuCtxPushCurrent_v2(handle: usize) => context::push(handle);
    cuCtxPopCurrent_v2(to: *mut usize) => {
        // SAFETY: the caller vouches for it; null is allowed.
        unsafe { offer(to, context::pop()?) };
        Ok(())
    };
    cuCtxGetDevice(to: *mut c_int) -> to => context::current_raw()?.device as c_int;
    cuCtxGetFlags(to: *mut u32) -> to => context::current_raw()?.flags.load(Ordering::Relaxed);
    cuCtxGetApiVersion(_context: usize, to: *mut u32) -> to => 3020;
    cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) => {
        context::current()?;
        // SAFETY: the caller vouches for it; null is allowed.
        unsafe {
            offer(least, 0);
            offer(greatest, -5);
        }
        Ok(())
    };
    cuCtxSynchronize() => {
        let context = context::current()?;
        context.idle();
        context.healthy()
    };
    /// Accepts the limits that exist, without effect.
    cuCtxSetLimit(limit: u32, _value: usize) => {
        context::current()?;
        if limit <= 6 { Ok(()) } else { Err(Status::ERROR_UNSUPPORTED_LIMIT) }
    };
    cuCtxGetLimit(to: *mut usize, limit: u32) -> to => {
        context::current()?;
        match limit {
            0 => 1024,
            1 => 1 << 20,
            2 => 8 << 20,
            3..=6 => 0,
            _ => return Err(Status::ERROR_UNSUPPORTED_LIMIT),
        }
    };
    cuCtxEnablePeerAccess(peer: usize, flags: u32) => {
        let (context, peer) = peers(peer)?;
        must(flags == 0)?;
        if peer.device == context.device {
            return Err(Status::ERROR_INVALID_DEVICE);
        }
        let before = context.reaches.fetch_or(1 << peer.device, Ordering::AcqRel);
        if before >> peer.device & 1 == 0 { Ok(()) } else { Err(Status::ERROR_PEER_ACCESS_ALREADY_ENABLED) }
    };
    cuCtxDisablePeerAccess(peer: usize) => {
        let (context, peer) = peers(peer)?;
        if peer.device == context.device {
            return Err(Status::ERROR_PEER_ACCESS_NOT_ENABLED);
        }
        let before = context.reaches.fetch_and(!(1 << peer.device), Ordering::AcqRel);
        if before >> peer.device & 1 != 0 { Ok(()) } else { Err(Status::ERROR_PEER_ACCESS_NOT_ENABLED) }
    };
}
