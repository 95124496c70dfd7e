//! Rows: the runs of indices that differ in the last dimension alone, which the loops of kernels go through.
//!
//! A loop over an index map is two loops: over its rows, and over the numbers of a row. All that depends on the other
//! dimensions is worked out, and checked, once a row. Where a row's indices are consecutive, an access at an index that
//! moves along with them is checked once for all of them ([`Line`]), so that the loop over the row has no check in it
//! and vectorizes. If the access is not in bounds for all of the row, the run of the row's numbers for which it is
//! in bounds is found first; the numbers before and behind that run are accessed with a check each.

use std::marker::PhantomData;

use wattle_ir::{Axes, Dim, IndexWord, MAX_RANK, Wide};

use crate::elements::Places;
use crate::indices::{Indices, Share};
use crate::thread::STEPS_PER_LOOK;

mod cut;
mod lines;
#[cfg(test)]
mod tests;

pub use cut::{Cut, next_side};
pub use lines::{InLines, Line, line, narrow};

/// A row of an index map, with the elements of the views that the loop goes over: nobody else has them.
pub struct Row<R: Axes, P> {
    begin: [R::Word; MAX_RANK],
    count: u32,
    /// The distance of neighbours in the last dimension.
    step: R::Word,
    places: P,
    rank: PhantomData<R>,
}

impl<R: Axes, P: Places> Row<R, P> {
    /// The number of indices.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count
    }

    #[inline(always)]
    fn at(&self, number: u32) -> [R::Word; MAX_RANK] {
        let mut index = self.begin;
        let passed = R::Word::truncated(number.into()).times(self.step);
        index[R::RANK - 1] = index[R::RANK - 1].plus(passed);
        index
    }

    /// The index of this number.
    #[inline(always)]
    pub fn index(&self, number: u32) -> R::Index {
        R::gather(self.at(number))
    }

    /// The row's indices alone, without its elements.
    #[inline(always)]
    pub fn indices(&self) -> Row<R, ()> {
        let Row { begin, count, step, rank, .. } = *self;
        Row { begin, count, step, places: (), rank }
    }

    /// Takes the first indices away, as a row of their own; `count` of them, or all.
    #[inline(always)]
    fn take(&mut self, count: u32) -> Row<R, P> {
        let count = count.min(self.count);
        let first = Row { count, ..*self };
        self.begin = self.at(count);
        self.count -= count;
        first
    }

    /// Whether neighbours in the row are neighbours in the map.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.step == R::Word::truncated(1)
    }

    /// Splits the row into parts, which a loop takes one after another.
    #[inline(always)]
    pub fn parts(self) -> Parts<R, P> {
        Parts { row: self, most: STEPS_PER_LOOK, stretch: None }
    }

    /// The elements, which are consecutive; none where they are not.
    #[inline(always)]
    pub fn into_slices(self) -> P::Slices {
        let count = if self.is_plain() { self.count } else { 0 };
        // SAFETY: the map gives these elements to this thread alone, each in one row, and within the extent of all
        // views; the row is given up for them.
        unsafe { self.places.slices(self.begin.map(Into::into), R::RANK, count as usize) }
    }
}

impl<R: Axes> Row<R, ()> {
    /// The row's indices from number `number` on.
    #[inline(always)]
    pub fn from(&self, number: u32) -> Self {
        Row {
            begin: self.at(number),
            count: self.count.saturating_sub(number),
            step: self.step,
            places: (),
            rank: self.rank,
        }
    }
}

impl Row<Dim<1>, ()> {
    /// The numbers `begin..end`.
    #[inline(always)]
    pub(crate) fn of_range(begin: u32, end: u32) -> Self {
        Row { begin: [begin, 0, 0, 0], count: end.saturating_sub(begin), step: 1, places: (), rank: PhantomData }
    }
}

impl Row<Wide<1>, ()> {
    /// The numbers `begin..end`, and at the most [`MOST_IN_ROW`] of them.
    #[inline(always)]
    pub(crate) fn of_wide_range(begin: u64, end: u64) -> Self {
        let count = end.saturating_sub(begin).min(MOST_IN_ROW) as u32;
        Row { begin: [begin, 0, 0, 0], count, step: 1, places: (), rank: PhantomData }
    }
}

/// The iterator of a [`Row`].
pub struct RowIter<R: Axes, P> {
    row: Row<R, P>,
    number: u32,
}

impl<R: Axes, P: Places> IntoIterator for Row<R, P> {
    type Item = P::With<R::Index>;
    type IntoIter = RowIter<R, P>;
    #[inline(always)]
    fn into_iter(self) -> RowIter<R, P> {
        RowIter { row: self, number: 0 }
    }
}

impl<R: Axes, P: Places> Iterator for RowIter<R, P> {
    type Item = P::With<R::Index>;
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.number >= self.row.count {
            return None;
        }
        let at = self.row.at(self.number);
        self.number += 1;
        // SAFETY: as in `Row::into_slices`; each number comes once.
        Some(unsafe { self.row.places.with(R::gather(at), at.map(Into::into), R::RANK) })
    }
}

/// The most indices of a row whose indices are `u64`: the numbers in a row are `u32`.
pub(crate) const MOST_IN_ROW: u64 = 1 << 31;

/// The counters of a row's first index, and the row's share of the last dimension.
type Counters<W> = ([W; MAX_RANK], Share<W>);

/// The rows of an index map, in order.
pub struct Rows<R: Axes, P> {
    dimensions: Indices<R>,
    shares: [Share<R::Word>; MAX_RANK],
    places: P,
    done: bool,
    /// The counters of all dimensions but the last one.
    at: [R::Word; MAX_RANK],
    /// The rest of a row that has more indices than 32 bits count: the counters of its first index, and its share of
    /// the last dimension.
    rest: Option<Counters<R::Word>>,
}

impl<R: Axes> Indices<R> {
    /// The rows of the map.
    #[inline(always)]
    pub(crate) fn rows(self) -> Rows<R, ()> {
        // SAFETY: there are no elements.
        unsafe { Rows::new(self, ()) }
    }
}

impl<R: Axes, P: Places> Rows<R, P> {
    /// The rows of `map`, with the elements at `places`.
    ///
    /// # Safety
    /// Each index of the map is within the views behind `places`, and no other reference to these elements is used
    /// while those are that the rows give.
    #[inline(always)]
    pub(crate) unsafe fn new(map: Indices<R>, places: P) -> Self {
        let (zero, one) = (R::Word::truncated(0), R::Word::truncated(1));
        let (workers, layout) = (map.workers, map.layout);
        let mut shares = [Share { first: zero, end: one, stride: one }; MAX_RANK];
        if map.linear {
            // Their numbers are words (`Indices::new`).
            let counts = map.dimensions[..R::RANK].iter().map(|dimension| dimension.count);
            shares[0] = Share::new(workers[0], counts.fold(one, IndexWord::times), layout);
        } else {
            for d in 0..R::RANK {
                shares[d] = Share::new(workers[d], map.dimensions[d].count, layout);
            }
        }
        let done = shares.iter().any(Share::is_empty);
        Rows { at: shares.map(|share| share.first), dimensions: map, shares, places, done, rest: None }
    }

    /// The counters of the next row's first index, and the row's share of the last dimension.
    #[inline(always)]
    fn next_counters(&mut self) -> Counters<R::Word> {
        let last = R::RANK - 1;
        if !self.dimensions.linear {
            let counters = self.at;
            let mut d = last;
            loop {
                if d == 0 {
                    self.done = true;
                    break;
                }
                d -= 1;
                let share = self.shares[d];
                if share.end - self.at[d] > share.stride {
                    self.at[d] = self.at[d] + share.stride;
                    break;
                }
                self.at[d] = share.first;
            }
            return (counters, self.shares[last]);
        }
        // Row-major numbers: as many as are left in this row.
        let count = |d: usize| self.dimensions.dimensions[d].count;
        let Share { end, stride, .. } = self.shares[0];
        let (number, columns) = (self.at[0], count(last));
        let column = number % columns;
        let here = Share { first: column, end: column + Ord::min(end - number, columns - column), stride };
        let mut counters = [R::Word::truncated(0); MAX_RANK];
        counters[last] = column;
        let mut rest = number / columns;
        for d in (1..last).rev() {
            counters[d] = rest % count(d);
            rest = rest / count(d);
        }
        if last > 0 {
            counters[0] = rest;
        }
        let passed = u128::from(here.count().into()) * u128::from(stride.into());
        self.done = passed >= u128::from((end - number).into());
        self.at[0] = number.plus(R::Word::truncated(passed as u64));
        (counters, here)
    }

    /// Cuts a row that has more indices than 32 bits count.
    #[inline(always)]
    fn cut(&mut self, counters: [R::Word; MAX_RANK], share: Share<R::Word>) -> Share<R::Word> {
        let count: u64 = share.count().into();
        if count <= MOST_IN_ROW || size_of::<R::Word>() == size_of::<u32>() {
            return share;
        }
        let passed = R::Word::truncated(MOST_IN_ROW).times(share.stride);
        let (mut behind, first) = (counters, share.first + passed);
        behind[R::RANK - 1] = first;
        self.rest = Some((behind, Share { first, ..share }));
        Share { end: first, ..share }
    }
}

impl<R: Axes, P: Places> Iterator for Rows<R, P> {
    type Item = Row<R, P>;
    #[inline]
    fn next(&mut self) -> Option<Row<R, P>> {
        let (counters, share) = match self.rest.take() {
            Some(rest) => rest,
            None if self.done => return None,
            None => self.next_counters(),
        };
        let share = self.cut(counters, share);
        let dimensions = self.dimensions.dimensions;
        let begin = std::array::from_fn(|d| dimensions[d].begin.plus(counters[d].times(dimensions[d].step)));
        let step = share.stride.times(dimensions[R::RANK - 1].step);
        let count: u64 = share.count().into();
        Some(Row { begin, count: count as u32, step, places: self.places, rank: PhantomData })
    }
}

impl<W: IndexWord> Share<W> {
    /// The number of indices in the share.
    #[inline(always)]
    fn count(&self) -> W {
        let span = self.end - self.first;
        if self.stride == W::ONE { span } else { span.div_ceil(self.stride).unwrap_or(W::ZERO) }
    }
}

/// The numbers of a row for which all its accesses are in bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    begin: u32,
    end: u32,
}

/// A row in parts: all of it at first, as far as a loop may go on without a look at the time limit. A loop that finds
/// some access out of bounds in what is ahead has it [narrowed](Parts::narrow): then the numbers before, within and
/// behind a stretch are parts of their own.
pub struct Parts<R: Axes, P> {
    row: Row<R, P>,
    /// The most numbers of the next part.
    most: u32,
    /// The stretch that was found, among the numbers that are left.
    stretch: Option<Stretch>,
}

impl<R: Axes, P: Places> Parts<R, P> {
    /// The indices of the next part; none at the row's end.
    #[inline(always)]
    pub fn ahead(&self) -> Option<Row<R, ()>> {
        let Row { begin, count, step, rank, .. } = self.row;
        (count > 0).then(|| Row { begin, count: count.min(self.most), step, places: (), rank })
    }

    /// The part that was ahead, with its elements: `count` of them, or all.
    #[inline(always)]
    pub fn take(&mut self, count: u32) -> Row<R, P> {
        let part = self.row.take(count);
        if let Some(stretch) = self.stretch {
            self.narrow(stretch.behind(part.count));
        }
        part
    }

    /// Whether a stretch has been found.
    #[inline(always)]
    pub fn is_narrowed(&self) -> bool {
        self.stretch.is_some()
    }

    /// The stretch of all numbers that are left; empty where neighbours in the row are not neighbours in the map.
    #[inline(always)]
    pub fn whole(&self) -> Stretch {
        Stretch { begin: 0, end: if self.row.is_plain() { self.row.count } else { 0 } }
    }

    /// Sets the stretch among the numbers that are left.
    #[inline(always)]
    pub fn narrow(&mut self, stretch: Stretch) {
        self.most = stretch.first().min(STEPS_PER_LOOK);
        self.stretch = Some(stretch);
    }
}

impl Stretch {
    /// The number of indices before the stretch, or else in it, or else behind it.
    #[cold]
    fn first(self) -> u32 {
        match self {
            Stretch { begin, end } if begin >= end => u32::MAX,
            Stretch { begin: 0, end } => end,
            Stretch { begin, .. } => begin,
        }
    }

    /// The stretch after the next `count` numbers of the row have been taken: the rest of it, counted from there.
    #[cold]
    fn behind(self, count: u32) -> Stretch {
        Stretch { begin: self.begin.saturating_sub(count), end: self.end.saturating_sub(count) }
    }
}
