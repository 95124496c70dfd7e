//! The items of a `PerItem` view, or of several that are gone through together, while a kernel is built.

use super::iterate::{Indices, Iterate, LoopHandle};
use super::{Builder, ElementRef, PerItem};
use crate::{Axes, Dim, Element, Index, Place, Rank};

/// A view, or several of one rank.
pub trait Views<'b> {
    /// The number of dimensions of each, as a type.
    type Rank: Rank;
    /// The item of the view, or an item of each.
    type Refs;
    /// The extent of the first one, which is that of all.
    #[track_caller]
    fn extent<R: Axes>(&self) -> R::Built<'b>;
    #[doc(hidden)]
    fn places(&self) -> Vec<Place>;
    #[doc(hidden)]
    fn refs(builder: &'b Builder, places: &[Place], index: &Index) -> Self::Refs;
}

impl<'b, T: Element, const E: usize> Views<'b> for &mut PerItem<'b, T, E>
where
    Dim<E>: Rank,
{
    type Rank = Dim<E>;
    type Refs = ElementRef<'b, T>;
    #[track_caller]
    fn extent<R: Axes>(&self) -> R::Built<'b> {
        self.extent_in::<R>()
    }
    fn places(&self) -> Vec<Place> {
        vec![self.place]
    }
    fn refs(builder: &'b Builder, places: &[Place], index: &Index) -> ElementRef<'b, T> {
        ElementRef::new(builder, places[0], index)
    }
}

macro_rules! views {
    ($(($($name:ident $index:tt),+))+) => {$(
        impl<'b, $($name: Element,)+ const E: usize> Views<'b> for ($(&mut PerItem<'b, $name, E>,)+)
        where
            Dim<E>: Rank,
        {
            type Rank = Dim<E>;
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

/// The elements of views that belong to this thread.
pub struct Items<'b, V, R: Axes> {
    indices: Indices<'b, R>,
    places: Vec<Place>,
    views: std::marker::PhantomData<V>,
}

impl<'b, V: Views<'b>, R: Axes> Items<'b, V, R> {
    pub(super) fn new(indices: Indices<'b, R>, views: &V) -> Self {
        Items { indices, places: views.places(), views: std::marker::PhantomData }
    }
}

impl<'b, V: Views<'b>, R: Axes> Iterate<'b> for Items<'b, V, R> {
    type Item = (R::Built<'b>, V::Refs);
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Self::Item) {
        let (handle, index) = self.indices.open(builder);
        let refs = V::refs(builder, &self.places, &index.iter().map(|&value| builder.index_of(value)).collect());
        (handle, (R::gather_built(builder, &index), refs))
    }
}
