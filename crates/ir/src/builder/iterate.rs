//! Loops over ranges, index maps and items while a kernel is built.

use std::marker::PhantomData;

use super::dimension::{Dimension, Dimensions, below, dimensions};
use super::sealed::Sealed;
use super::total::{are_few_in_all, total};
use super::{Builder, Val};
use crate::{Axes, BuiltIndex, ExprId, IndexWord, Int, Label, SlotId, Stmt};

/// A loop that has begun.
pub struct LoopHandle<'b> {
    break_label: Label,
    continue_label: Label,
    /// The assignments between iterations, for each nested loop, outermost first; empty for `while` and `loop`.
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
pub trait Iterate<'b>: Sized + Sealed {
    /// The type of what the pattern binds.
    type Item;
    /// Opens the loop; returns its handle and what the pattern binds.
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
        if let (Some(begin), Some(end)) = (builder.as_word(self.begin.id), builder.as_word(self.end.id)) {
            let word = |id| Val::<u32>::new(builder, id);
            let (handle, counter) = Range { begin: word(begin), end: word(end) }.begin(builder);
            return (handle, counter.cast());
        }
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

impl<'b, W: IndexWord> Iterate<'b> for Stepped<Val<'b, W>> {
    type Item = Val<'b, W>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, Val<'b, W>) {
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
    any_step_by(builder, range, step)
}

#[track_caller]
pub(super) fn any_step_by<'b, W: IndexWord, I: BuiltIndex<'b, W>>(
    builder: &'b Builder,
    range: Range<I>,
    step: I,
) -> Stepped<I> {
    let mut steps = I::Rank::spread_built(step);
    for step in &mut steps {
        *step = at_least_one(builder, *step);
    }
    Stepped { range, step: I::Rank::gather_built(builder, &steps) }
}

#[track_caller]
fn at_least_one<'b, W: IndexWord>(builder: &'b Builder, step: Val<'b, W>) -> Val<'b, W> {
    if builder.constant(step.id).is_none_or(|constant| constant.raw == 0) {
        builder.assert(builder.ne(step, builder.lit(W::ZERO)), STEP_OF_ZERO.into(), &[]);
    }
    step.max(builder.lit(W::ONE))
}

/// `counter + step`, or `end` where that is not below it; `counter < end`.
fn advance<'b, W: IndexWord>(
    builder: &'b Builder,
    counter: Val<'b, W>,
    step: Val<'b, W>,
    end: Val<'b, W>,
) -> Val<'b, W> {
    let left = builder.sub(end, counter);
    Val::select(builder.gt(left, step), builder.add(counter, step), end)
}

impl<V> Range<V> {
    /// The indices from the last to the first.
    pub fn rev(self) -> Reversed<V> {
        Reversed(self)
    }
}

/// A range of indices in one or several dimensions, what `acc.indices` shares out.
pub trait IndexRange<'b, W: IndexWord = u32>: Sealed {
    /// The number of the range's dimensions, as a type.
    type Rank: Axes<Word = W>;
    /// The range in each dimension.
    fn dimensions(self, builder: &'b Builder) -> Vec<Dimension<'b, W>>;
}

impl<'b, W: IndexWord, I: BuiltIndex<'b, W>> IndexRange<'b, W> for Range<I> {
    type Rank = I::Rank;
    fn dimensions(self, builder: &'b Builder) -> Vec<Dimension<'b, W>> {
        dimensions::<I::Rank>(self.begin, self.end, vec![builder.lit(W::ONE); I::Rank::RANK])
    }
}

impl<'b, W: IndexWord, I: BuiltIndex<'b, W>> IndexRange<'b, W> for Stepped<I> {
    type Rank = I::Rank;
    fn dimensions(self, _: &'b Builder) -> Vec<Dimension<'b, W>> {
        dimensions::<I::Rank>(self.range.begin, self.range.end, I::Rank::spread_built(self.step))
    }
}

/// An extent: all indices below it.
impl<'b, W: IndexWord, I: BuiltIndex<'b, W>> IndexRange<'b, W> for I {
    type Rank = I::Rank;
    fn dimensions(self, builder: &'b Builder) -> Vec<Dimension<'b, W>> {
        below::<I::Rank>(builder, self)
    }
}

/// The number of a worker, and the number of all workers.
pub(super) type Worker<'b, W> = (Val<'b, W>, Val<'b, W>);

/// How the indices of a loop are dealt out to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexLayout {
    /// Each of `n` workers takes every `n`th index. GPUs do so where a kernel does not say it: consecutive threads take
    /// consecutive indices, so that their accesses coalesce.
    Strided,
    /// Each worker takes one run of consecutive indices. The host does so where a kernel does not say it.
    Contiguous,
}

/// The indices that fall to this thread.
pub struct Indices<'b, R: Axes> {
    /// The worker that the thread is: per dimension, or once for the row-major numbers.
    workers: Vec<Worker<'b, R::Word>>,
    dimensions: Dimensions<'b, R>,
    /// The layout, where the kernel says it.
    layout: Option<IndexLayout>,
}

impl<'b, R: Axes> Indices<'b, R> {
    pub(super) fn new(workers: Vec<Worker<'b, R::Word>>, dimensions: Dimensions<'b, R>) -> Self {
        Indices { workers, dimensions, layout: None }
    }

    /// Each worker takes every `workers`th index.
    pub fn strided(self) -> Self {
        Indices { layout: Some(IndexLayout::Strided), ..self }
    }

    /// Each worker takes one run of consecutive indices.
    pub fn contiguous(self) -> Self {
        Indices { layout: Some(IndexLayout::Contiguous), ..self }
    }

    #[track_caller]
    pub(super) fn open(self, builder: &'b Builder) -> (LoopHandle<'b>, Vec<Val<'b, R::Word>>) {
        let word = |value: Val<'b, R::Word>| Some(Val::new(builder, builder.as_word(value.id)?));
        let workers = self.workers.iter().map(|&(worker, workers)| Some((word(worker)?, word(workers)?))).collect();
        let dimensions: Option<Vec<_>> = self.dimensions.iter().map(|dimension| dimension.as_words(builder)).collect();
        // What is numbered row by row may be more than each dimension has.
        let dimensions = dimensions
            .filter(|dimensions| self.workers.len() == dimensions.len() || are_few_in_all(builder, dimensions));
        match (workers, dimensions) {
            (Some(workers), Some(dimensions)) => {
                let (handle, index) = Shared { workers, dimensions, layout: self.layout }.open(builder);
                (handle, index.into_iter().map(|value: Val<'b, u32>| value.cast()).collect())
            }
            _ => Shared { workers: self.workers, dimensions: self.dimensions, layout: self.layout }.open(builder),
        }
    }
}

/// Indices that workers share, of numbers of one width.
struct Shared<'b, W> {
    workers: Vec<Worker<'b, W>>,
    dimensions: Vec<Dimension<'b, W>>,
    layout: Option<IndexLayout>,
}

impl<'b, W: IndexWord> Shared<'b, W> {
    /// The number of indices of a dimension.
    #[track_caller]
    fn count(builder: &'b Builder, dimension: &Dimension<'b, W>) -> Val<'b, W> {
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
        builder.add(whole, builder.ne(rest, builder.lit(W::ZERO)).cast())
    }

    /// The loop of one worker over `0..count`.
    #[track_caller]
    fn share(
        builder: &'b Builder,
        (worker, workers): Worker<'b, W>,
        count: Val<'b, W>,
        layout: IndexLayout,
    ) -> (Label, Vec<(SlotId, ExprId)>, Val<'b, W>) {
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
                (label, vec![(slot, builder.add(counter, builder.lit(W::ONE)).id)], counter)
            }
        }
    }

    #[track_caller]
    fn open(self, builder: &'b Builder) -> (LoopHandle<'b>, Vec<Val<'b, W>>) {
        let place = |dimension: &Dimension<'b, W>, counter: Val<'b, W>| {
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

impl<'b, R: Axes> Iterate<'b> for Indices<'b, R> {
    type Item = R::Built<'b>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, R::Built<'b>) {
        let (handle, index) = self.open(builder);
        (handle, R::gather_built(builder, &index))
    }
}
