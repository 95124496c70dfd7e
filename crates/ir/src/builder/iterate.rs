//! Loops over ranges, index maps and items while a kernel is built.

use std::marker::PhantomData;

use super::total::total;
use super::{Builder, ElementRef, Val};
use crate::rank::BuiltIndex;
use crate::{Dim, Element, ExprId, Int, Label, Place, Rank, SlotId, Stmt};

/// A loop that has begun.
pub struct LoopHandle<'b> {
    break_label: Label,
    continue_label: Label,
    /// For each nested loop, outermost first, what it assigns between iterations; empty for `while` and `loop`.
    levels: Vec<Vec<(SlotId, ExprId)>>,
    builder: PhantomData<&'b Builder>,
}

impl LoopHandle<'_> {
    pub(super) fn simple(label: Label) -> Self {
        LoopHandle { break_label: label, continue_label: label, levels: Vec::new(), builder: PhantomData }
    }

    /// The label that `break` goes to.
    pub fn break_label(&self) -> Label {
        self.break_label
    }

    /// The label that `continue` goes to.
    pub fn continue_label(&self) -> Label {
        self.continue_label
    }

    pub(super) fn end(self, builder: &Builder) {
        if self.levels.is_empty() {
            builder.loop_close();
        }
        for assignments in self.levels.into_iter().rev() {
            builder.loop_continuing();
            for (slot, value) in assignments {
                builder.push(Stmt::Assign { slot, value });
            }
            builder.loop_close();
        }
    }
}

/// What `for` can go over.
pub trait Iterate<'b>: Sized {
    /// The type of what the pattern binds.
    type Item;
    /// Opens the loop.
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Self::Item);
}

/// `begin..end`, of integers or of indices in several dimensions.
#[derive(Clone, Copy)]
pub struct Range<V> {
    begin: V,
    end: V,
}

/// The range `(begin..end).step_by(step)`; the step is at least 1.
#[derive(Clone, Copy)]
pub struct Stepped<V> {
    range: Range<V>,
    step: V,
}

/// The range `(begin..end).rev()`.
#[derive(Clone, Copy)]
pub struct Reversed<V>(Range<V>);

/// The range `begin..=end`.
#[derive(Clone, Copy)]
pub struct Inclusive<V>(Range<V>);

impl Builder {
    /// The range `begin..end`.
    pub fn range<V>(&self, begin: V, end: V) -> Range<V> {
        Range { begin, end }
    }

    /// The range `begin..=end`.
    pub fn range_inclusive<V>(&self, begin: V, end: V) -> Inclusive<V> {
        Inclusive(Range { begin, end })
    }

    /// A counter that starts at `start`, and one bounded loop that is left unless `condition` of the counter holds.
    #[track_caller]
    fn counted<'b, T: Int>(
        &'b self,
        start: Val<'b, T>,
        condition: impl Fn(Val<'b, T>) -> Val<'b, bool>,
    ) -> (Label, SlotId, Val<'b, T>) {
        let slot = self.declare_slot(T::TYPE, None, false);
        self.push(Stmt::Assign { slot, value: start.id });
        let counter = self.read_slot(slot);
        let handle = self.loop_begin(true);
        self.while_condition(&handle, condition(counter));
        (handle.break_label, slot, counter)
    }
}

impl<'b, T: Int> Iterate<'b> for Range<Val<'b, T>> {
    type Item = Val<'b, T>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Val<'b, T>) {
        let end = builder.hold(self.end, None);
        let (label, slot, counter) = builder.counted(self.begin, |counter| builder.lt(counter, end));
        let next = builder.add(counter, builder.lit(T::ONE));
        (one_level(label, vec![(slot, next.id)]), counter)
    }
}

impl<'b, T: Int> Iterate<'b> for Inclusive<Val<'b, T>> {
    type Item = Val<'b, T>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Val<'b, T>) {
        // The counter may not pass `end`, which may be the greatest value there is: a flag marks the last iteration.
        let end = builder.hold(self.0.end, None);
        let last = builder.declare_slot(crate::Type::Bool, None, false);
        builder.push(Stmt::Assign { slot: last, value: builder.lit(false).id });
        let more = builder.not(builder.read_slot::<bool>(last));
        let (label, slot, counter) =
            builder.counted(self.0.begin, |counter| builder.bit_and(more, builder.le(counter, end)));
        let next = builder.add(counter, builder.lit(T::ONE));
        let is_last = builder.eq(counter, end);
        (one_level(label, vec![(last, is_last.id), (slot, next.id)]), counter)
    }
}

impl<'b, T: Int> Iterate<'b> for Reversed<Val<'b, T>> {
    type Item = Val<'b, T>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Val<'b, T>) {
        let begin = builder.hold(self.0.begin, None);
        let (label, slot, counter) = builder.counted(self.0.end, |counter| builder.lt(begin, counter));
        let next = builder.sub(counter, builder.lit(T::ONE));
        builder.push(Stmt::Assign { slot, value: next.id });
        (one_level(label, Vec::new()), counter)
    }
}

impl<'b> Iterate<'b> for Stepped<Val<'b, u32>> {
    type Item = Val<'b, u32>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Val<'b, u32>) {
        let end = builder.hold(self.range.end, None);
        let step = builder.hold(self.step, None);
        let (label, slot, counter) = builder.counted(self.range.begin, |counter| builder.lt(counter, end));
        (one_level(label, vec![(slot, advance(builder, counter, step, end).id)]), counter)
    }
}

fn one_level<'b>(label: Label, assignments: Vec<(SlotId, ExprId)>) -> LoopHandle<'b> {
    LoopHandle { break_label: label, continue_label: label, levels: vec![assignments], builder: PhantomData }
}

/// The message of the fault for `step_by(0)`, on every device.
pub const STEP_OF_ZERO: &str = "the step of `step_by` is at least 1; this one was 0, and taken for 1";

/// Every `step`th index of `range`, from the first; a step of 0 is a fault, and taken for 1.
#[track_caller]
pub fn step_by<'b, I: BuiltIndex<'b>>(builder: &'b Builder, range: Range<I>, step: I) -> Stepped<I> {
    let mut steps = I::Rank::spread_built(step);
    for step in &mut steps {
        *step = at_least_one(builder, *step);
    }
    Stepped { range, step: I::Rank::gather_built(builder, &steps) }
}

#[track_caller]
fn at_least_one<'b>(builder: &'b Builder, step: Val<'b, u32>) -> Val<'b, u32> {
    if builder.constant(step.id).is_none_or(|constant| constant.raw == 0) {
        builder.assert(builder.ne(step, builder.lit(0)), STEP_OF_ZERO.into(), &[]);
    }
    step.max(builder.lit(1))
}

/// `counter + step`, or `end` where that is not below it; `counter < end`.
fn advance<'b>(builder: &'b Builder, counter: Val<'b, u32>, step: Val<'b, u32>, end: Val<'b, u32>) -> Val<'b, u32> {
    let left = builder.sub(end, counter);
    Val::select(builder.gt(left, step), builder.add(counter, step), end)
}

impl<V> Range<V> {
    /// The indices from the last to the first.
    pub fn rev(self) -> Reversed<V> {
        Reversed(self)
    }
}

/// One dimension of a range of indices.
#[derive(Clone, Copy)]
pub struct Dimension<'b> {
    pub(super) begin: Val<'b, u32>,
    pub(super) end: Val<'b, u32>,
    pub(super) step: Val<'b, u32>,
}

/// A range of indices in one or several dimensions, what `acc.indices` shares out.
pub trait IndexRange<'b> {
    /// The number of the range's dimensions, as a type.
    type Rank: Rank;
    /// The range in each dimension.
    fn dimensions(self, builder: &'b Builder) -> Vec<Dimension<'b>>;
}

fn dimensions<'b, R: Rank>(begin: R::Built<'b>, end: R::Built<'b>, steps: Vec<Val<'b, u32>>) -> Vec<Dimension<'b>> {
    let bounds = R::spread_built(begin).into_iter().zip(R::spread_built(end));
    bounds.zip(steps).map(|((begin, end), step)| Dimension { begin, end, step }).collect()
}

impl<'b, I: BuiltIndex<'b>> IndexRange<'b> for Range<I> {
    type Rank = I::Rank;
    fn dimensions(self, builder: &'b Builder) -> Vec<Dimension<'b>> {
        dimensions::<I::Rank>(self.begin, self.end, vec![builder.lit(1); I::Rank::RANK])
    }
}

impl<'b, I: BuiltIndex<'b>> IndexRange<'b> for Stepped<I> {
    type Rank = I::Rank;
    fn dimensions(self, _: &'b Builder) -> Vec<Dimension<'b>> {
        dimensions::<I::Rank>(self.range.begin, self.range.end, I::Rank::spread_built(self.step))
    }
}

/// An extent: all indices below it.
impl<'b, I: BuiltIndex<'b>> IndexRange<'b> for I {
    type Rank = I::Rank;
    fn dimensions(self, builder: &'b Builder) -> Vec<Dimension<'b>> {
        let whole = |end| Dimension { begin: builder.lit(0), end, step: builder.lit(1) };
        I::Rank::spread_built(self).into_iter().map(whole).collect()
    }
}

/// How the indices of a loop are dealt out to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexLayout {
    /// Each worker takes every so many-th index, as many as there are workers. GPUs do so where a kernel does not say it:
    /// consecutive threads take consecutive indices, so that their accesses coalesce.
    Strided,
    /// Each worker takes one run of consecutive indices. The host does so where a kernel does not say it.
    Contiguous,
}

/// The indices that fall to this thread.
pub struct Indices<'b, R> {
    /// Which worker this is, and of how many: per dimension, or one pair for the row-major numbers.
    workers: Vec<(Val<'b, u32>, Val<'b, u32>)>,
    dimensions: Vec<Dimension<'b>>,
    /// The layout, where the kernel says it.
    layout: Option<IndexLayout>,
    rank: PhantomData<R>,
}

impl<'b, R: Rank> Indices<'b, R> {
    pub(super) fn new(workers: Vec<(Val<'b, u32>, Val<'b, u32>)>, dimensions: Vec<Dimension<'b>>) -> Self {
        Indices { workers, dimensions, layout: None, rank: PhantomData }
    }

    /// Each worker takes every `workers`th index.
    pub fn strided(self) -> Self {
        Indices { layout: Some(IndexLayout::Strided), ..self }
    }

    /// Each worker takes one run of consecutive indices.
    pub fn contiguous(self) -> Self {
        Indices { layout: Some(IndexLayout::Contiguous), ..self }
    }

    /// How many indices a dimension has.
    #[track_caller]
    fn count(builder: &'b Builder, dimension: &Dimension<'b>) -> Val<'b, u32> {
        let span = builder.sub(dimension.end.max(dimension.begin), dimension.begin);
        if builder.constant(dimension.step.id).is_some_and(|step| step.raw == 1) {
            return if builder.constant(dimension.begin.id).is_some_and(|begin| begin.raw == 0) {
                dimension.end
            } else {
                span
            };
        }
        let whole = builder.div(span, dimension.step);
        let rest = builder.rem(span, dimension.step);
        builder.add(whole, builder.ne(rest, builder.lit(0)).cast())
    }

    /// The loop of one worker over `0..count`.
    #[track_caller]
    fn share(
        builder: &'b Builder,
        (worker, workers): (Val<'b, u32>, Val<'b, u32>),
        count: Val<'b, u32>,
        layout: IndexLayout,
    ) -> (Label, Vec<(SlotId, ExprId)>, Val<'b, u32>) {
        let count = builder.hold(count, None);
        match layout {
            IndexLayout::Strided => {
                let workers = builder.hold(workers, None);
                let (label, slot, counter) = builder.counted(worker, |counter| builder.lt(counter, count));
                (label, vec![(slot, advance(builder, counter, workers, count).id)], counter)
            }
            IndexLayout::Contiguous => {
                // The first `rest` workers take one index more than the others.
                let whole = builder.div(count, workers);
                let rest = builder.rem(count, workers);
                let begin = builder.add(builder.mul(worker, whole), worker.min(rest));
                let begin = builder.hold(begin, None);
                let more = builder.lt(worker, rest).cast();
                let end = builder.hold(builder.add(begin, builder.add(whole, more)), None);
                let (label, slot, counter) = builder.counted(begin, |counter| builder.lt(counter, end));
                (label, vec![(slot, builder.add(counter, builder.lit(1)).id)], counter)
            }
        }
    }

    #[track_caller]
    pub(super) fn open(self, builder: &'b Builder) -> (LoopHandle<'b>, Vec<Val<'b, u32>>) {
        let place = |dimension: &Dimension<'b>, counter: Val<'b, u32>| {
            builder.add(dimension.begin, builder.mul(counter, dimension.step))
        };
        let counts: Vec<_> = self.dimensions.iter().map(|d| builder.hold(Self::count(builder, d), None)).collect();
        let mut labels = Vec::new();
        let mut levels = Vec::new();
        let mut index = Vec::new();
        let layout = self.layout.unwrap_or(builder.index_layout);
        if self.workers.len() == counts.len() {
            for ((dimension, &count), &worker) in self.dimensions.iter().zip(&counts).zip(&self.workers) {
                let (label, assignments, counter) = Self::share(builder, worker, count, layout);
                labels.push(label);
                levels.push(assignments);
                index.push(builder.hold(place(dimension, counter), None));
            }
        } else {
            let total = total(builder, &self.dimensions, &counts);
            let (label, assignments, counter) = Self::share(builder, self.workers[0], total, layout);
            labels.push(label);
            levels.push(assignments);
            let mut rest = counter;
            for (dimension, &count) in self.dimensions.iter().zip(&counts).skip(1).rev() {
                index.push(builder.hold(place(dimension, builder.rem(rest, count)), None));
                rest = builder.div(rest, count);
            }
            index.push(builder.hold(place(&self.dimensions[0], rest), None));
            index.reverse();
        }
        let (break_label, continue_label) = (labels[0], labels[labels.len() - 1]);
        (LoopHandle { break_label, continue_label, levels, builder: PhantomData }, index)
    }
}

impl<'b, R: Rank> Iterate<'b> for Indices<'b, R> {
    type Item = R::Built<'b>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, R::Built<'b>) {
        let (handle, index) = self.open(builder);
        (handle, R::gather_built(builder, &index))
    }
}

/// The elements that belong to this thread.
pub struct Items<'b, T, const E: usize>
where
    Dim<E>: Rank,
{
    indices: Indices<'b, Dim<E>>,
    place: Place,
    ty: PhantomData<fn() -> T>,
}

impl<'b, T, const E: usize> Items<'b, T, E>
where
    Dim<E>: Rank,
{
    pub(super) fn new(indices: Indices<'b, Dim<E>>, place: Place) -> Self {
        Items { indices, place, ty: PhantomData }
    }
}

impl<'b, T: Element, const E: usize> Iterate<'b> for Items<'b, T, E>
where
    Dim<E>: Rank,
{
    type Item = (<Dim<E> as Rank>::Built<'b>, ElementRef<'b, T>);
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Self::Item) {
        let (handle, index) = self.indices.open(builder);
        let at: Vec<_> = index.iter().map(|value| value.id).collect();
        let item = ElementRef::new(builder, self.place, &at);
        (handle, (Dim::<E>::gather_built(builder, &index), item))
    }
}
