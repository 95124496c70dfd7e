//! The memory of the simulated device.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use wattle_core::{Memory, MemoryKind, Result, lock, system};
use wattle_ir::{ElementLayout, Leaf, raw};

use super::DeviceState;
use crate::simulate::MemoryId;

pub(super) struct SimulatedMemory {
    pub(super) state: Arc<DeviceState>,
    /// The memory of each number of the elements.
    pub(super) ids: Vec<MemoryId>,
    pub(super) layout: &'static ElementLayout,
    pub(super) kind: MemoryKind,
}

impl SimulatedMemory {
    fn numbers(&self) -> impl Iterator<Item = (MemoryId, &'static Leaf)> {
        self.ids.iter().copied().zip(self.layout.numbers())
    }
}

impl Drop for SimulatedMemory {
    fn drop(&mut self) {
        lock(&self.state.freed).extend(&self.ids);
    }
}

// SAFETY: there is no host pointer.
unsafe impl Memory for SimulatedMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        let size = self.layout.size();
        for (id, leaf) in self.numbers() {
            let range = offset / size..(offset + into.len()) / size;
            let first = range.start;
            let mut contents = lock(&self.state.simulator).read(id, range).map_err(|error| system("reading", error))?;
            for element in contents.unwritten {
                contents.values[element - first] = leaf.unwritten();
            }
            for (bytes, value) in into.chunks_exact_mut(size).zip(contents.values) {
                raw::to_bytes(value, &mut bytes[leaf.range()]);
            }
        }
        Ok(())
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        let size = self.layout.size();
        for (id, leaf) in self.numbers() {
            let values: Vec<_> = from.chunks_exact(size).map(|bytes| raw::from_bytes(&bytes[leaf.range()])).collect();
            let mut simulator = lock(&self.state.simulator);
            simulator.write(id, offset / size, &values).map_err(|error| system("writing", error))?;
        }
        Ok(())
    }

    unsafe fn copy_from(&self, offset: usize, from: &dyn Memory, from_offset: usize, len: usize) -> Option<Result<()>> {
        let from = from.as_any().downcast_ref::<SimulatedMemory>()?;
        if !Arc::ptr_eq(&self.state, &from.state) {
            return None;
        }
        let size = self.layout.size();
        let range = from_offset / size..(from_offset + len) / size;
        let mut simulator = lock(&self.state.simulator);
        let mut pairs = from.ids.iter().zip(&self.ids);
        let copied = pairs.try_for_each(|(&from, &to)| simulator.copy(from, range.clone(), to, offset / size));
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
