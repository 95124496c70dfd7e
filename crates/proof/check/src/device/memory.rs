//! The memory of the simulated device.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use wattle_core::{Memory, MemoryKind, Result, lock, system};
use wattle_ir::{Type, raw};

use super::State;
use crate::simulate::MemoryId;

pub(super) struct SimulatedMemory {
    pub(super) state: Arc<State>,
    pub(super) id: MemoryId,
    pub(super) element: Type,
    pub(super) kind: MemoryKind,
}

impl Drop for SimulatedMemory {
    fn drop(&mut self) {
        lock(&self.state.freed).push(self.id);
    }
}

// SAFETY: there is no host pointer.
unsafe impl Memory for SimulatedMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        let size = self.element.size();
        let range = offset / size..(offset + into.len()) / size;
        let contents = lock(&self.state.simulator).read(self.id, range).map_err(|error| system("reading", error))?;
        for (bytes, value) in into.chunks_exact_mut(size).zip(contents.values) {
            raw::to_bytes(value, bytes);
        }
        Ok(())
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        let size = self.element.size();
        let values: Vec<_> = from.chunks_exact(size).map(raw::from_bytes).collect();
        let mut simulator = lock(&self.state.simulator);
        simulator.write(self.id, offset / size, &values).map_err(|error| system("writing", error))
    }

    unsafe fn copy_from(&self, offset: usize, from: &dyn Memory, from_offset: usize, len: usize) -> Option<Result<()>> {
        let from = from.as_any().downcast_ref::<SimulatedMemory>()?;
        if !Arc::ptr_eq(&self.state, &from.state) {
            return None;
        }
        let size = self.element.size();
        let range = from_offset / size..(from_offset + len) / size;
        let copied = lock(&self.state.simulator).copy(from.id, range, self.id, offset / size);
        Some(copied.map_err(|error| system("copying", error)))
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
