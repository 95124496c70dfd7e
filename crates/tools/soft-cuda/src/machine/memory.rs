//! The memory that kernels reach: live allocations, and one launch's view of them.
//!
//! Addresses tell spaces apart by bits that no address of the host has. Device memory is at the host's address with
//! [`DEVICE_TAG`], so that a host that dereferences it crashes; memory that both reach has the same address for both.
//! The windows of generic addressing ([`wattle_modules::address`]) lie elsewhere.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::Fault;

/// The bit that is set in addresses of memory that only devices reach.
pub const DEVICE_TAG: u64 = 1 << 56;
/// A live allocation.
#[derive(Clone)]
pub struct Region {
    /// The address for kernels.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// The address for the host.
    pub host: usize,
    /// The device whose memory it is; `None` for memory that all devices and the host reach.
    pub device: Option<u32>,
    /// Keeps the memory while a launch or a copy uses it.
    pub _keep: Arc<dyn Any + Send + Sync>,
}

/// Live allocations, sorted by address.
pub type Table = Vec<Region>;

/// All live allocations of the process.
#[derive(Default)]
pub struct Memory {
    table: RwLock<Arc<Table>>,
    changes: AtomicU64,
}

impl Memory {
    /// The live allocations at this moment.
    pub fn table(&self) -> Arc<Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds an allocation.
    pub fn insert(&self, region: Region) {
        self.change(|table| {
            let at = table.partition_point(|other| other.address < region.address);
            table.insert(at, region);
        });
    }

    /// Removes the allocation that begins at an address; returns it if there is one.
    pub fn remove(&self, address: u64) -> Option<Region> {
        let mut removed = None;
        self.change(|table| {
            removed = table.binary_search_by_key(&address, |region| region.address).ok().map(|at| table.remove(at));
        });
        removed
    }

    fn change(&self, change: impl FnOnce(&mut Table)) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut *table));
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// The allocation that contains these bytes; `None` if there is none.
    pub fn find(&self, address: u64, bytes: u64) -> Option<Region> {
        let table = self.table();
        position(&table, address, bytes).map(|at| table[at].clone())
    }
}

fn position(table: &Table, address: u64, bytes: u64) -> Option<usize> {
    let at = table.partition_point(|region| region.address <= address).checked_sub(1)?;
    let region = &table[at];
    let from = address - region.address;
    (from <= region.bytes && bytes <= region.bytes - from).then_some(at)
}

const RECENT: usize = 64;

/// A launch's view of memory.
pub struct View<'a> {
    memory: &'a Memory,
    table: Arc<Table>,
    changes: u64,
    /// The devices whose memory the launch may use, one bit each.
    devices: u64,
    /// The position in the table of the region that an instruction used last, by the instruction's number.
    recent: [usize; RECENT],
    /// The number of the instruction that is being executed.
    pub instruction: usize,
}

impl<'a> View<'a> {
    /// The view of a launch that reaches the memory of `devices`, one bit each.
    pub fn new(memory: &'a Memory, devices: u64) -> View<'a> {
        let changes = memory.changes.load(Ordering::Acquire);
        View { memory, table: memory.table(), changes, devices, recent: [usize::MAX; RECENT], instruction: 0 }
    }

    /// Updates the view if allocations have come or gone.
    pub fn refresh(&mut self) {
        let changes = self.memory.changes.load(Ordering::Acquire);
        if changes != self.changes {
            (self.changes, self.table, self.recent) = (changes, self.memory.table(), [usize::MAX; RECENT]);
        }
    }

    /// The host address of bytes that the kernel accesses.
    ///
    /// # Errors
    /// The bytes are not allocated, or not aligned.
    #[inline]
    pub fn at(&mut self, address: u64, bytes: u64) -> Result<usize, Fault> {
        if address & (bytes - 1) != 0 {
            return Err(Fault::Misaligned { address, bytes });
        }
        if let Some(region) = self.table.get(self.recent[self.instruction % RECENT]) {
            let from = address.wrapping_sub(region.address);
            if from < region.bytes && bytes <= region.bytes - from {
                return Ok(region.host + from as usize);
            }
        }
        self.search(address, bytes)
    }

    #[cold]
    fn search(&mut self, address: u64, bytes: u64) -> Result<usize, Fault> {
        self.refresh();
        let Some(at) = position(&self.table, address, bytes) else { return Err(Fault::Illegal { address, bytes }) };
        let region = &self.table[at];
        if region.device.is_some_and(|device| self.devices >> device & 1 == 0) {
            return Err(Fault::Illegal { address, bytes });
        }
        self.recent[self.instruction % RECENT] = at;
        Ok(region.host + (address - region.address) as usize)
    }
}

/// Copies bytes that other threads may access at the same time: words that are aligned on both sides are not torn.
///
/// # Safety
/// Both ranges are allocated while this runs, for reading and writing; other threads use them by atomic accesses only,
/// or do not use them.
pub unsafe fn copy(to: usize, from: usize, bytes: usize) {
    use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64 as Wide, Ordering::Relaxed};
    let mut at = 0;
    while at < bytes {
        let (to, from, left) = (to + at, from + at, bytes - at);
        let aligned = to | from;
        // SAFETY: the bytes are within both ranges and aligned for their type; the caller vouches for the rest.
        unsafe {
            if aligned & 7 == 0 && left >= 8 {
                Wide::from_ptr(to as *mut u64).store(Wide::from_ptr(from as *mut u64).load(Relaxed), Relaxed);
                at += 8;
            } else if aligned & 3 == 0 && left >= 4 {
                AtomicU32::from_ptr(to as *mut u32).store(AtomicU32::from_ptr(from as *mut u32).load(Relaxed), Relaxed);
                at += 4;
            } else {
                AtomicU8::from_ptr(to as *mut u8).store(AtomicU8::from_ptr(from as *mut u8).load(Relaxed), Relaxed);
                at += 1;
            }
        }
    }
}
