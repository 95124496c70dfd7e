//! Arrays of the thread's own.

use wattle_ir::{Element, LOCAL_ARRAY};

use super::{Extents, Get, Set};
use crate::thread::{BadIndex, Thread};

impl<P: Element, const N: usize> Extents for [P; N] {
    type Extent = u32;
    #[inline(always)]
    fn extent(&self) -> u32 {
        N as u32
    }
    #[inline(always)]
    fn count(&self) -> u32 {
        N as u32
    }
}

// SAFETY: nothing in it needs to be dropped.
unsafe impl<P: Element, const N: usize> Get for [P; N] {
    type Index = u32;
    type Value = P;
    #[inline(always)]
    #[track_caller]
    fn get(&self, index: u32, thread: &Thread<'_>) -> P {
        match self.as_slice().get(index as usize) {
            Some(element) => *element,
            None => {
                thread.out_of_bounds(bad_index::<N>(index));
                P::zero()
            }
        }
    }
}

// SAFETY: nothing in it needs to be dropped.
unsafe impl<P: Element, const N: usize> Set for &mut [P; N] {
    type Index = u32;
    type Value = P;
    #[inline(always)]
    #[track_caller]
    fn set(self, index: u32, value: P, thread: &Thread<'_>) {
        if let Some(element) = self.row(index, thread) {
            *element = value;
        }
    }
}

/// A row that may not exist: then nothing is written.
// SAFETY: nothing in it needs to be dropped.
unsafe impl<R: Set> Set for Option<R> {
    type Index = R::Index;
    type Value = R::Value;
    #[inline(always)]
    #[track_caller]
    fn set(self, index: R::Index, value: R::Value, thread: &Thread<'_>) {
        if let Some(row) = self {
            row.set(index, value, thread);
        }
    }
}

/// What a kernel writes to by the index of a row: an array of arrays.
///
/// # Safety
/// It is called on the stack of a fiber, which is thrown away when a launch ends early: while an implementation calls
/// its thread, nothing on the stack may need to be dropped.
pub unsafe trait Rows {
    /// A row, exclusively.
    type Row;
    /// The row at `index`; `None` and a fault where that is out of bounds.
    #[track_caller]
    fn row(self, index: u32, thread: &Thread<'_>) -> Option<Self::Row>;
}

// SAFETY: nothing in it needs to be dropped.
unsafe impl<'r, P, const N: usize> Rows for &'r mut [P; N] {
    type Row = &'r mut P;
    #[inline(always)]
    #[track_caller]
    fn row(self, index: u32, thread: &Thread<'_>) -> Option<&'r mut P> {
        let row = self.get_mut(index as usize);
        if row.is_none() {
            thread.out_of_bounds(bad_index::<N>(index));
        }
        row
    }
}

// SAFETY: nothing in it needs to be dropped.
unsafe impl<R: Rows> Rows for Option<R> {
    type Row = R::Row;
    #[inline(always)]
    #[track_caller]
    fn row(self, index: u32, thread: &Thread<'_>) -> Option<R::Row> {
        self?.row(index, thread)
    }
}

/// The row `of[index]`, to be written to.
#[inline(always)]
#[track_caller]
pub fn row<R: Rows>(of: R, index: u32, thread: &Thread<'_>) -> Option<R::Row> {
    of.row(index, thread)
}

#[inline(always)]
#[track_caller]
fn bad_index<const N: usize>(index: u32) -> BadIndex {
    let at = std::panic::Location::caller();
    BadIndex { view: LOCAL_ARRAY, index: [index.into(), 0, 0, 0], extent: [N as u64, 1, 1, 1], rank: 1, at }
}

/// The most bytes that an array of a kernel can have: it lives on the worker's stack, or in a GPU's registers.
const MAX_ARRAY: usize = 16 << 10;

/// The array `[x; N]`.
#[inline(always)]
pub fn repeat<T: Element, const N: usize>(x: T) -> [T; N] {
    const { assert!(N * size_of::<T>() <= MAX_ARRAY, "an array in a kernel has at most 16 KiB; use a buffer for more") };
    [x; N]
}

/// The array itself: its bound refuses what kernels have no arrays of.
#[inline(always)]
pub fn array<T: Element, const N: usize>(of: [T; N]) -> [T; N] {
    of
}
