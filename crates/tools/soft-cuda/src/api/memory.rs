//! The exported functions for allocations and for attributes of pointers.

use std::ffi::{c_int, c_void};

use super::{must, offer, put};
use crate::driver::allocate::{self, Allocation, Kind};
use crate::driver::config::Config;
use crate::driver::status::{Done, Status};
use crate::driver::{context, transfer};

fn allocate(to: *mut u64, bytes: usize, kind: Kind, flags: u32) -> Done<u64> {
    let context = context::current()?;
    must(!to.is_null())?;
    allocate::allocate(&context, bytes as u64, kind, flags)
}

/// Frees the allocation that begins at an address, once the device has nothing left to do.
fn free(address: u64, kinds: &[Kind], wrong: Status) -> Done {
    context::current()?;
    allocate::free(address, kinds, wrong)
}

/// The allocation of one of these kinds that contains a host address.
fn host_allocation(host: usize, kinds: &[Kind]) -> Done<Allocation> {
    context::current()?;
    let found = allocate::find(host as u64).filter(|found| kinds.contains(&found.kind));
    found.ok_or(Status::ERROR_INVALID_VALUE)
}

fn managed(address: u64, bytes: usize) -> Done {
    let found = allocate::find(address).filter(|found| found.kind == Kind::Managed);
    must(found.is_some_and(|found| address - found.address + bytes as u64 <= found.bytes))
}

/// Writes one attribute of a pointer.
///
/// # Safety
/// `to` may be written with the attribute's type.
unsafe fn pointer(to: *mut c_void, attribute: u32, address: u64) -> Done {
    let found = allocate::find(address).ok_or(Status::ERROR_INVALID_VALUE)?;
    let host = (found.kind != Kind::Device).then_some(address);
    // SAFETY: the caller vouches for it.
    unsafe {
        match attribute {
            1 => put(to.cast::<usize>(), found.context),
            // The memory type: `CU_MEMORYTYPE_HOST` or `CU_MEMORYTYPE_DEVICE`.
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

exports! {
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> free, total => {
        let device = context::current()?.device;
        let all = Config::get().memory;
        (all.saturating_sub(allocate::used(device)) as usize, all as usize)
    };
    cuMemAlloc_v2(to: *mut u64, bytes: usize) -> to => allocate(to, bytes, Kind::Device, 0)?;
    /// Allocates rows whose pitch is a multiple of 512 bytes.
    cuMemAllocPitch_v2(to: *mut u64, pitch: *mut usize, width: usize, height: usize, _item: u32) -> to => {
        let row = width.checked_next_multiple_of(512).ok_or(Status::ERROR_OUT_OF_MEMORY)?;
        let bytes = row.checked_mul(height).ok_or(Status::ERROR_OUT_OF_MEMORY)?;
        // SAFETY: the caller vouches for it.
        unsafe { put(pitch, row)? };
        allocate(to, bytes, Kind::Device, 0)?
    };
    cuMemAllocAsync(to: *mut u64, bytes: usize, on: usize) -> to => {
        let (_, context) = context::resolve(on)?;
        must(!to.is_null())?;
        allocate::allocate(&context, bytes as u64, Kind::Device, 0)?
    };
    /// Waits for the device, and frees device memory.
    cuMemFree_v2(address: u64) => {
        context::current()?;
        if address == 0 {
            return Ok(());
        }
        free(address, &[Kind::Device, Kind::Managed], Status::ERROR_INVALID_VALUE)
    };
    cuMemFreeAsync(address: u64, on: usize) => {
        if address == 0 { Ok(()) } else { transfer::free_in_order(address, on) }
    };
    cuMemAllocManaged(to: *mut u64, bytes: usize, flags: u32) -> to => {
        // Either `CU_MEM_ATTACH_GLOBAL` or `CU_MEM_ATTACH_HOST`.
        must(flags == 1 || flags == 2)?;
        allocate(to, bytes, Kind::Managed, flags)?
    };
    cuMemAllocHost_v2(to: *mut u64, bytes: usize) -> to => allocate(to, bytes, Kind::Host, 0)?;
    cuMemHostAlloc(to: *mut u64, bytes: usize, flags: u32) -> to => {
        must(flags & !7 == 0)?;
        allocate(to, bytes, Kind::Host, flags)?
    };
    /// Waits for the devices, and frees host memory.
    cuMemFreeHost(host: usize) => free(host as u64, &[Kind::Host], Status::ERROR_INVALID_VALUE);
    /// Returns the same address, as with unified addressing.
    cuMemHostGetDevicePointer_v2(to: *mut u64, host: usize, flags: u32) -> to => {
        host_allocation(host, &[Kind::Host, Kind::Registered])?;
        must(flags == 0)?;
        host as u64
    };
    cuMemHostGetFlags(to: *mut u32, host: usize) -> to => host_allocation(host, &[Kind::Host])?.flags;
    cuMemHostRegister_v2(host: usize, bytes: usize, flags: u32) => {
        allocate::register(&*context::current()?, host, bytes as u64, flags)
    };
    cuMemHostUnregister(host: usize) => {
        free(host as u64, &[Kind::Registered], Status::ERROR_HOST_MEMORY_NOT_REGISTERED)
    };
    cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, address: u64) => {
        context::current()?;
        let found = allocate::find(address).ok_or(Status::ERROR_NOT_FOUND)?;
        // SAFETY: the caller vouches for it; null is allowed.
        unsafe {
            offer(base, found.address);
            offer(bytes, found.bytes as usize);
        }
        Ok(())
    };
    cuPointerGetAttribute(to: *mut c_void, attribute: u32, address: u64) => {
        context::initialized()?;
        // SAFETY: the caller vouches for it.
        unsafe { pointer(to, attribute, address) }
    };
    /// Checks its arguments, without further effect.
    cuMemPrefetchAsync(address: u64, bytes: usize, _device: c_int, on: usize) => {
        context::resolve(on)?;
        managed(address, bytes)
    };
    /// Checks its arguments, without further effect.
    cuMemAdvise(address: u64, bytes: usize, _advice: u32, _device: c_int) => {
        context::current()?;
        managed(address, bytes)
    };
}
