//! Rows: the runs of indices that differ in the last dimension alone, which the loops of kernels go through.
//!
//! A loop over an index map is two loops: over its rows, and over the numbers of a row. All that depends on the other
//! dimensions is worked out, and checked, once a row. Where a row's indices are consecutive, a read at an index that moves
//! along with them is in bounds for one run of its numbers, which is found before the loop ([`Window`]), so that the loop
//! over that run has no check in it and vectorizes; the row's ends go the checked way.

use std::marker::PhantomData;
use std::ops::Index;

use wattle_ir::{Dim, Element, Idx, MAX_RANK, Rank};

use crate::indices::{Indices, Share};
use crate::together::Places;
use crate::view::{Read, Strided};

#[cfg(test)]
mod tests;

/// A row of an index map, with the elements of the views that the loop goes over: nobody else has them.
pub struct Row<R, P> {
    begin: [u32; MAX_RANK],
    count: u32,
    /// How far neighbours are apart in the last dimension.
    step: u32,
    places: P,
    rank: PhantomData<R>,
}

impl<R: Rank, P: Places> Row<R, P> {
    /// The number of indices.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count
    }

    #[inline(always)]
    fn at(&self, number: u32) -> [u32; MAX_RANK] {
        let mut index = self.begin;
        index[R::RANK - 1] = index[R::RANK - 1].wrapping_add(number.wrapping_mul(self.step));
        index
    }

    /// The index of this number.
    #[inline(always)]
    pub fn index(&self, number: u32) -> R::Index {
        R::gather(self.at(number))
    }

    /// The same indices, without the elements.
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

    /// All numbers, where the indices are consecutive, and else none.
    #[inline(always)]
    pub fn stretch(&self) -> Stretch {
        Stretch { begin: 0, end: if self.step == 1 { self.count } else { 0 } }
    }

    /// The elements, which are consecutive; none where they are not.
    #[inline(always)]
    pub fn into_slices(self) -> P::Slices {
        let count = if self.step == 1 { self.count } else { 0 };
        // SAFETY: the map gives these elements to this thread alone, each in one row, and within the extent of all views;
        // the row is given up for them.
        unsafe { self.places.slices(self.begin, R::RANK, count as usize) }
    }
}

impl<R: Rank> Row<R, ()> {
    /// The same indices from that of this number on.
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

/// The iterator of a [`Row`].
pub struct RowIter<R, P> {
    row: Row<R, P>,
    number: u32,
}

impl<R: Rank, P: Places> IntoIterator for Row<R, P> {
    type Item = P::With<R::Index>;
    type IntoIter = RowIter<R, P>;
    #[inline(always)]
    fn into_iter(self) -> RowIter<R, P> {
        RowIter { row: self, number: 0 }
    }
}

impl<R: Rank, P: Places> Iterator for RowIter<R, P> {
    type Item = P::With<R::Index>;
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.number >= self.row.count {
            return None;
        }
        let at = self.row.at(self.number);
        self.number += 1;
        // SAFETY: as in `Row::into_slices`; each number comes once.
        Some(unsafe { self.row.places.with(R::gather(at), at, R::RANK) })
    }
}

/// The rows of an index map, in order.
pub struct Rows<R, P> {
    dimensions: Indices<R>,
    shares: [Share; MAX_RANK],
    places: P,
    done: bool,
    /// The counters of all dimensions but the last one.
    at: [u32; MAX_RANK],
}

impl<R: Rank, P: Places> Rows<R, P> {
    /// The rows of `map`, with the elements at `places`.
    ///
    /// # Safety
    /// Each index of the map is within the views behind `places`, and no other reference to these elements is used while
    /// those are that the rows give.
    #[inline(always)]
    pub(crate) unsafe fn new(map: Indices<R>, places: P) -> Self {
        const ONE: Share = Share { first: 0, end: 1, stride: 1 };
        let (workers, layout) = (map.workers, map.layout);
        let mut shares = [ONE; MAX_RANK];
        if map.linear {
            // There are fewer than 2^32 (`Indices::new`).
            let counts = map.dimensions[..R::RANK].iter().map(|dimension| dimension.count);
            shares[0] = Share::new(workers[0], counts.fold(1u32, u32::wrapping_mul), layout);
        } else {
            for d in 0..R::RANK {
                shares[d] = Share::new(workers[d], map.dimensions[d].count, layout);
            }
        }
        let done = shares.iter().any(Share::is_empty);
        Rows { at: shares.map(|share| share.first), dimensions: map, shares, places, done }
    }

    /// The counters of the next row's first index, and the row's share of the last dimension.
    #[inline(always)]
    fn next_counters(&mut self) -> ([u32; MAX_RANK], Share) {
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
                    self.at[d] += share.stride;
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
        let here = Share { first: column, end: column + (end - number).min(columns - column), stride };
        let mut counters = [0; MAX_RANK];
        counters[last] = column;
        let mut rest = number / columns;
        for d in (1..last).rev() {
            counters[d] = rest % count(d);
            rest /= count(d);
        }
        if last > 0 {
            counters[0] = rest;
        }
        let passed = u64::from(here.count()) * u64::from(stride);
        self.done = passed >= u64::from(end - number);
        self.at[0] = number.wrapping_add(passed as u32);
        (counters, here)
    }
}

impl<R: Rank, P: Places> Iterator for Rows<R, P> {
    type Item = Row<R, P>;
    #[inline]
    fn next(&mut self) -> Option<Row<R, P>> {
        if self.done {
            return None;
        }
        let (counters, share) = self.next_counters();
        let dimensions = self.dimensions.dimensions;
        let begin =
            std::array::from_fn(|d| dimensions[d].begin.wrapping_add(counters[d].wrapping_mul(dimensions[d].step)));
        let step = share.stride.wrapping_mul(dimensions[R::RANK - 1].step);
        Some(Row { begin, count: share.count(), step, places: self.places, rank: PhantomData })
    }
}

impl Share {
    /// How many indices there are.
    #[inline(always)]
    fn count(&self) -> u32 {
        let span = self.end - self.first;
        if self.stride == 1 { span } else { span.div_ceil(self.stride) }
    }
}

/// The numbers of a row for which all windows are in bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    begin: u32,
    end: u32,
}

/// The next part of a row, at most `most` numbers: where it begins, and whether it is within the stretch. What it is taken
/// from goes on behind it.
#[inline(always)]
pub fn next_part<R: Rank, P: Places>(
    row: &mut Row<R, P>,
    passed: &mut u32,
    stretch: Stretch,
    most: u32,
) -> Option<(Row<R, P>, u32, bool)> {
    if row.count == 0 {
        return None;
    }
    let first = *passed;
    let (is_within, end) = if first >= stretch.end || stretch.begin >= stretch.end {
        // Behind the stretch, or there is none.
        (false, u32::MAX)
    } else if first < stretch.begin {
        (false, stretch.begin)
    } else {
        (true, stretch.end)
    };
    let part = row.take((end - first).min(most));
    *passed = first + part.count;
    Some((part, first, is_within))
}

/// The elements of a view at an index that moves along one dimension, as far as they are in bounds. `LAST` says that it is
/// the last dimension, in which neighbours are adjacent.
pub struct Window<'v, T, const LAST: bool> {
    /// The element of number `begin`.
    start: *const T,
    stride: usize,
    begin: u32,
    end: u32,
    view: PhantomData<&'v [T]>,
}

/// The elements of a [`Window`] for some numbers, all of them in bounds.
pub struct Line<'v, T, const LAST: bool> {
    start: *const T,
    stride: usize,
    len: usize,
    view: PhantomData<&'v [T]>,
}

impl<T: Element> Strided<T> {
    /// The window at `index`, which moves along `dimension`, for the numbers of `stretch`, which is narrowed to it.
    #[inline(always)]
    fn window<'v, const LAST: bool, const D: usize>(
        &self,
        index: Idx<D>,
        dimension: usize,
        stretch: &mut Stretch,
    ) -> Window<'v, T, LAST>
    where
        Dim<D>: Rank,
    {
        let moving = if LAST { D - 1 } else { dimension.min(D - 1) };
        let (mut index, extent, strides) = (Dim::<D>::spread(index, 0), self.extents(), self.strides());
        let len = if (0..D).all(|d| d == moving || index[d] < extent[d]) { extent[moving] } else { 0 };
        let first = index[moving];
        // Indices wrap: from -1 on, the first one that is in bounds is the next one.
        let (begin, left) = if first < len {
            (0, len - first)
        } else {
            index[moving] = 0;
            (first.wrapping_neg(), len)
        };
        let end = (u64::from(begin) + u64::from(left)).min(u64::from(u32::MAX)) as u32;
        stretch.begin = stretch.begin.max(begin);
        stretch.end = if len == 0 { 0 } else { stretch.end.min(end) };
        if len == 0 {
            return Window { start: self.start(), stride: 0, begin: 0, end: 0, view: PhantomData };
        }
        let offset: usize =
            if D == 1 { index[0] as usize } else { (0..D).map(|d| index[d] as usize * strides[d] as usize).sum() };
        // SAFETY: this index is in bounds, so the element is one of the allocation.
        let start = unsafe { self.start().add(offset) };
        Window { start, stride: strides[moving] as usize, begin, end, view: PhantomData }
    }
}

/// The elements of `view` at `index`, the row's first one, and at those that follow along `dimension`; `stretch` is narrowed
/// to the numbers for which they are in bounds.
#[inline(always)]
pub fn window<'v, const LAST: bool, T: Element, const D: usize>(
    view: &'v Read<T, D>,
    index: Idx<D>,
    dimension: usize,
    stretch: &mut Stretch,
) -> Window<'v, T, LAST>
where
    Dim<D>: Rank,
{
    view.0.window(index, dimension, stretch)
}

impl<'v, T: Element, const LAST: bool> Window<'v, T, LAST> {
    /// The elements of `count` numbers from `first` on; `None` where one is out of bounds.
    #[inline(always)]
    pub fn line(&self, first: u32, count: u32) -> Option<Line<'v, T, LAST>> {
        if first < self.begin || u64::from(first) + u64::from(count) > u64::from(self.end) || count == 0 {
            return None;
        }
        let skipped = (first - self.begin) as usize;
        // SAFETY: the elements of all numbers of the window are in bounds.
        let start = unsafe { self.start.add(if LAST { skipped } else { skipped * self.stride }) };
        Some(Line { start, stride: self.stride, len: count as usize, view: PhantomData })
    }
}

impl<'v, T: Element, const LAST: bool> Line<'v, T, LAST> {
    /// `count` of the elements, from number `first` on.
    #[inline(always)]
    pub fn part(&self, first: usize, count: usize) -> Line<'v, T, LAST> {
        assert!(first <= self.len && count <= self.len - first && count > 0);
        let skipped = if LAST { first } else { first * self.stride };
        // SAFETY: the elements are some of this line's.
        Line { start: unsafe { self.start.add(skipped) }, stride: self.stride, len: count, view: PhantomData }
    }
}

impl<T: Element, const LAST: bool> Index<usize> for Line<'_, T, LAST> {
    type Output = T;
    #[inline(always)]
    fn index(&self, number: usize) -> &T {
        assert!(number < self.len, "a line is as long as the loop over it");
        // SAFETY: the element is in bounds, and nothing writes to it while the view is borrowed: the view is a `Read`.
        unsafe { &*self.start.add(if LAST { number } else { number * self.stride }) }
    }
}
