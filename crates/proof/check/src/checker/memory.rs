//! The memory of the checker's device.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use wattle_core::{Memory, MemoryKind, Result, lock};
use wattle_ir::{Type, raw};

use super::run::Run;

pub(super) struct CheckedMemory {
    pub run: Arc<Run>,
    pub id: u32,
    pub element: Type,
    pub kind: MemoryKind,
}

// SAFETY: there is no host pointer.
unsafe impl Memory for CheckedMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.run.shared.reads_back.store(true, Ordering::Relaxed);
        let size = self.element.size();
        let memories = lock(&self.run.memories);
        let Some(memory) = memories.get(self.id as usize) else { return Ok(()) };
        for (bytes, value) in into.chunks_exact_mut(size).zip(memory.iter().skip(offset / size)) {
            raw::to_bytes(value.unwrap_or(0), bytes);
        }
        Ok(())
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        let size = self.element.size();
        let mut memories = lock(&self.run.memories);
        let Some(memory) = memories.get_mut(self.id as usize) else { return Ok(()) };
        for (value, bytes) in memory.iter_mut().skip(offset / size).zip(from.chunks_exact(size)) {
            *value = Some(raw::from_bytes(bytes));
        }
        Ok(())
    }

    unsafe fn copy_from(&self, offset: usize, from: &dyn Memory, from_offset: usize, len: usize) -> Option<Result<()>> {
        let from = from.as_any().downcast_ref::<CheckedMemory>()?;
        if !Arc::ptr_eq(&self.run, &from.run) {
            return None;
        }
        let size = self.element.size();
        let mut memories = lock(&self.run.memories);
        let values: Vec<Option<u64>> =
            memories.get(from.id as usize)?.iter().skip(from_offset / size).take(len / size).copied().collect();
        let to = memories.get_mut(self.id as usize)?;
        to.iter_mut().skip(offset / size).zip(values).for_each(|(to, from)| *to = from);
        Some(Ok(()))
    }

    fn host_pointer(&self) -> Option<NonNull<u8>> {
        None
    }

    fn is_mapped_by_copy(&self) -> bool {
        self.kind != MemoryKind::Device
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
