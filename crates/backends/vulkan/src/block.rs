//! A Vulkan buffer with memory of its own.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use gpu_allocator::{AllocationError, MemoryLocation};
use wattle_core::{Error, ErrorKind, Result, lock};
use wattle_gpu::cannot;

use crate::context::Context;
use crate::error::words;
use crate::exit;
use crate::memory_types::{MemoryType, Purpose, choose};

/// Sizes are multiples of this, so that a kernel can take small elements by the word, and a copy whole vectors.
pub(crate) const PADDING: u64 = 16;

/// A buffer with memory of its own. Its owner frees it with [`Context::free_block`].
pub(crate) struct Block {
    pub(crate) buffer: vk::Buffer,
    /// The host address, if the host can reach the memory; it is coherent, so no flush is needed.
    pub(crate) mapped: Option<NonNull<u8>>,
    /// The size in bytes, a multiple of [`PADDING`].
    pub(crate) bytes: u64,
    allocation: Allocation,
    heap: u32,
}

// SAFETY: the pointer is to memory that lives until the block is given back. Its owner synchronizes the accesses.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Context {
    /// Allocates a buffer with unspecified contents.
    pub(crate) fn new_block(&self, purpose: Purpose, bytes: u64) -> Result<Block> {
        self.alive()?;
        let asked = bytes;
        let Some(bytes) = bytes.max(1).checked_next_multiple_of(PADDING) else {
            return Err(self.refuse(asked, "that is beyond the address space".into()));
        };
        // Drivers answer requests that exceed the device's limits in ways of their own.
        let place = self.memory_type(purpose, u32::MAX).ok_or_else(|| self.no_type(purpose))?;
        self.fits(asked, bytes, place)?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: the device is alive, and the description is whole.
        let buffer = unsafe { self.device().create_buffer(&info, None) };
        let buffer = self.check("making a buffer", buffer)?;
        match self.back(purpose, buffer, asked) {
            Ok((allocation, place)) => {
                let mapped = allocation.mapped_ptr().filter(|_| place.is_mapped).map(NonNull::cast);
                self.held[place.heap as usize].fetch_add(allocation.size(), Ordering::Relaxed);
                Ok(Block { buffer, mapped, bytes, allocation, heap: place.heap })
            }
            Err(error) => {
                // SAFETY: it was made here, and nothing else has its handle.
                unsafe { self.device().destroy_buffer(buffer, None) };
                Err(error)
            }
        }
    }

    /// Allocates memory for a buffer and binds it.
    fn back(&self, purpose: Purpose, buffer: vk::Buffer, asked: u64) -> Result<(Allocation, MemoryType)> {
        // SAFETY: the buffer is this device's.
        let mut requirements = unsafe { self.device().get_buffer_memory_requirements(buffer) };
        let place = self.memory_type(purpose, requirements.memory_type_bits).ok_or_else(|| self.no_type(purpose))?;
        self.fits(asked, requirements.size, place)?;
        requirements.memory_type_bits = 1 << place.index;
        requirements.alignment = requirements.alignment.max(PADDING).max(64);
        let _inside = exit::enter();
        let allocated = lock(&self.allocator).allocate(&AllocationCreateDesc {
            name: "wattle",
            requirements,
            location: MemoryLocation::Unknown,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        });
        let allocation = allocated.map_err(|error| match error {
            AllocationError::OutOfMemory => self.refuse(asked, format!("the driver has no more; {}", self.heap(place))),
            other => self.refuse(asked, format!("{other}; {}", self.heap(place))),
        })?;
        // SAFETY: the allocation is of the buffer's size, alignment and type, and is bound to nothing else.
        let bound = unsafe { self.device().bind_buffer_memory(buffer, allocation.memory(), allocation.offset()) };
        match bound {
            Ok(()) => Ok((allocation, place)),
            Err(error) => {
                // The allocator takes back an allocation that it made.
                let _ = lock(&self.allocator).free(allocation);
                Err(self.refuse(asked, words(error)))
            }
        }
    }

    fn memory_type(&self, purpose: Purpose, allowed: u32) -> Option<MemoryType> {
        choose(&self.physical.memory, self.physical.shares_memory, purpose, allowed)
    }

    /// Refuses a request that exceeds the heap.
    fn fits(&self, asked: u64, bytes: u64, place: MemoryType) -> Result<()> {
        let most = self.physical.most_bytes;
        if bytes > most {
            return Err(self.refuse(asked, format!("one buffer can have {most} there")));
        }
        let heap = self.physical.memory.memory_heaps[place.heap as usize].size;
        let held = self.held[place.heap as usize].load(Ordering::Relaxed);
        if held.saturating_add(bytes) > heap {
            return Err(self.refuse(asked, self.heap(place)));
        }
        Ok(())
    }

    /// Describes how much memory a heap has and how much is used.
    fn heap(&self, place: MemoryType) -> String {
        let heap = self.physical.memory.memory_heaps[place.heap as usize].size;
        let held = self.held[place.heap as usize].load(Ordering::Relaxed);
        format!("its heap has {heap}, and buffers hold {held}")
    }

    #[cold]
    fn refuse(&self, bytes: u64, why: String) -> Error {
        ErrorKind::OutOfMemory { device: self.name().to_owned(), bytes, why }.into()
    }

    #[cold]
    fn no_type(&self, purpose: Purpose) -> Error {
        let what = match purpose {
            Purpose::Buffer(wattle_core::MemoryKind::Device) => "allocate buffers: it has no memory for them",
            _ => "share memory with the host: it has no memory that both reach",
        };
        cannot(self.name(), what, "allocate with `alloc`, and copy")
    }

    /// Frees a block.
    ///
    /// # Safety
    /// The device no longer uses the block.
    pub(crate) unsafe fn free_block(&self, block: Block) {
        let _inside = exit::enter();
        // SAFETY: by the caller's contract the device does not use it; it is destroyed once, since this function owns
        // it.
        unsafe { self.device().destroy_buffer(block.buffer, None) };
        self.held[block.heap as usize].fetch_sub(block.allocation.size(), Ordering::Relaxed);
        // The allocator takes back an allocation that it made.
        let _ = lock(&self.allocator).free(block.allocation);
    }
}
