//! The items of several `PerItem` views, gone through together, while a kernel is built.

use super::iterate::{Indices, Iterate, LoopHandle};
use super::{Builder, ElementRef, PerItem};
use crate::{Axes, Dim, Element, Index, Place, Rank};

/// Several views of one rank.
pub trait Views<'b, const E: usize>
where
    Dim<E>: Rank,
{
    /// An item of each.
    type Refs;
    /// The extent of the first one, which is that of all.
    #[track_caller]
    fn extent<R: Axes>(&self) -> R::Built<'b>;
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
            #[track_caller]
            fn extent<R: Axes>(&self) -> R::Built<'b> {
                self.0.extent_in::<R>()
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
pub struct ItemsTogether<'b, V, R: Axes, const E: usize> {
    indices: Indices<'b, R>,
    places: Vec<Place>,
    views: std::marker::PhantomData<V>,
}

impl<'b, V: Views<'b, E>, R: Axes, const E: usize> ItemsTogether<'b, V, R, E>
where
    Dim<E>: Rank,
{
    pub(super) fn new(indices: Indices<'b, R>, views: &V) -> Self {
        ItemsTogether { indices, places: views.places(), views: std::marker::PhantomData }
    }
}

impl<'b, V: Views<'b, E>, R: Axes, const E: usize> Iterate<'b> for ItemsTogether<'b, V, R, E>
where
    Dim<E>: Rank,
{
    type Item = (R::Built<'b>, V::Refs);
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Self::Item) {
        let (handle, index) = self.indices.open(builder);
        let refs = V::refs(builder, &self.places, &index.iter().map(|&value| builder.index_of(value)).collect());
        (handle, (R::gather_built(builder, &index), refs))
    }
}
