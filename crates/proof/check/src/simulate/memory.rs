//! The simulated device's memory: values, whether they have been written, and the history of their accesses.

use std::ops::Range;

use thiserror::Error;
use wattle_ir::Type;

use super::shadow::Shadow;

/// The maximum number of elements of one allocation.
pub(super) const MAX_ELEMENTS: usize = 1 << 28;

/// An allocation of a simulator. It is valid in that simulator alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId {
    pub(super) index: u32,
    pub(super) serial: u32,
}

impl From<MemoryId> for u64 {
    fn from(id: MemoryId) -> u64 {
        u64::from(id.serial) << 32 | u64::from(id.index)
    }
}

impl From<u64> for MemoryId {
    fn from(number: u64) -> MemoryId {
        MemoryId { index: number as u32, serial: (number >> 32) as u32 }
    }
}

/// The initial contents of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Init {
    /// Unwritten elements, which must not be read.
    Unwritten,
    /// Zeros.
    Zero,
}

/// Elements that the host has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The values as raw words; 0 for an unwritten element.
    pub values: Vec<u64>,
    /// The unwritten elements, ascending, counted from the allocation's start.
    pub unwritten: Vec<usize>,
}

/// The reason why the host cannot use memory this way.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The allocation is not of this simulator, or is freed.
    #[error("{0:?} is no allocation of this simulator: it was freed, or belongs to another one")]
    Unknown(MemoryId),
    /// The range is not in the allocation.
    #[error("elements {start}..{end} are not in an allocation of {len}")]
    Range {
        /// The first element.
        start: usize,
        /// The element after the last one.
        end: usize,
        /// The length of the allocation.
        len: usize,
    },
    /// A launch in flight uses the allocation.
    #[error("launch `{launch}` is in flight and uses {memory:?}: wait for it before freeing")]
    InUse {
        /// The allocation.
        memory: MemoryId,
        /// The launch's label.
        launch: String,
    },
    /// The allocation has more elements than the simulator supports.
    #[error("an allocation of {elements} elements: the simulated device holds at most {max} in one", max = MAX_ELEMENTS)]
    TooLarge {
        /// The requested number of elements.
        elements: usize,
    },
    /// Memory cannot hold elements of this type, `bool`.
    #[error("memory holds no {0}")]
    Element(Type),
}

/// The address of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub memory: u32,
    pub element: u64,
}

/// The bytes of an element that have been written, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written(u8);

impl Written {
    pub const NOTHING: Written = Written(0);
    pub const ALL: Written = Written(u8::MAX);

    /// Whether each of these bytes has been written.
    pub fn has(self, bytes: Range<usize>) -> bool {
        bytes.into_iter().all(|byte| self.0 >> byte & 1 == 1)
    }

    /// Adds bytes, of an element of `size` bytes.
    pub fn add(&mut self, bytes: Range<usize>, size: usize) {
        bytes.into_iter().for_each(|byte| self.0 |= 1 << byte);
        if self.has(0..size) {
            *self = Written::ALL;
        }
    }

    /// Marks bytes as not written.
    pub fn remove(&mut self, bytes: Range<usize>) {
        bytes.into_iter().for_each(|byte| self.0 &= !(1 << byte));
    }
}

pub(super) struct Allocation {
    pub element: Type,
    pub values: Vec<u64>,
    /// The bytes of each element that have been written, as the bits of [`Written`].
    pub written: Vec<Written>,
    serial: u32,
    shadows: Vec<Option<Box<Shadow>>>,
}

/// All allocations, the blocks' shared arrays among them.
#[derive(Default)]
pub(super) struct Memories {
    slots: Vec<Option<Allocation>>,
    free: Vec<u32>,
    serial: u32,
}

impl Memories {
    pub fn allocate(&mut self, element: Type, elements: usize, init: Init) -> MemoryId {
        self.serial = self.serial.wrapping_add(1);
        let allocation = Allocation {
            element,
            values: vec![0; elements],
            written: vec![if init == Init::Zero { Written::ALL } else { Written::NOTHING }; elements],
            serial: self.serial,
            shadows: Vec::new(),
        };
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = Some(allocation);
        }
        MemoryId { index, serial: self.serial }
    }

    pub fn free(&mut self, id: MemoryId) {
        if self.get(id).is_ok() {
            self.slots[id.index as usize] = None;
            self.free.push(id.index);
        }
    }

    pub fn get(&self, id: MemoryId) -> Result<&Allocation, MemoryError> {
        let slot = self.slots.get(id.index as usize).and_then(Option::as_ref);
        slot.filter(|slot| slot.serial == id.serial).ok_or(MemoryError::Unknown(id))
    }

    pub fn get_mut(&mut self, id: MemoryId) -> Result<&mut Allocation, MemoryError> {
        let slot = self.slots.get_mut(id.index as usize).and_then(Option::as_mut);
        slot.filter(|slot| slot.serial == id.serial).ok_or(MemoryError::Unknown(id))
    }

    pub fn at(&mut self, address: Address) -> Option<&mut Allocation> {
        self.slots.get_mut(address.memory as usize).and_then(Option::as_mut)
    }

    /// The history of an element in this generation.
    pub fn shadow(&mut self, address: Address, generation: u64) -> Option<&mut Shadow> {
        let allocation = self.at(address)?;
        if allocation.shadows.is_empty() {
            allocation.shadows.resize_with(allocation.values.len(), || None);
        }
        let shadow = allocation.shadows.get_mut(address.element as usize)?.get_or_insert_default();
        if shadow.generation != generation {
            **shadow = Shadow::of(generation);
        }
        Some(shadow)
    }
}

impl Allocation {
    pub fn range(&self, range: &Range<usize>) -> Result<Range<usize>, MemoryError> {
        let (start, end, len) = (range.start, range.end, self.values.len());
        if start <= end && end <= len { Ok(start..end) } else { Err(MemoryError::Range { start, end, len }) }
    }

    pub fn read(&self, range: Range<usize>) -> Result<Contents, MemoryError> {
        let range = self.range(&range)?;
        let unwritten = range.clone().filter(|&element| self.written[element] != Written::ALL).collect();
        Ok(Contents { values: self.values[range].to_vec(), unwritten })
    }

    /// Forgets the last writer of an element after the host has written it.
    pub fn forget_writer(&mut self, element: usize) {
        if let Some(Some(shadow)) = self.shadows.get_mut(element) {
            shadow.forget_writer();
        }
    }
}

/// The mask of the bits of a type's values.
pub(super) fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - 8 * ty.size() as u32)
}
