//! Memory of a Vulkan device as Wattle uses it.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;
use wattle_core::{Allocation, Memory, MemoryKind, Result};

use crate::ahead;
use crate::block::Block;
use crate::context::Context;
use crate::memory_types::Purpose;
use crate::staging::{MOST_RUNS, Run};

/// An allocation on a Vulkan device.
pub(crate) struct VulkanMemory {
    pub(crate) context: Arc<Context>,
    pub(crate) block: ManuallyDrop<Block>,
    /// A number that no two allocations of a process ever share.
    pub(crate) id: u64,
    kind: MemoryKind,
}

impl VulkanMemory {
    pub(crate) fn new(context: &Arc<Context>, request: &Allocation) -> Result<VulkanMemory> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        context.usable()?;
        let block = context.new_block(Purpose::Buffer(request.kind), request.bytes() as u64)?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let kind = request.kind;
        let memory = VulkanMemory { context: context.clone(), block: ManuallyDrop::new(block), id, kind };
        // Memory that the host can see must be initialized for Rust's rules, whatever it held before.
        if request.zeroed || memory.block.mapped.is_some() {
            context.zero(&memory.block)?;
        }
        Ok(memory)
    }

    /// The host address through which the host copies without the device's help, if there is one.
    fn mapped(&self) -> Option<NonNull<u8>> {
        self.block.mapped.filter(|_| self.kind != MemoryKind::Device || !is_staged())
    }

    /// Whether the host copies to and from the memory without the device's help.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped().is_some()
    }

    /// Fills the bytes of these runs with repetitions of `value`; `None` if the device cannot.
    pub(crate) fn fill(&self, runs: &[Run], value: &[u8]) -> Option<Result<()>> {
        if !runs.iter().all(|run| run.offset.is_multiple_of(4) && run.len.is_multiple_of(4)) {
            return None;
        }
        let word = wattle_gpu::word_of(value)?;
        let fill = |runs| self.context.fill_staged(&self.block, runs, u32::from_ne_bytes(word));
        Some(runs.chunks(MOST_RUNS).try_for_each(fill))
    }
}

/// Whether the host copies through a staging buffer even where it could reach the memory.
fn is_staged() -> bool {
    static STAGED: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
        std::env::var_os("WATTLE_VULKAN_STAGED").is_some_and(|value| !value.is_empty() && value != "0")
    });
    *STAGED
}

impl Drop for VulkanMemory {
    fn drop(&mut self) {
        // SAFETY: the allocation is taken nowhere else. Launches and copies own the buffers that they use until they
        // have ended, so the device does not use it; an abandoned launch keeps its buffers for ever.
        unsafe {
            let block = ManuallyDrop::take(&mut self.block);
            self.context.free_block(block);
        }
    }
}

// SAFETY: the host pointer is given where the memory is mapped for as long as the allocation lives; it was zeroed when
// it was allocated, and starts at a multiple of 64, as all blocks do. Only launches and copies of this device touch it
// besides, ordered by the clocks; while a launch that was abandoned may still run, all access is refused.
unsafe impl Memory for VulkanMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        match self.mapped() {
            Some(start) => {
                self.context.usable()?;
                let len = into.len();
                // SAFETY: the caller upholds the contract.
                unsafe { start.add(offset).copy_to_nonoverlapping(NonNull::from(into).cast(), len) };
                self.context.alive()
            }
            None => {
                let run = Run { offset, len: into.len() };
                ahead::read(self, run, into).unwrap_or_else(|| self.context.read_staged(&self.block, offset, into))
            }
        }
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        match self.mapped() {
            Some(start) => {
                self.context.usable()?;
                // SAFETY: the caller upholds the contract.
                unsafe { start.add(offset).copy_from_nonoverlapping(NonNull::from(from).cast(), from.len()) };
                self.context.alive()
            }
            None => {
                let run = Run { offset, len: from.len() };
                ahead::write(self, run, from).unwrap_or_else(|| self.context.write_staged(&self.block, offset, from))
            }
        }
    }

    unsafe fn copy_from(&self, offset: usize, from: &dyn Memory, from_offset: usize, len: usize) -> Option<Result<()>> {
        let from = from.as_any().downcast_ref::<VulkanMemory>()?;
        match (self.mapped(), from.mapped()) {
            (Some(to), Some(start)) => {
                if let Err(error) = self.context.usable().and_then(|()| from.context.usable()) {
                    return Some(Err(error));
                }
                // SAFETY: the caller upholds the contract; where both ends are parts of one buffer, they do not
                // overlap.
                unsafe { to.add(offset).copy_from(start.add(from_offset), len) };
                Some(self.context.alive().and_then(|()| from.context.alive()))
            }
            _ if Arc::ptr_eq(&self.context, &from.context) => {
                let (src_offset, dst_offset) = (from_offset as u64, offset as u64);
                let copy = vk::BufferCopy { src_offset, dst_offset, size: len as u64 };
                Some(self.context.copy_staged(&self.block, &from.block, &[copy]))
            }
            _ => None,
        }
    }

    fn usable(&self) -> Result<()> {
        self.context.usable()
    }

    fn host_pointer(&self) -> Option<NonNull<u8>> {
        self.block.mapped.filter(|_| self.kind != MemoryKind::Device)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
