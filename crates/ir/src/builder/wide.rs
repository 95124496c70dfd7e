//! What the functions of `#[kernel(wide)]` are built with where indices are `u64`: the kernel macro names these instead
//! of those of the same names in [`builder`](super).
//!
//! In launches whose extents 32 bits hold, a place in the launch, an extent and the counter of an index map are numbers
//! of `u32` that are converted, and an access takes the `u32` back ([`IndexWidth::Fitting`]).

use super::acc::Numbers;
use super::dimension::below;
use super::items::{Items, Views};
use super::iterate::{IndexRange, Indices, Range, Stepped, Worker, any_step_by};
use super::sealed::Sealed;
use super::{Acc, Array, Builder, Element, IndexWidth, LaneCount, Val};
use crate::worker::{Kind, Spans};
use crate::{Axes, BuiltIndex, Builtin, Dim, Number, Rank};

pub use super::atomic::WideAtomic as Atomic;
pub use super::places::wide::{axis, delinearize, linearize, with_axis};

/// The axes of `D` dimensions with indices of `u64`.
type Wide<const D: usize> = <Dim<D> as Axes>::Wide;
type Index<'b, const D: usize> = <Wide<D> as Axes>::Built<'b>;

/// What of [`Acc`] depends on the type of indices.
pub struct AccPlaces<const D: usize = 1>;

/// Numbers of a launch, as `u64`: computed with as many bits as it needs.
macro_rules! numbers {
    ($acc:expr, $numbers:ident => $value:expr) => {
        match $acc.builder().width() {
            IndexWidth::Word | IndexWidth::Fitting => {
                let $numbers: Numbers<'_, u32> = $acc.numbers();
                $value.into_iter().map(Widened::widened).collect::<Vec<_>>()
            }
            IndexWidth::Long => {
                let $numbers: Numbers<'_, u64> = $acc.numbers();
                $value
            }
        }
    };
}

trait Widened {
    type Wide;
    fn widened(self) -> Self::Wide;
}

impl<'b> Widened for Val<'b, u32> {
    type Wide = Val<'b, u64>;
    fn widened(self) -> Val<'b, u64> {
        self.cast()
    }
}

impl<'b> Widened for Worker<'b, u32> {
    type Wide = Worker<'b, u64>;
    fn widened(self) -> Worker<'b, u64> {
        (self.0.cast(), self.1.cast())
    }
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident: $numbers:ident => $value:expr;)+) => {$(
        $(#[$doc])*
        pub fn $name<'b>(acc: &Acc<'b, D>) -> Index<'b, D> {
            Wide::<D>::gather_built(acc.builder(), &numbers!(acc, $numbers => $value))
        }
    )+};
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        pub fn $name<'b>(acc: &Acc<'b, D>) -> Val<'b, u64> {
            numbers!(acc, numbers => vec![numbers.$name()])[0]
        }
    )+};
}

impl<const D: usize> AccPlaces<D>
where
    Dim<D>: Rank,
{
    places! {
        /// The thread's index in the grid.
        thread_in_grid: numbers => numbers.thread_places();
        /// The thread's index in its block.
        thread_in_block: numbers => numbers.builtin(Builtin::ThreadInBlock);
        /// The block's index in the grid.
        block_in_grid: numbers => numbers.builtin(Builtin::BlockInGrid);
        /// Threads in the grid.
        threads_in_grid: numbers => numbers.thread_counts();
        /// Threads in a block.
        threads_in_block: numbers => numbers.builtin(Builtin::BlockExtent);
        /// Blocks in the grid.
        blocks_in_grid: numbers => numbers.builtin(Builtin::GridExtent);
        /// Frames of the launch.
        frames: numbers => numbers.builtin(Builtin::FrameCount);
        /// The extent of a frame.
        frame_extent: numbers => numbers.builtin(Builtin::FrameExtent);
    }

    counts! {
        /// The thread's row-major number in the grid.
        linear_thread_in_grid;
        /// The thread's row-major number in its block.
        linear_thread_in_block;
        /// The block's row-major number in the grid.
        linear_block_in_grid;
        /// How many threads the grid has.
        linear_threads_in_grid;
        /// How many threads a block has.
        linear_threads_in_block;
        /// How many blocks the grid has.
        linear_blocks_in_grid;
        /// The number of the warp in its block.
        warp_in_block;
        /// How many warps a block has.
        warps_in_block;
    }

    /// The indices of `range` that fall to this thread as one of `workers`.
    #[track_caller]
    pub fn indices<'b, W, R>(acc: &Acc<'b, D>, _: W, range: R) -> Indices<'b, R::Rank>
    where
        R: IndexRange<'b, u64>,
        W: Spans<Dim<D>, <R::Rank as Axes>::Narrow>,
    {
        Indices::new(Self::workers(acc, W::KIND, W::LINEAR), range.dimensions(acc.builder()))
    }

    /// The elements of one or several views that belong to this thread.
    #[track_caller]
    pub fn items<'b, V: Views<'b>>(acc: &Acc<'b, D>, views: V) -> Items<'b, V, <V::Rank as Axes>::Wide> {
        let extent = views.extent::<<V::Rank as Axes>::Wide>();
        Items::new(Self::whole(acc, D != <V::Rank as Axes>::RANK, extent), &views)
    }

    fn workers<'b>(acc: &Acc<'b, D>, kind: Kind, linear: bool) -> Vec<Worker<'b, u64>> {
        numbers!(acc, numbers => numbers.workers(kind, linear))
    }

    fn whole<'b, R: Axes<Word = u64>>(acc: &Acc<'b, D>, linear: bool, extent: R::Built<'b>) -> Indices<'b, R> {
        let dimensions = below::<R>(acc.builder(), extent);
        Indices::new(Self::workers(acc, Kind::ThreadsInGrid, linear), dimensions)
    }
}

/// `range.step_by(step)`.
#[track_caller]
pub fn step_by<'b, I: BuiltIndex<'b, u64>>(builder: &'b Builder, range: Range<I>, step: I) -> Stepped<I> {
    any_step_by(builder, range, step)
}

/// What has elements: views and arrays.
pub trait Extents<'b>: Sealed {
    /// The type of the extent: a `u64`, or an array of them in several dimensions.
    type Extent;
    /// The extent, in elements.
    fn extent(&self) -> Self::Extent;
    /// The number of elements.
    fn count(&self) -> Val<'b, u64>;
}

/// What is read by index.
pub trait Get<'b>: super::Get<'b> {
    /// The type of an index: a `u64`, or an array of them in several dimensions.
    type WideIndex;
    /// Reads `self[index]`.
    #[track_caller]
    fn get_wide(&self, index: Self::WideIndex) -> Self::Value;
}

/// What is written by index.
pub trait Set<'b>: Get<'b> {
    /// Writes `self[index] = value`.
    #[track_caller]
    fn set_wide(&self, index: Self::WideIndex, value: Self::Value);
}

/// A view or an array whose elements can be assigned to in place.
pub trait Elements<'b>: Get<'b> {
    /// The type of the elements.
    type Element: Element;
    /// The element at `index`, in its place.
    fn element_wide(&self, index: Self::WideIndex) -> super::ElementRef<'b, Self::Element>;
}

/// Views of which several consecutive elements are read at once.
pub trait Lanes<'b>: Sealed {
    /// The type of the elements.
    type Element: Number;
    /// `N` consecutive elements from `index`.
    #[track_caller]
    fn lanes_wide<const N: usize>(&self, index: Val<'b, u64>) -> Array<'b, Self::Element, N>;
}

macro_rules! extents {
    ($($view:ident)+) => {$(
        impl<'b, T: Element, const D: usize> Extents<'b> for super::$view<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type Extent = Index<'b, D>;
            fn extent(&self) -> Index<'b, D> {
                self.extent_in::<Wide<D>>()
            }
            fn count(&self) -> Val<'b, u64> {
                let product = |builder: &'b Builder| match builder.width() {
                    // 32 bits hold the number of elements too.
                    IndexWidth::Word | IndexWidth::Fitting => super::Extents::count(self).cast(),
                    IndexWidth::Long => {
                        let extents = Wide::<D>::spread_built(self.extent()).into_iter();
                        extents.reduce(|x, y| builder.mul(x, y)).unwrap_or_else(|| builder.lit(1))
                    }
                };
                product(self.builder)
            }
        }
    )+};
}
extents!(Read PerItem Shared Atomic);

macro_rules! elements {
    ($($view:ident)+) => {$(
        impl<'b, T: Element, const D: usize> Get<'b> for super::$view<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type WideIndex = Index<'b, D>;
            fn get_wide(&self, index: Index<'b, D>) -> T::Built<'b> {
                self.element_wide(index).__deref()
            }
        }

        impl<'b, T: Element, const D: usize> Elements<'b> for super::$view<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type Element = T;
            fn element_wide(&self, index: Index<'b, D>) -> super::ElementRef<'b, T> {
                self.element_in::<Wide<D>>(index)
            }
        }

        impl<'b, T: Number> Lanes<'b> for super::$view<'b, T, 1> {
            type Element = T;
            fn lanes_wide<const N: usize>(&self, index: Val<'b, u64>) -> Array<'b, T, N> {
                self.lanes_at(index)
            }
        }
    )+};
}
elements!(Read Shared);

impl<'b, T: Element, const D: usize> Set<'b> for super::Shared<'b, T, D>
where
    Dim<D>: Rank,
{
    fn set_wide(&self, index: Index<'b, D>, value: T::Built<'b>) {
        self.element_wide(index).__assign(value);
    }
}

/// Arrays of the thread's own, and of a view's elements.
macro_rules! arrays {
    ($($array:ty),+) => {$(
        impl<'b, P: Element, const N: usize> Extents<'b> for $array {
            type Extent = Val<'b, u64>;
            fn extent(&self) -> Val<'b, u64> {
                super::Extents::extent(self).cast()
            }
            fn count(&self) -> Val<'b, u64> {
                super::Extents::count(self).cast()
            }
        }

        impl<'b, P: Element, const N: usize> Get<'b> for $array {
            type WideIndex = Val<'b, u64>;
            fn get_wide(&self, index: Val<'b, u64>) -> P::Built<'b> {
                super::Get::get(self, index.builder.word_of(index))
            }
        }
    )+};
}
arrays!(Array<'b, P, N>, super::ElementRef<'b, [P; N]>);

impl<'b, P: Element, const N: usize> Set<'b> for Array<'b, P, N> {
    fn set_wide(&self, index: Val<'b, u64>, value: P::Built<'b>) {
        super::Set::set(self, index.builder.word_of(index), value);
    }
}

/// The extent of a view.
pub fn extent<'b, V: Extents<'b>>(view: &V) -> V::Extent {
    view.extent()
}

/// The number of elements.
pub fn len<'b, V: Extents<'b>>(view: &V) -> Val<'b, u64> {
    view.count()
}

/// Whether there is no element.
pub fn is_empty<'b, V: Extents<'b>>(view: &V) -> Val<'b, bool> {
    let len = view.count();
    len.builder.eq(len, len.builder.lit(0))
}

/// Reads `of[index]`.
#[track_caller]
pub fn get<'b, V: Get<'b>>(of: &V, index: V::WideIndex) -> V::Value {
    of.get_wide(index)
}

/// Writes `to[index] = value`.
#[track_caller]
pub fn set<'b, V: Set<'b>>(to: &V, index: V::WideIndex, value: V::Value) {
    to.set_wide(index, value);
}

/// The element of a view at `index`, in its place.
pub fn element<'b, V: Elements<'b>>(of: &V, index: V::WideIndex) -> super::ElementRef<'b, V::Element> {
    of.element_wide(index)
}

/// `N` consecutive elements of a view from `index`.
#[track_caller]
pub fn lanes<'b, const N: usize, V: Lanes<'b>>(
    of: &V,
    index: Val<'b, u64>,
    _: LaneCount<N>,
) -> Array<'b, V::Element, N> {
    of.lanes_wide(index)
}

/// What of a `Shared` view depends on the type of indices.
pub struct Shared;

impl Shared {
    /// Stores consecutive elements from `index` on.
    #[track_caller]
    pub fn store_lanes<'b, T: Number, const N: usize>(
        view: &super::Shared<'b, T, 1>,
        index: Val<'b, u64>,
        values: Array<'b, T, N>,
    ) {
        view.store_lanes_at(index, values);
    }
}

/// What of an element in its place depends on the type of indices, and what does not.
pub struct ElementRef;

impl ElementRef {
    /// Reads the element.
    #[track_caller]
    pub fn __deref<'b, T: Element>(of: &super::ElementRef<'b, T>) -> T::Built<'b> {
        of.__deref()
    }

    /// Writes the element.
    #[track_caller]
    pub fn __assign<'b, T: Element>(to: &super::ElementRef<'b, T>, value: T::Built<'b>) {
        to.__assign(value);
    }

    /// The fields of a struct, each in its place.
    pub fn __fields<'b, T: Element>(of: &super::ElementRef<'b, T>) -> T::Fields<super::Refs<'b>> {
        of.__fields()
    }

    /// Builds what `act` builds for the part at an index that may be anything.
    #[track_caller]
    pub fn __each<'b, P: Element, const N: usize>(
        of: &super::ElementRef<'b, [P; N]>,
        index: Val<'b, u64>,
        act: impl FnMut(super::ElementRef<'b, P>),
    ) {
        of.__each(index.builder.word_of(index), act);
    }
}
