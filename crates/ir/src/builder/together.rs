//! The items of several `PerItem` views, gone through together, while a kernel is built.

use super::iterate::{Indices, Iterate, LoopHandle};
use super::{Builder, ElementRef, Extents, PerItem};
use crate::{Dim, Element, Index, Place, Rank};

type Extent<'b, const E: usize> = <Dim<E> as Rank>::Built<'b>;

/// Several views of one rank.
pub trait Views<'b, const E: usize>
where
    Dim<E>: Rank,
{
    /// An item of each.
    type Refs;
    /// The extent of the first one, which is that of all.
    fn extent(&self) -> Extent<'b, E>;
    #[doc(hidden)]
    fn places(&self) -> Vec<Place>;
    #[doc(hidden)]
    fn refs(builder: &'b Builder, places: &[Place], index: &Index) -> Self::Refs;
}

macro_rules! views {
    ($(($($name:ident $index:tt),+))+) => {$(
        impl<'b, $($name: Element,)+ const E: usize> Views<'b, E> for ($(&mut PerItem<'b, $name, E>,)+)
        where
            Dim<E>: Rank,
        {
            type Refs = ($(ElementRef<'b, $name>,)+);
            fn extent(&self) -> Extent<'b, E> {
                Extents::extent(&*self.0)
            }
            fn places(&self) -> Vec<Place> {
                vec![$(self.$index.place),+]
            }
            fn refs(builder: &'b Builder, places: &[Place], index: &Index) -> Self::Refs {
                ($(ElementRef::<$name>::new(builder, places[$index], index),)+)
            }
        }
    )+};
}
views! {
    (A 0, B 1)(A 0, B 1, C 2)(A 0, B 1, C 2, D 3)(A 0, B 1, C 2, D 3, F 4)(A 0, B 1, C 2, D 3, F 4, G 5)
}

/// The elements of several views that belong to this thread.
pub struct ItemsTogether<'b, V, const E: usize>
where
    Dim<E>: Rank,
{
    indices: Indices<'b, Dim<E>>,
    places: Vec<Place>,
    views: std::marker::PhantomData<V>,
}

impl<'b, V: Views<'b, E>, const E: usize> ItemsTogether<'b, V, E>
where
    Dim<E>: Rank,
{
    pub(super) fn new(indices: Indices<'b, Dim<E>>, views: &V) -> Self {
        ItemsTogether { indices, places: views.places(), views: std::marker::PhantomData }
    }
}

impl<'b, V: Views<'b, E>, const E: usize> Iterate<'b> for ItemsTogether<'b, V, E>
where
    Dim<E>: Rank,
{
    type Item = (Extent<'b, E>, V::Refs);
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Self::Item) {
        let (handle, index) = self.indices.open(builder);
        let refs = V::refs(builder, &self.places, &index.iter().map(|value| value.id).collect());
        (handle, (Dim::<E>::gather_built(builder, &index), refs))
    }
}
