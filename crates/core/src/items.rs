//! The items of a `PerItem` view, or of several that one map goes through together.

use wattle_ir::{Axes, Dim, Element, MAX_RANK, Rank};

use crate::elements::{Elements, Places};
use crate::indices::Indices;
use crate::rows::Rows;
use crate::thread::Thread;
use crate::view::PerItem;

/// A view, `&mut out`, or several of one rank: `(&mut x, &mut y)`.
///
/// # Safety
/// The places are those of views that the value borrowed for itself alone, each with the extent that is given.
#[diagnostic::on_unimplemented(
    message = "`items` does not go over `{Self}`",
    label = "no view that is borrowed to be changed",
    note = "it goes over a `PerItem` view, `&mut x`, or over 2 to 6 of them with as many dimensions, `(&mut x, &mut y)`"
)]
pub unsafe trait Views {
    /// The number of dimensions of each, as a type.
    #[doc(hidden)]
    type Rank: Rank;
    /// The memory of the views' elements.
    #[doc(hidden)]
    type Places: Places;
    /// The extent that they have, or none at all where theirs differ.
    #[doc(hidden)]
    fn places(self) -> (Option<[u64; MAX_RANK]>, Self::Places);
}

// SAFETY: the reference is exclusive, and the extent is the view's.
unsafe impl<'v, T: Element, const E: usize> Views for &'v mut PerItem<T, E>
where
    Dim<E>: Rank,
{
    type Rank = Dim<E>;
    type Places = Elements<'v, T>;
    #[inline(always)]
    fn places(self) -> (Option<[u64; MAX_RANK]>, Elements<'v, T>) {
        (Some(self.extents()), Elements::of(self))
    }
}

macro_rules! views {
    ($(($($name:ident $index:tt),+))+) => {$(
        // SAFETY: the references are exclusive, and the extent is that of all.
        unsafe impl<'v, $($name: Element,)+ const E: usize> Views for ($(&'v mut PerItem<$name, E>,)+)
        where
            Dim<E>: Rank,
        {
            type Rank = Dim<E>;
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

/// The elements of views that belong to this thread; an iterator's source.
///
/// Their map is fixed for a launch: it depends on the views' extent and the thread's place alone, and gives each
/// element to one thread.
pub struct Items<P, R: Axes> {
    indices: Indices<R>,
    places: P,
}

impl<P: Places, R: Axes> Items<P, R> {
    /// The launch has refused views of different extents; here they would have no items.
    #[inline(always)]
    pub(crate) fn new<V: Views<Places = P>>(thread: &Thread<'_>, launch_rank: usize, views: V) -> Self {
        const { assert!(<V::Rank as Axes>::RANK == R::RANK, "an index of a view has as many dimensions as the view") }
        let (extent, places) = views.places();
        Items { indices: Indices::whole(thread, launch_rank, extent.unwrap_or_default()), places }
    }

    /// The rows of the elements.
    #[inline(always)]
    pub(crate) fn rows(self) -> Rows<R, P> {
        // SAFETY: the map gives these elements to this thread alone, they are in bounds since the map is of the extent
        // that all views have, the views are borrowed as long as the elements are, and `self` is given up for them.
        unsafe { Rows::new(self.indices, self.places) }
    }
}
