//! The bytes that modules address, as parts of the elements of memories.

use super::history::Extent;
use super::memory::{Address, Memories, MemoryError, MemoryId};

/// The most bytes of one access, and so the most elements that it touches.
const WIDEST: usize = 8;

/// A buffer that a module's kernel can reach: a range of its addresses.
#[derive(Clone, Debug)]
pub struct ModuleBuffer {
    /// The memories that hold it: of each its identifier, and the offset of its first number in an element.
    pub memories: Vec<(MemoryId, u32)>,
    /// The size of an element in bytes.
    pub stride: u64,
}

/// A range of bytes that memories hold: the elements of a buffer, or of each number of them where they are structs.
#[derive(Clone, Debug)]
pub(super) struct ByteMemory {
    numbers: Box<[Number]>,
    stride: u64,
}

/// A memory that holds one number of each element.
#[derive(Clone, Copy, Debug)]
struct Number {
    memory: u32,
    /// The offset in an element, and the size of the number.
    offset: u32,
    size: u8,
}

/// The part of an access that one element has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub address: Address,
    /// The bytes of the access, counted from the element's first one.
    pub extent: Extent,
    /// The size of the element.
    pub size: u8,
}

/// The parts of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    all: [Piece; WIDEST],
    count: usize,
    /// The number of bytes that the elements have: fewer than those of the access where it covers the padding of a
    /// struct.
    pub bytes: usize,
}

impl Piece {
    /// The lowest bit of the access in the element's value: how far it is above the element's lowest, or below.
    fn shift(&self) -> i32 {
        8 * i32::from(self.extent.first)
    }

    /// The bits of the element that the access has.
    fn mask(&self) -> u64 {
        let within = self.extent.within(self.size.into());
        (u64::MAX >> (64 - 8 * within.len() as u32)) << (8 * within.start)
    }

    /// The part of the access's value that the element's value is.
    pub fn of_element(&self, element: u64) -> u64 {
        let bits = element & self.mask();
        if self.shift() >= 0 { bits >> self.shift() } else { bits << -self.shift() }
    }

    /// The element's value with the access's in it.
    pub fn into_element(self, element: u64, value: u64) -> u64 {
        let bits = if self.shift() >= 0 { value << self.shift() } else { value >> -self.shift() };
        element & !self.mask() | bits & self.mask()
    }
}

impl Pieces {
    pub const NONE: Pieces = Pieces {
        all: [Piece { address: Address { memory: 0, element: 0 }, extent: Extent { first: 0, bytes: 0 }, size: 1 };
            WIDEST],
        count: 0,
        bytes: 0,
    };

    fn add(&mut self, piece: Piece) {
        if let Some(slot) = self.all.get_mut(self.count) {
            *slot = piece;
            self.count += 1;
            self.bytes += piece.extent.within(piece.size.into()).len();
        }
    }
}

impl std::ops::Deref for Pieces {
    type Target = [Piece];

    fn deref(&self) -> &[Piece] {
        &self.all[..self.count]
    }
}

impl ByteMemory {
    /// The bytes of a buffer.
    ///
    /// # Errors
    /// A memory of it does not exist.
    pub fn of(buffer: &ModuleBuffer, memories: &Memories) -> Result<ByteMemory, MemoryError> {
        let number = |&(id, offset): &_| {
            let size = memories.get(id)?.element.size() as u8;
            Ok(Number { memory: id.index, offset, size })
        };
        let numbers = buffer.memories.iter().map(number).collect::<Result<_, MemoryError>>()?;
        Ok(ByteMemory { numbers, stride: buffer.stride.max(1) })
    }

    /// The bytes of a memory of elements of 4 bytes.
    pub fn words(memory: u32) -> ByteMemory {
        ByteMemory { numbers: Box::new([Number { memory, offset: 0, size: 4 }]), stride: 4 }
    }

    /// Whether the memory of that number holds a part of it.
    pub fn is_in(&self, memory: u32) -> bool {
        self.numbers.iter().any(|number| number.memory == memory)
    }

    /// The parts of an access.
    pub fn pieces(&self, offset: u64, bytes: u8) -> Pieces {
        let mut pieces = Pieces::NONE;
        let end = offset + u64::from(bytes);
        for element in offset / self.stride..end.div_ceil(self.stride) {
            for &Number { memory, offset: within, size } in &self.numbers {
                let from = element * self.stride + u64::from(within);
                if from < end && offset < from + u64::from(size) {
                    // Both are within 8 bytes of each other.
                    let extent = Extent { first: offset.wrapping_sub(from) as i8, bytes };
                    pieces.add(Piece { address: Address { memory, element }, extent, size });
                }
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever bytes are written, and whatever bytes are read, memory is as if it were bytes.
    #[test]
    fn accesses_of_any_bytes_are_parts_of_elements() {
        let number = |memory, offset, size| Number { memory, offset, size };
        let layouts = [
            ByteMemory { numbers: Box::new([number(0, 0, 1)]), stride: 1 },
            ByteMemory { numbers: Box::new([number(0, 0, 2)]), stride: 2 },
            ByteMemory::words(0),
            ByteMemory { numbers: Box::new([number(0, 0, 8)]), stride: 8 },
            ByteMemory { numbers: Box::new([number(0, 0, 4), number(1, 4, 2), number(2, 6, 2)]), stride: 8 },
            ByteMemory { numbers: Box::new([number(0, 8, 4), number(1, 0, 8), number(2, 12, 4)]), stride: 16 },
        ];
        for memory in &layouts {
            for (offset, bytes) in (0..24u64).flat_map(|offset| [1u8, 2, 4, 8].map(|bytes| (offset, bytes))) {
                let mut held = vec![[0u64; 32]; 3];
                let value = 0x8877_6655_4433_2211 & (u64::MAX >> (64 - 8 * u32::from(bytes)));
                let pieces = memory.pieces(offset, bytes);
                assert_eq!(pieces.bytes, usize::from(bytes), "{memory:?}, {offset}");
                for piece in pieces.iter() {
                    let element = &mut held[piece.address.memory as usize][piece.address.element as usize];
                    *element = piece.into_element(*element, value);
                }
                for at in 0..32 {
                    let [piece] = memory.pieces(at, 1)[..] else { panic!("one element has a byte") };
                    let element = held[piece.address.memory as usize][piece.address.element as usize];
                    let expected =
                        at.checked_sub(offset).filter(|at| *at < bytes.into()).map_or(0, |at| value >> (8 * at) & 0xff);
                    assert_eq!(piece.of_element(element), expected, "{memory:?}, {offset}, {bytes}, {at}");
                }
                let whole = pieces.iter().fold(0, |whole, piece| {
                    whole | piece.of_element(held[piece.address.memory as usize][piece.address.element as usize])
                });
                assert_eq!(whole, value);
            }
        }
    }
}
