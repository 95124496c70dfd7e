//! The items of several `PerItem` views, gone through together by one map.

use std::marker::PhantomData;

use wattle_ir::{Axes, Dim, Element, MAX_RANK, Rank};

use crate::indices::Indices;
use crate::rows::Rows;
use crate::thread::Thread;
use crate::view::PerItem;

/// The memory of one of the views that a loop goes over.
#[derive(Clone, Copy)]
pub struct Elements<'v, T> {
    start: *mut T,
    strides: [u64; MAX_RANK],
    view: PhantomData<&'v mut T>,
}

/// Several views of one rank: `(&mut x, &mut y)`.
///
/// # Safety
/// The places are those of views that the value borrowed for itself alone, each with the extent that is given.
#[diagnostic::on_unimplemented(
    message = "`items` does not go over `{Self}`",
    note = "it goes over a `PerItem` view, `&mut x`, or over 2 to 6 of them with as many dimensions, `(&mut x, &mut y)`"
)]
pub unsafe trait Views<const E: usize> {
    /// The memory of the views' elements.
    #[doc(hidden)]
    type Places: Places;
    /// The extent that they have, or none at all where theirs differ.
    #[doc(hidden)]
    fn places(self) -> (Option<[u64; MAX_RANK]>, Self::Places);
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
    unsafe fn element(&self, at: [u64; MAX_RANK], rank: usize) -> *mut T {
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

macro_rules! views {
    ($(($($name:ident $index:tt),+))+) => {$(
        // SAFETY: the references are exclusive, and the extent is that of all.
        unsafe impl<'v, $($name: Element,)+ const E: usize> Views<E> for ($(&'v mut PerItem<$name, E>,)+)
        where
            Dim<E>: Rank,
        {
            type Places = ($(Elements<'v, $name>,)+);
            #[inline(always)]
            fn places(self) -> (Option<[u64; MAX_RANK]>, Self::Places) {
                let extent = self.0.extents();
                let equal = $(self.$index.extents() == extent)&&+;
                let places = ($(Elements::of(self.$index),)+);
                (equal.then_some(extent), places)
            }
        }

        impl<'v, $($name: Element),+> Places for ($(Elements<'v, $name>,)+) {
            type With<I> = (I, ($(&'v mut $name,)+));
            type Slices = ($(&'v mut [$name],)+);
            #[inline(always)]
            unsafe fn with<I>(&self, index: I, at: [u64; MAX_RANK], rank: usize) -> Self::With<I> {
                // SAFETY: the caller's promise.
                (index, ($(unsafe { &mut *self.$index.element(at, rank) },)+))
            }
            #[inline(always)]
            unsafe fn slices(&self, first: [u64; MAX_RANK], rank: usize, count: usize) -> Self::Slices {
                // SAFETY: the caller's promise.
                ($(unsafe { self.$index.slices(first, rank, count) },)+)
            }
        }
    )+};
}
views! {
    (A 0, B 1)(A 0, B 1, C 2)(A 0, B 1, C 2, D 3)(A 0, B 1, C 2, D 3, F 4)(A 0, B 1, C 2, D 3, F 4, G 5)
}

/// The elements of several views that belong to this thread; an iterator's source.
pub struct ItemsTogether<P, R: Axes> {
    indices: Indices<R>,
    places: P,
}

impl<P: Places, R: Axes> ItemsTogether<P, R> {
    /// The launch has refused views of different extents; here they would have no items.
    #[inline(always)]
    pub(crate) fn new<V: Views<E, Places = P>, const E: usize>(
        thread: &Thread<'_>,
        launch_rank: usize,
        views: V,
    ) -> Self {
        let (extent, places) = views.places();
        ItemsTogether { indices: Indices::whole(thread, launch_rank, extent.unwrap_or_default()), places }
    }

    /// The rows of the elements.
    #[inline(always)]
    pub(crate) fn rows(self) -> Rows<R, P> {
        // SAFETY: the map gives these elements to this thread alone, they are in bounds since the map is of the extent
        // that all views have, the views are borrowed as long as the elements are, and `self` is given up for them.
        unsafe { Rows::new(self.indices, self.places) }
    }
}
