//! The memory of the checker's device.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use wattle_core::{Memory, MemoryKind, Result, lock};
use wattle_ir::{ElementLayout, Leaf, raw};

use super::run::{Run, open_value};
use crate::search::Address;

pub(super) struct CheckedMemory {
    pub run: Arc<Run>,
    /// The memory of the elements' first number; those of the others stand behind.
    pub first: u32,
    pub layout: &'static ElementLayout,
    pub kind: MemoryKind,
}

impl CheckedMemory {
    /// What the host reads of an element that nobody has written, in this run.
    fn unwritten(&self, leaf: &Leaf, element: usize, len: usize) -> u64 {
        let text = || format!("element {element} of a buffer of {len}{}", leaf.path());
        lock(&self.run.path).unwritten.get_or_insert_with(text);
        if self.run.fills { leaf.unwritten() } else { 0 }
    }

    /// The cells of some elements' numbers, of which each element has several.
    fn elements(&self, number: usize, first: usize, len: usize) -> impl Iterator<Item = Address> {
        let memory = self.of(number);
        (first..first + len).map(move |element| Address { memory, element: element as u64 })
    }

    /// Notes whether executions leave different values in some of these elements, and ends the run then.
    fn look(&self, first: usize, len: usize) -> Result<()> {
        let open = lock(&self.run.open);
        let mut cells = (0..self.layout.count()).flat_map(|number| self.elements(number, first, len));
        if !open.is_empty() && cells.any(|address| open.contains(&address)) {
            lock(&self.run.path).looks_at_open = true;
            return Err(open_value());
        }
        Ok(())
    }

    /// The memory of this number of the elements.
    pub fn of(&self, number: usize) -> u32 {
        self.first + number as u32
    }
}

// SAFETY: there is no host pointer.
unsafe impl Memory for CheckedMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.run.shared.reads_back.store(true, Ordering::Relaxed);
        let memories = lock(&self.run.memories);
        let size = self.layout.size();
        self.look(offset / size, into.len() / size)?;
        for (number, leaf) in self.layout.numbers().iter().enumerate() {
            let Some(memory) = memories.get(self.of(number) as usize) else { continue };
            let values = memory.iter().enumerate().skip(offset / size);
            for (bytes, (element, value)) in into.chunks_exact_mut(size).zip(values) {
                let value = value.unwrap_or_else(|| self.unwritten(leaf, element, memory.len()));
                raw::to_bytes(value, &mut bytes[leaf.range()]);
            }
        }
        Ok(())
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        let (mut memories, mut open) = (lock(&self.run.memories), lock(&self.run.open));
        let size = self.layout.size();
        for (number, leaf) in self.layout.numbers().iter().enumerate() {
            let Some(memory) = memories.get_mut(self.of(number) as usize) else { continue };
            self.elements(number, offset / size, from.len() / size).for_each(|address| _ = open.remove(&address));
            for (value, bytes) in memory.iter_mut().skip(offset / size).zip(from.chunks_exact(size)) {
                *value = Some(raw::from_bytes(&bytes[leaf.range()]));
            }
        }
        Ok(())
    }

    unsafe fn copy_from(&self, offset: usize, from: &dyn Memory, from_offset: usize, len: usize) -> Option<Result<()>> {
        let from = from.as_any().downcast_ref::<CheckedMemory>()?;
        if !Arc::ptr_eq(&self.run, &from.run) {
            return None;
        }
        let size = self.layout.size();
        if let Err(error) = from.look(from_offset / size, len / size) {
            return Some(Err(error));
        }
        let mut memories = lock(&self.run.memories);
        for number in 0..self.layout.count() {
            let memory = memories.get(from.of(number) as usize)?;
            let values: Vec<Option<u64>> = memory.iter().skip(from_offset / size).take(len / size).copied().collect();
            let to = memories.get_mut(self.of(number) as usize)?;
            to.iter_mut().skip(offset / size).zip(values).for_each(|(to, from)| *to = from);
        }
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
