//! The items of several `PerItem` views, gone through together by one map.

use std::marker::PhantomData;

use wattle_ir::{Dim, Element, Idx, MAX_RANK, Rank};

use crate::indices::{Indices, Walk};
use crate::thread::Thread;
use crate::view::PerItem;

/// Where the elements of one of the views are.
#[derive(Clone, Copy)]
pub struct Elements<'v, T> {
    start: *mut T,
    strides: [u32; MAX_RANK],
    view: PhantomData<&'v mut T>,
}

/// Several views of one rank: `(&mut x, &mut y)`.
#[diagnostic::on_unimplemented(
    message = "`items` does not go over `{Self}`",
    note = "it goes over a `PerItem` view, `&mut x`, or over 2 to 6 of them with as many dimensions, `(&mut x, &mut y)`"
)]
pub trait Views<const E: usize> {
    /// Where their elements are.
    #[doc(hidden)]
    type Places: Places;
    /// The extent that they have, or none at all where theirs differ.
    #[doc(hidden)]
    fn places(self) -> (Option<[u32; MAX_RANK]>, Self::Places);
}

/// Where the elements of several views are.
#[doc(hidden)]
pub trait Places: Copy {
    /// A reference to an element of each.
    type Refs;
    /// A slice of each.
    type Slices;
    /// # Safety
    /// The index is within all views, and no other reference to these elements is used while these are.
    unsafe fn refs(&self, index: [u32; MAX_RANK], rank: usize) -> Self::Refs;
    /// # Safety
    /// As above, for all elements `begin..end` of views of one dimension.
    unsafe fn slices(&self, begin: u32, end: u32) -> Self::Slices;
}

macro_rules! views {
    ($(($($name:ident $index:tt),+))+) => {$(
        impl<'v, $($name: Element,)+ const E: usize> Views<E> for ($(&'v mut PerItem<$name, E>,)+)
        where
            Dim<E>: Rank,
        {
            type Places = ($(Elements<'v, $name>,)+);
            #[inline(always)]
            fn places(self) -> (Option<[u32; MAX_RANK]>, Self::Places) {
                let extent = self.0.extents();
                let equal = $(self.$index.extents() == extent)&&+;
                let places = ($(Elements { start: self.$index.start(), strides: self.$index.strides(), view: PhantomData },)+);
                (equal.then_some(extent), places)
            }
        }

        impl<'v, $($name: Element),+> Places for ($(Elements<'v, $name>,)+) {
            type Refs = ($(&'v mut $name,)+);
            type Slices = ($(&'v mut [$name],)+);
            #[inline(always)]
            unsafe fn refs(&self, index: [u32; MAX_RANK], rank: usize) -> Self::Refs {
                // SAFETY: the caller's promise.
                ($(unsafe {
                    let at = &self.$index;
                    let offset: usize = match rank {
                        1 => index[0] as usize,
                        _ => (0..rank).map(|d| index[d] as usize * at.strides[d] as usize).sum(),
                    };
                    &mut *at.start.add(offset)
                },)+)
            }
            #[inline(always)]
            unsafe fn slices(&self, begin: u32, end: u32) -> Self::Slices {
                // SAFETY: the caller's promise.
                ($(unsafe {
                    std::slice::from_raw_parts_mut(self.$index.start.add(begin as usize), (end - begin) as usize)
                },)+)
            }
        }
    )+};
}
views! {
    (A 0, B 1)(A 0, B 1, C 2)(A 0, B 1, C 2, D 3)(A 0, B 1, C 2, D 3, F 4)(A 0, B 1, C 2, D 3, F 4, G 5)
}

/// The elements of several views that belong to this thread; an iterator's source.
pub struct ItemsTogether<V: Views<E>, const E: usize>
where
    Dim<E>: Rank,
{
    indices: Indices<Dim<E>>,
    places: V::Places,
}

impl<V: Views<E>, const E: usize> ItemsTogether<V, E>
where
    Dim<E>: Rank,
{
    /// The launch has refused views of different extents; here they would have no items.
    #[inline(always)]
    pub(crate) fn new(thread: &Thread<'_>, launch_rank: usize, views: V) -> Self {
        let (extent, places) = views.places();
        ItemsTogether { indices: Indices::whole(thread, launch_rank, extent.unwrap_or_default()), places }
    }

    /// The indices `begin..end` of the elements, where they are one run.
    #[inline(always)]
    pub(crate) fn run(&self) -> Option<(u32, u32)> {
        self.indices.run()
    }

    /// The elements of [`ItemsTogether::run`].
    #[inline(always)]
    pub(crate) fn into_slices(self) -> <V::Places as Places>::Slices {
        let (begin, end) = self.indices.run().unwrap_or_default();
        // SAFETY: the map gives these elements to this thread alone, they are in bounds since the map is of the extent
        // that all views have, the views are borrowed as long as the slices are, and `self` is given up for them.
        unsafe { self.places.slices(begin, end) }
    }
}

impl<V: Views<E>, const E: usize> IntoIterator for ItemsTogether<V, E>
where
    Dim<E>: Walk,
{
    type Item = (Idx<E>, <V::Places as Places>::Refs);
    type IntoIter = ItemsTogetherIter<V, E>;
    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        ItemsTogetherIter { steps: Walk::steps(&self.indices), places: self.places }
    }
}

/// The iterator of [`ItemsTogether`].
pub struct ItemsTogetherIter<V: Views<E>, const E: usize>
where
    Dim<E>: Walk,
{
    steps: <Dim<E> as Walk>::Steps,
    places: V::Places,
}

impl<V: Views<E>, const E: usize> Iterator for ItemsTogetherIter<V, E>
where
    Dim<E>: Walk,
{
    type Item = (Idx<E>, <V::Places as Places>::Refs);
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.steps.next()?;
        // SAFETY: the map gives each index once, below the extent of all views, and to this thread alone.
        Some((Dim::<E>::gather(index), unsafe { self.places.refs(index, E) }))
    }
}
