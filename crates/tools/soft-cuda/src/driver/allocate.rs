//! Allocations: device memory, managed memory, the host's mapped memory.

use std::alloc::{Layout, alloc, dealloc};
use std::sync::{Arc, LazyLock, Mutex};

use super::config::Config;
use super::context::{self, Context};
use super::lock::lock;
use super::status::{Done, Status};
use crate::machine::memory::{DEVICE_TAG, Memory, Region};

/// The kind of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory that only devices reach.
    Device,
    /// Memory that host and devices reach, moved by the driver.
    Managed,
    /// Host memory that the driver allocated, page-locked and mapped.
    Host,
    /// Memory of the program's own, registered with the driver.
    Registered,
}

/// The driver's record of an allocation.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// The address for kernels.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// The kind of memory.
    pub kind: Kind,
    /// The handle of the context that the allocation belongs to.
    pub context: usize,
    /// The device of that context.
    pub device: u32,
    /// The flags of `cuMemHostAlloc` or of the registration.
    pub flags: u32,
}

/// All live allocations, as kernels and copies reach them.
pub static MEMORY: LazyLock<Memory> = LazyLock::new(Memory::default);

static ALLOCATIONS: Mutex<Vec<Allocation>> = Mutex::new(Vec::new());

/// Memory that is freed when nothing uses it any more.
struct Block {
    at: usize,
    layout: Layout,
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `at` was allocated with this layout, and this is its one owner.
        unsafe { dealloc(self.at as *mut u8, self.layout) };
    }
}

/// The byte that never-written memory is filled with.
const PATTERN: u8 = 0xA5;

/// How many bytes of a device's memory are allocated.
pub fn used(device: u32) -> u64 {
    let of_device = |a: &&Allocation| a.device == device && a.kind == Kind::Device;
    lock(&ALLOCATIONS).iter().filter(of_device).map(|allocation| allocation.bytes).sum()
}

/// Allocates `bytes` bytes; returns their address for kernels.
///
/// # Errors
/// No bytes are requested, or more than there are.
pub fn allocate(context: &Context, bytes: u64, kind: Kind, flags: u32) -> Done<u64> {
    if bytes == 0 {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let device = context.device;
    let limit = Config::get().memory;
    if bytes > limit || kind == Kind::Device && used(device) + bytes > limit {
        return Err(Status::ERROR_OUT_OF_MEMORY);
    }
    let align = if kind == Kind::Device { 512 } else { 4096 };
    let layout = usize::try_from(bytes).ok().and_then(|bytes| Layout::from_size_align(bytes, align).ok());
    let Some(layout) = layout else { return Err(Status::ERROR_OUT_OF_MEMORY) };
    // SAFETY: the size is not zero.
    let at = unsafe { alloc(layout) };
    if at.is_null() {
        return Err(Status::ERROR_OUT_OF_MEMORY);
    }
    // SAFETY: it was just allocated, and nothing else refers to it.
    unsafe { at.write_bytes(PATTERN, layout.size()) };
    let host = at.expose_provenance();
    let address = if kind == Kind::Device { host as u64 | DEVICE_TAG } else { host as u64 };
    let keep = Arc::new(Block { at: host, layout });
    let owner = (kind == Kind::Device).then_some(device);
    MEMORY.insert(Region { address, bytes, host, device: owner, _keep: keep });
    lock(&ALLOCATIONS).push(Allocation { address, bytes, kind, context: context.handle, device, flags });
    Ok(address)
}

/// Lets kernels use memory of the program's own.
///
/// # Errors
/// The range is empty, or a part of it is mapped already.
pub fn register(context: &Context, host: usize, bytes: u64, flags: u32) -> Done {
    if host == 0 || bytes == 0 {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let address = host as u64;
    let mut allocations = lock(&ALLOCATIONS);
    if allocations.iter().any(|other| other.address < address + bytes && address < other.address + other.bytes) {
        return Err(Status::ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    MEMORY.insert(Region { address, bytes, host, device: None, _keep: Arc::new(()) });
    let (context, device) = (context.handle, context.device);
    allocations.push(Allocation { address, bytes, kind: Kind::Registered, context, device, flags });
    Ok(())
}

/// The allocation that contains this address; `None` if there is none.
pub fn find(address: u64) -> Option<Allocation> {
    lock(&ALLOCATIONS).iter().find(|a| address >= a.address && address - a.address < a.bytes).copied()
}

/// Frees the allocation that begins at an address, once the device has nothing left to do.
///
/// # Errors
/// No allocation of these kinds begins there; the error is `wrong`.
pub fn free(address: u64, kinds: &[Kind], wrong: Status) -> Done {
    let found = lock(&ALLOCATIONS).iter().find(|a| a.address == address && kinds.contains(&a.kind)).copied();
    let Some(allocation) = found else { return Err(wrong) };
    if allocation.kind == Kind::Device {
        context::device_idle(allocation.device);
    } else {
        (0..Config::get().devices).for_each(context::device_idle);
    }
    release(address);
    Ok(())
}

/// Frees the allocation that begins at an address, at once.
pub fn release(address: u64) {
    lock(&ALLOCATIONS).retain(|allocation| allocation.address != address);
    MEMORY.remove(address);
}

/// Frees all allocations of a context.
pub fn forget(context: usize) {
    let mut gone = Vec::new();
    lock(&ALLOCATIONS).retain(|allocation| {
        if allocation.context == context {
            gone.push(allocation.address);
        }
        allocation.context != context
    });
    gone.into_iter().for_each(|address| drop(MEMORY.remove(address)));
}
