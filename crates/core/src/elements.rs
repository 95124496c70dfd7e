//! The memory of the elements that loops go over.

use std::marker::PhantomData;

use wattle_ir::{Dim, Element, MAX_RANK, Rank};

use crate::view::PerItem;

/// The memory of one of the views that a loop goes over.
#[derive(Clone, Copy)]
pub struct Elements<'v, T> {
    start: *mut T,
    strides: [u64; MAX_RANK],
    view: PhantomData<&'v mut T>,
}

/// The memory of the elements that a loop goes over; `()` for a loop over indices alone.
#[doc(hidden)]
pub trait Places: Copy {
    /// An index with a reference to the element of each view there; the index alone where there is no view.
    type With<I>;
    /// A slice of each.
    type Slices;
    /// `index`, which is `at`, with its elements.
    ///
    /// # Safety
    /// The index is within all views, and no other reference to these elements is used while these are.
    unsafe fn with<I>(&self, index: I, at: [u64; MAX_RANK], rank: usize) -> Self::With<I>;
    /// # Safety
    /// As above, for all `count` elements from the one at `first` on, which differ in the last dimension alone.
    unsafe fn slices(&self, first: [u64; MAX_RANK], rank: usize, count: usize) -> Self::Slices;
}

impl Places for () {
    type With<I> = I;
    type Slices = ();
    #[inline(always)]
    unsafe fn with<I>(&self, index: I, _: [u64; MAX_RANK], _: usize) -> I {
        index
    }
    #[inline(always)]
    unsafe fn slices(&self, _: [u64; MAX_RANK], _: usize, _: usize) {}
}

impl<'v, T: Element> Elements<'v, T> {
    #[inline(always)]
    pub(crate) fn of<const E: usize>(view: &'v mut PerItem<T, E>) -> Self
    where
        Dim<E>: Rank,
    {
        Elements { start: view.start(), strides: view.strides(), view: PhantomData }
    }

    /// # Safety
    /// The index is within the view.
    #[inline(always)]
    pub(crate) unsafe fn element(&self, at: [u64; MAX_RANK], rank: usize) -> *mut T {
        let offset: usize = match rank {
            1 => at[0] as usize,
            _ => (0..rank).map(|d| at[d] as usize * self.strides[d] as usize).sum(),
        };
        // SAFETY: the caller's promise.
        unsafe { self.start.add(offset) }
    }
}

impl<'v, T: Element> Places for Elements<'v, T> {
    type With<I> = (I, &'v mut T);
    type Slices = &'v mut [T];
    #[inline(always)]
    unsafe fn with<I>(&self, index: I, at: [u64; MAX_RANK], rank: usize) -> (I, &'v mut T) {
        // SAFETY: the caller's promise.
        (index, unsafe { &mut *self.element(at, rank) })
    }
    #[inline(always)]
    unsafe fn slices(&self, first: [u64; MAX_RANK], rank: usize, count: usize) -> &'v mut [T] {
        if count == 0 {
            return &mut [];
        }
        // SAFETY: the caller's promise; elements that differ in the last dimension alone are adjacent.
        unsafe { std::slice::from_raw_parts_mut(self.element(first, rank), count) }
    }
}
