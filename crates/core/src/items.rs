//! The items of one `PerItem` view.

use wattle_ir::{Axes, Dim, Element, Rank};

use crate::elements::Elements;
use crate::indices::Indices;
use crate::rows::Rows;
use crate::thread::Thread;
use crate::view::PerItem;

/// The elements of a [`PerItem`] view that belong to this thread; an iterator's source.
///
/// Their map is fixed for a launch: it depends on the view's extent and the thread's place alone, and gives each
/// element to one thread.
pub struct Items<'v, T, R: Axes> {
    indices: Indices<R>,
    elements: Elements<'v, T>,
}

impl<'v, T: Element, R: Axes> Items<'v, T, R> {
    #[inline(always)]
    pub(crate) fn new<const E: usize>(thread: &Thread<'_>, launch_rank: usize, view: &'v mut PerItem<T, E>) -> Self
    where
        Dim<E>: Rank,
    {
        const { assert!(E == R::RANK, "an index of a view has as many dimensions as the view") }
        Items { indices: Indices::whole(thread, launch_rank, view.extents()), elements: Elements::of(view) }
    }

    /// The rows of the elements.
    #[inline(always)]
    pub(crate) fn rows(self) -> Rows<R, Elements<'v, T>> {
        // SAFETY: the map is of the view's extent, and gives each element to one thread; the view is borrowed as long
        // as the elements are, and `self` is given up for them.
        unsafe { Rows::new(self.indices, self.elements) }
    }
}
