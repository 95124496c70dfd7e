//! Allocations and what is known of pointers.

use std::ffi::{c_int, c_void};

use super::{call, put};
use crate::driver::allocate::{self, Kind};
use crate::driver::config::Config;
use crate::driver::status::{Done, Status};
use crate::driver::{context, stream, transfer};

fn allocate(to: *mut u64, bytes: usize, kind: Kind, flags: u32) -> Done {
    let context = context::current()?;
    if to.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let address = allocate::allocate(&context, bytes as u64, kind, flags)?;
    // SAFETY: the caller of the exported function vouches for it.
    unsafe { put(to, address) }
}

/// `cuMemGetInfo_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status {
    call("cuMemGetInfo_v2", || {
        let device = context::current()?.device;
        let all = Config::get().memory;
        // SAFETY: the caller's.
        unsafe {
            put(free, all.saturating_sub(allocate::used(device)) as usize)?;
            put(total, all as usize)
        }
    })
}

/// `cuMemAlloc_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(to: *mut u64, bytes: usize) -> Status {
    call("cuMemAlloc_v2", || allocate(to, bytes, Kind::Device, 0))
}

/// `cuMemAllocPitch_v2`: rows of a multiple of 512 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocPitch_v2(
    to: *mut u64,
    pitch: *mut usize,
    width: usize,
    height: usize,
    _item: u32,
) -> Status {
    call("cuMemAllocPitch_v2", || {
        let row = width.checked_next_multiple_of(512).ok_or(Status::ERROR_OUT_OF_MEMORY)?;
        let bytes = row.checked_mul(height).ok_or(Status::ERROR_OUT_OF_MEMORY)?;
        // SAFETY: the caller's.
        unsafe { put(pitch, row)? };
        allocate(to, bytes, Kind::Device, 0)
    })
}

/// `cuMemAllocAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(to: *mut u64, bytes: usize, on: usize) -> Status {
    call("cuMemAllocAsync", || {
        let (_, context) = stream::resolve(on)?;
        if to.is_null() {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller's.
        unsafe { put(to, allocate::allocate(&context, bytes as u64, Kind::Device, 0)?) }
    })
}

/// `cuMemFree_v2`: waits for the device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(address: u64) -> Status {
    call("cuMemFree_v2", || {
        context::current()?;
        if address == 0 {
            return Ok(());
        }
        allocate::free(address, &[Kind::Device, Kind::Managed], Status::ERROR_INVALID_VALUE)
    })
}

/// `cuMemFreeAsync`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeAsync(address: u64, on: usize) -> Status {
    call("cuMemFreeAsync", || if address == 0 { Ok(()) } else { transfer::free_in_order(address, on) })
}

/// `cuMemAllocManaged`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocManaged(to: *mut u64, bytes: usize, flags: u32) -> Status {
    call("cuMemAllocManaged", || {
        // CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST.
        if flags != 1 && flags != 2 {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        allocate(to, bytes, Kind::Managed, flags)
    })
}

/// `cuMemAllocHost_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(to: *mut u64, bytes: usize) -> Status {
    call("cuMemAllocHost_v2", || allocate(to, bytes, Kind::Host, 0))
}

/// `cuMemHostAlloc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(to: *mut u64, bytes: usize, flags: u32) -> Status {
    call("cuMemHostAlloc", || {
        if flags & !7 != 0 {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        allocate(to, bytes, Kind::Host, flags)
    })
}

/// `cuMemFreeHost`: waits for the devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(host: usize) -> Status {
    call("cuMemFreeHost", || {
        context::current()?;
        allocate::free(host as u64, &[Kind::Host], Status::ERROR_INVALID_VALUE)
    })
}

/// `cuMemHostGetDevicePointer_v2`: the same address, as with unified addressing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(to: *mut u64, host: usize, flags: u32) -> Status {
    call("cuMemHostGetDevicePointer_v2", || {
        context::current()?;
        let found = allocate::find(host as u64).filter(|found| matches!(found.kind, Kind::Host | Kind::Registered));
        if flags != 0 || found.is_none() {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller's.
        unsafe { put(to, host as u64) }
    })
}

/// `cuMemHostGetFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetFlags(to: *mut u32, host: usize) -> Status {
    call("cuMemHostGetFlags", || {
        context::current()?;
        let found = allocate::find(host as u64).filter(|found| found.kind == Kind::Host);
        // SAFETY: the caller's.
        unsafe { put(to, found.ok_or(Status::ERROR_INVALID_VALUE)?.flags) }
    })
}

/// `cuMemHostRegister_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostRegister_v2(host: usize, bytes: usize, flags: u32) -> Status {
    call("cuMemHostRegister_v2", || allocate::register(&*context::current()?, host, bytes as u64, flags))
}

/// `cuMemHostUnregister`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostUnregister(host: usize) -> Status {
    call("cuMemHostUnregister", || {
        context::current()?;
        allocate::free(host as u64, &[Kind::Registered], Status::ERROR_HOST_MEMORY_NOT_REGISTERED)
    })
}

/// `cuMemGetAddressRange_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, address: u64) -> Status {
    call("cuMemGetAddressRange_v2", || {
        context::current()?;
        let found = allocate::find(address).ok_or(Status::ERROR_NOT_FOUND)?;
        // SAFETY: the caller's; null is allowed.
        unsafe {
            let _ = put(base, found.address);
            let _ = put(bytes, found.bytes as usize);
        }
        Ok(())
    })
}

/// Writes one attribute of a pointer.
///
/// # Safety
/// `to` may be written with the attribute's type.
unsafe fn pointer(to: *mut c_void, attribute: u32, address: u64) -> Done {
    let found = allocate::find(address).ok_or(Status::ERROR_INVALID_VALUE)?;
    let host = (found.kind != Kind::Device).then_some(address);
    // SAFETY: the caller's.
    unsafe {
        match attribute {
            1 => put(to.cast::<usize>(), found.context),
            // CU_MEMORYTYPE_HOST or CU_MEMORYTYPE_DEVICE
            2 => put(to.cast::<u32>(), if matches!(found.kind, Kind::Device | Kind::Managed) { 2 } else { 1 }),
            3 => put(to.cast::<u64>(), address),
            4 => put(to.cast::<u64>(), host.ok_or(Status::ERROR_INVALID_VALUE)?),
            7 => put(to.cast::<u64>(), found.address),
            8 => put(to.cast::<u32>(), u32::from(found.kind == Kind::Managed)),
            9 => put(to.cast::<c_int>(), found.device as c_int),
            11 => put(to.cast::<u64>(), found.address),
            12 => put(to.cast::<usize>(), found.bytes as usize),
            13 => put(to.cast::<u32>(), 1),
            _ => Err(Status::ERROR_INVALID_VALUE),
        }
    }
}

/// `cuPointerGetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttribute(to: *mut c_void, attribute: u32, address: u64) -> Status {
    call("cuPointerGetAttribute", || {
        context::initialized()?;
        // SAFETY: the caller's.
        unsafe { pointer(to, attribute, address) }
    })
}

/// `cuMemPrefetchAsync`: without effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync(address: u64, bytes: usize, _device: c_int, on: usize) -> Status {
    call("cuMemPrefetchAsync", || {
        stream::resolve(on)?;
        managed(address, bytes)
    })
}

/// `cuMemAdvise`: without effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAdvise(address: u64, bytes: usize, _advice: u32, _device: c_int) -> Status {
    call("cuMemAdvise", || {
        context::current()?;
        managed(address, bytes)
    })
}

fn managed(address: u64, bytes: usize) -> Done {
    let found = allocate::find(address).filter(|found| found.kind == Kind::Managed);
    match found {
        Some(found) if address - found.address + bytes as u64 <= found.bytes => Ok(()),
        _ => Err(Status::ERROR_INVALID_VALUE),
    }
}
