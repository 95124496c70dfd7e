//! A block of a launch on the host: its place, and its shared memory.

use std::cell::{Cell, RefCell};

use wattle_ir::MAX_RANK;

use super::launch_state::LaunchState;
use crate::memory::zeros;

/// How much shared memory a block can have, in bytes.
pub(crate) const SHARED_MEMORY: u64 = 16 << 20;

/// How the block's arrays are aligned, in bytes: no vector that is read or written at a multiple of its size is in two
/// lines of the processor's cache.
const ALIGNMENT: usize = 64;

/// What the threads of a block have in common.
pub(crate) struct Block<'l> {
    launch: &'l LaunchState,
    index: [u32; MAX_RANK],
    /// Index, in the worker's list of arrays, of the block's first shared array.
    first_array: Cell<usize>,
    /// The number of the block's shared arrays.
    arrays: Cell<usize>,
    /// The size of all these arrays in bytes.
    bytes: Cell<u64>,
}

/// A shared array for which there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory {
    /// The bytes of all the block's arrays, with the one that is lacking.
    pub asked: u64,
    /// The bytes that there are for a block; 0 where the host has none.
    pub available: u64,
}

impl<'l> Block<'l> {
    /// The block with this row-major number.
    #[inline]
    pub(crate) fn new(launch: &'l LaunchState, number: u32) -> Self {
        let index = launch.block_index(number);
        Block { launch, index, first_array: Cell::new(0), arrays: Cell::new(0), bytes: Cell::new(0) }
    }

    #[inline(always)]
    pub(crate) fn launch(&self) -> &'l LaunchState {
        self.launch
    }

    #[inline(always)]
    pub(crate) fn index(&self) -> [u32; MAX_RANK] {
        self.index
    }

    /// The shared array with this number: `bytes` bytes, aligned to [`ALIGNMENT`]. Every thread asks for the arrays at
    /// the top of the kernel, so each in the same order; the first one to ask makes it.
    ///
    /// The pointer is good until the block is dropped; a block that this worker runs within it has other arrays.
    pub(crate) fn array(&self, number: usize, bytes: u64) -> Result<*mut u8, NoMemory> {
        if number < self.arrays.get() {
            let array = SCRATCH.with_borrow(|scratch| scratch[self.first_array.get() + number].lent(bytes));
            return array.ok_or(NoMemory { asked: self.bytes.get(), available: 0 });
        }
        let asked = self.bytes.get().saturating_add(bytes);
        self.bytes.set(asked);
        // A block within this one ends before this one goes on, so the arrays of each stand together.
        let next = ARRAYS_IN_USE.replace(ARRAYS_IN_USE.get() + 1);
        if self.arrays.replace(self.arrays.get() + 1) == 0 {
            self.first_array.set(next);
        }
        let is_lacking = asked > SHARED_MEMORY;
        let array = SCRATCH.with_borrow_mut(|scratch| {
            while scratch.len() <= next {
                scratch.push(Scratch::default());
            }
            scratch[next].lend(bytes, is_lacking)
        });
        array.ok_or(NoMemory { asked, available: if is_lacking { SHARED_MEMORY } else { 0 } })
    }
}

impl Drop for Block<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.arrays.get() > 0 {
            ARRAYS_IN_USE.set(ARRAYS_IN_USE.get() - self.arrays.get());
        }
    }
}

/// Memory for one shared array of a block that runs on this worker. It keeps what the last block left there.
#[derive(Default)]
struct Scratch {
    start: Option<std::ptr::NonNull<u64>>,
    words: usize,
    /// The size of the part that the block which runs now has, in bytes; `None` where memory is lacking.
    lent: Option<u64>,
}

thread_local! {
    static SCRATCH: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
    /// The number of the arrays that belong to blocks which run on this worker now: one block, or blocks within each
    /// other.
    static ARRAYS_IN_USE: Cell<usize> = const { Cell::new(0) };
}

impl Scratch {
    /// Lends at least `bytes` bytes to a block. `None` where the host has no memory for them, or where the block
    /// `is_lacking` memory already.
    fn lend(&mut self, bytes: u64, is_lacking: bool) -> Option<*mut u8> {
        self.lent = None;
        if is_lacking {
            return None;
        }
        let words = (bytes as usize + ALIGNMENT).div_ceil(size_of::<u64>());
        if self.words < words || self.start.is_none() {
            self.release();
            let slice = Box::leak(zeros::<u64>(words).ok()?.into_boxed_slice());
            self.start = std::ptr::NonNull::new(slice.as_mut_ptr());
            self.words = words;
        }
        self.lent = Some(bytes);
        self.lent(bytes)
    }

    /// The first `bytes` bytes, where the block has as many.
    fn lent(&self, bytes: u64) -> Option<*mut u8> {
        let start = self.start.filter(|_| self.lent.is_some_and(|lent| bytes <= lent));
        // There are as many bytes more.
        start.map(|start| start.as_ptr().cast::<u8>()).map(|start| start.wrapping_add(start.align_offset(ALIGNMENT)))
    }

    fn release(&mut self) {
        if let Some(start) = self.start.take() {
            let slice = std::ptr::slice_from_raw_parts_mut(start.as_ptr(), self.words);
            // SAFETY: `lend` leaked a box of exactly this slice, and `take` sees to it that it is freed once. No
            // view of it is left: see `Block::array`.
            drop(unsafe { Box::from_raw(slice) });
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::tests::state;

    #[test]
    fn a_block_within_another_has_shared_memory_of_its_own() {
        let state = state(1);
        let outer = Block::new(&state, 0);
        let first = outer.array(0, 64).unwrap();
        assert!(first.addr().is_multiple_of(ALIGNMENT));
        let inner = Block::new(&state, 0);
        // Larger, so that it would take the place of the outer block's, which would be freed.
        let others = [inner.array(0, 4096).unwrap(), inner.array(1, 8).unwrap()];
        assert!(!others.contains(&first) && others[0] != others[1]);
        drop(inner);
        // The block's other threads have the same array, and no longer one under its number.
        assert_eq!(outer.array(0, 64), Ok(first));
        assert_eq!(outer.array(0, 65), Err(NoMemory { asked: 64, available: 0 }));
        let second = outer.array(1, 8);
        assert!(second.is_ok() && outer.array(1, 8) == second && outer.array(0, 64) == Ok(first));
        // A block that asks for too much goes without, in each of its threads.
        let too_much = NoMemory { asked: SHARED_MEMORY + 72, available: SHARED_MEMORY };
        assert_eq!(outer.array(2, SHARED_MEMORY), Err(too_much));
        assert!(outer.array(2, SHARED_MEMORY).is_err());
        drop(outer);
        // The next block has the first one's memory again.
        assert_eq!(Block::new(&state, 0).array(0, 64), Ok(first));
    }
}
