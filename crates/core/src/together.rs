//! The items of several `PerItem` views, gone through together by one map.

use wattle_ir::{Axes, Dim, Element, MAX_RANK, Rank};

use crate::elements::{Elements, Places};
use crate::indices::Indices;
use crate::rows::Rows;
use crate::thread::Thread;
use crate::view::PerItem;

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
