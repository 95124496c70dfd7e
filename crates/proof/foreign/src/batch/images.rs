//! Buffers as ranges of bytes, and bytes as elements of buffers.

use std::collections::{BTreeSet, HashMap};

use wattle_check::checker::{Batch, BatchBuffer};
use wattle_check::search::Address;
use wattle_ir::Type;

use crate::number::Number;
use crate::range::Range;
use crate::world::World;

/// The buffers' elements in bytes.
pub(super) struct Images {
    /// The buffer of each memory of the device, and which number of its elements it holds.
    owners: HashMap<u32, (usize, usize)>,
}

impl Images {
    pub fn of(batch: &Batch) -> Images {
        let mut owners = HashMap::new();
        for (number, buffer) in batch.buffers.iter().enumerate() {
            for leaf in 0..buffer.layout.count() {
                owners.insert(buffer.first + leaf as u32, (number, leaf));
            }
        }
        Images { owners }
    }

    /// The buffer of a memory of the device.
    pub fn buffer(&self, memory: u32) -> Option<usize> {
        self.owners.get(&memory).map(|&(buffer, _)| buffer)
    }

    /// The ranges of the buffers, by their numbers.
    pub fn ranges(&self, batch: &Batch) -> Vec<Range> {
        let range = |buffer: &BatchBuffer| {
            let size = buffer.layout.size();
            let mut initial = vec![None; size * buffer.len];
            for (memory, leaf) in (buffer.first..).zip(buffer.layout.numbers()) {
                let values = batch.memories.get(memory as usize).map_or(&[][..], |memory| memory);
                for (element, value) in initial.chunks_exact_mut(size).zip(values) {
                    let bytes = value.map(u64::to_le_bytes);
                    for (byte, place) in element[leaf.range()].iter_mut().enumerate() {
                        *place = bytes.map(|bytes| bytes[byte]);
                    }
                }
            }
            range_of(buffer, initial)
        };
        batch.buffers.iter().map(range).collect()
    }

    /// The elements that have other values than before, of cells that were written.
    pub fn left(&self, world: &World, batch: &Batch, cells: &[(Address, u64)]) -> Vec<(Address, u64)> {
        let value =
            |address: Address| cells.binary_search_by_key(&address, |(address, _)| *address).ok().map(|at| cells[at].1);
        let mut touched = BTreeSet::new();
        for (Address { memory, element: offset }, _) in cells {
            let Some(buffer) = batch.buffers.get(*memory as usize) else { continue };
            let size = buffer.layout.size() as u64;
            let last = offset + u64::from(world.widths.at(*memory, *offset)) - 1;
            touched.extend((offset / size..=last / size).map(|element| (*memory, element)));
        }
        let mut left = Vec::new();
        for (number, element) in touched {
            let buffer = &batch.buffers[number as usize];
            for (memory, leaf) in (buffer.first..).zip(buffer.layout.numbers()) {
                let from = element * buffer.layout.size() as u64 + u64::from(leaf.offset);
                let bytes: Vec<Option<u8>> =
                    (0..leaf.ty.size() as u64).map(|at| world.final_byte(number, from + at, &value)).collect();
                if bytes.iter().all(Option::is_none) {
                    continue;
                }
                let now = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(byte.unwrap_or(0)));
                let before = batch.memories.get(memory as usize).and_then(|memory| memory.get(element as usize));
                if before.copied().flatten() != Some(now) {
                    left.push((Address { memory, element }, now));
                }
            }
        }
        left.sort_unstable();
        left
    }
}

/// The range of a buffer.
pub(super) fn range_of(buffer: &BatchBuffer, initial: Vec<Option<u8>>) -> Range {
    let name = if buffer.name.is_empty() { "buffer".to_owned() } else { buffer.name.clone() };
    Range {
        name,
        item: item(buffer),
        bytes: (buffer.layout.size() * buffer.len) as u64,
        initial,
        parts: None,
        member: None,
    }
}

/// The type of the items of a buffer whose elements are numbers.
fn item(buffer: &BatchBuffer) -> Option<Number> {
    let [leaf] = buffer.layout.numbers() else { return None };
    // Of a type that assertions have no numbers of, its bits are shown.
    let same = |ty: Type| Number::ALL.into_iter().find(|number| number.name() == ty.name());
    same(leaf.ty).or_else(|| same(leaf.ty.bits_type()))
}
