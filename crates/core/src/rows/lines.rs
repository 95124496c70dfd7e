//! Lines: the elements of a view along a row, whose bounds are checked once.

use std::marker::PhantomData;
use std::ops::Index;

use wattle_ir::{Axes, Dim, Element, GridIndex, IndexWord, MAX_RANK, Rank};

use super::Stretch;
use crate::support::access::{Get, Set};
use crate::support::spots::{ReadOnly, Relaxed};
use crate::thread::Thread;
use crate::view::{Read, Shared, Strided, shared_load, shared_store};

/// A view whose elements a loop reads, or writes, line by line. An index of another rank than the view's has no line;
/// the loop that checks each access does not compile then.
pub trait InLines {
    /// The type of the elements.
    type Element: Element;
    /// How the elements are accessed: plainly, or by atomic instructions.
    type How;
    /// The `count` elements at `index` and behind it along `dimension`, or along the last one; `None` where one is out
    /// of bounds.
    fn line<const LAST: bool, W: IndexWord, I: GridIndex<W>>(
        &self,
        index: I,
        dimension: usize,
        count: u32,
    ) -> Option<Line<'_, Self::Element, Self::How, LAST>>;
    /// Narrows the numbers of a row to those for which the elements at `index`, the row's first one, and at those that
    /// follow along `dimension` are in bounds.
    fn narrow<const LAST: bool, W: IndexWord, I: GridIndex<W>>(
        &self,
        index: I,
        dimension: usize,
        stretch: &mut Stretch,
    );
}

macro_rules! in_lines {
    ($($view:ident $how:ident),+) => {$(
        impl<T: Element, const D: usize> InLines for $view<T, D>
        where
            Dim<D>: Rank,
        {
            type Element = T;
            type How = $how;
            #[inline(always)]
            fn line<const LAST: bool, W: IndexWord, I: GridIndex<W>>(
                &self,
                index: I,
                dimension: usize,
                count: u32,
            ) -> Option<Line<'_, T, $how, LAST>> {
                if I::Rank::RANK != D {
                    return None;
                }
                self.0.line::<$how, LAST, D>(numbers(index), dimension, count)
            }
            #[inline(always)]
            fn narrow<const LAST: bool, W: IndexWord, I: GridIndex<W>>(&self, index: I, dimension: usize, stretch: &mut Stretch) {
                let moving = moving::<LAST, D>(dimension);
                let last = W::truncated(u64::MAX).into();
                narrowed(numbers(index), self.0.extents(), (D, last), moving, stretch);
            }
        }
    )+};
}
in_lines!(Read ReadOnly, Shared Relaxed);

/// The numbers of an index.
#[inline(always)]
fn numbers<W: IndexWord, I: GridIndex<W>>(index: I) -> [u64; MAX_RANK] {
    I::Rank::spread(index, W::ZERO).map(Into::into)
}

/// The dimension along which the index moves: the last one if `LAST`, else `dimension`, which is at most the last.
#[inline(always)]
fn moving<const LAST: bool, const D: usize>(dimension: usize) -> usize {
    if LAST { D - 1 } else { dimension.min(D - 1) }
}

/// Narrows the numbers of a row to those for which the index, whose dimension `moving` grows with the number, is within
/// the extent. `last` is the greatest number that an index can have in one dimension.
#[cold]
#[inline(never)]
fn narrowed(
    index: [u64; MAX_RANK],
    extent: [u64; MAX_RANK],
    (rank, last): (usize, u64),
    moving: usize,
    stretch: &mut Stretch,
) {
    let is_within = (0..rank).all(|d| d == moving || index[d] < extent[d]);
    let (first, len) = (index[moving], if is_within { extent[moving] } else { 0 });
    // Indices wrap: from -1 on, the first one that is in bounds is the next one.
    let (begin, left) = if first < len { (0, len - first) } else { ((last - first).saturating_add(1), len) };
    let [begin, end] = [begin, begin.saturating_add(left)].map(|number| number.min(u64::from(u32::MAX)) as u32);
    stretch.begin = stretch.begin.max(begin);
    stretch.end = if len == 0 { 0 } else { stretch.end.min(end) };
}

/// The elements of a view along one dimension, all of them in bounds. `LAST` says that it is the last dimension, in
/// which neighbours are adjacent; `H` how they are accessed.
pub struct Line<'v, T, H, const LAST: bool> {
    start: *mut T,
    stride: usize,
    len: usize,
    is_of_block: bool,
    view: PhantomData<(&'v [T], H)>,
}

impl<T: Element> Strided<T> {
    #[inline(always)]
    fn line<'v, H, const LAST: bool, const D: usize>(
        &self,
        index: [u64; MAX_RANK],
        dimension: usize,
        count: u32,
    ) -> Option<Line<'v, T, H, LAST>> {
        let moving = moving::<LAST, D>(dimension);
        let (extent, strides) = (self.extents(), self.strides());
        if !(0..D).all(|d| index[d] < extent[d]) || u64::from(count) > extent[moving] - index[moving] {
            return None;
        }
        let offset: usize =
            if D == 1 { index[0] as usize } else { (0..D).map(|d| index[d] as usize * strides[d] as usize).sum() };
        // SAFETY: this index is in bounds, so the element is one of the allocation.
        let start = unsafe { self.start().add(offset) };
        let (stride, len, is_of_block) = (strides[moving] as usize, count as usize, self.is_of_block());
        Some(Line { start, stride, len, is_of_block, view: PhantomData })
    }
}

/// The line of a view at this index, as a function for what macros write: see [`InLines::line`].
#[inline(always)]
pub fn line<'v, const LAST: bool, V: InLines, W: IndexWord, I: GridIndex<W>>(
    view: &'v V,
    index: I,
    dimension: usize,
    count: u32,
) -> Option<Line<'v, V::Element, V::How, LAST>> {
    view.line(index, dimension, count)
}

/// The narrow window of a view at this index, as a function for what macros write: see [`InLines::narrow`].
#[inline(always)]
pub fn narrow<const LAST: bool, V: InLines, W: IndexWord, I: GridIndex<W>>(
    view: &V,
    index: I,
    dimension: usize,
    stretch: &mut Stretch,
) {
    view.narrow::<LAST, W, I>(index, dimension, stretch);
}

impl<'v, T: Element, H, const LAST: bool> Line<'v, T, H, LAST> {
    /// The line with `count` for its length, which it must have: the compiler then sees that no number of a loop over
    /// `count` elements is out of bounds.
    #[inline(always)]
    pub fn of(self, count: usize) -> Line<'v, T, H, LAST> {
        assert!(self.len == count, "a line is as long as the loop over it");
        Line { len: count, ..self }
    }

    /// `count` of the elements, from number `first` on.
    #[inline(always)]
    pub fn part(&self, first: usize, count: usize) -> Line<'v, T, H, LAST> {
        assert!(first <= self.len && count <= self.len - first && count > 0);
        let skipped = if LAST { first } else { first * self.stride };
        // SAFETY: the elements are some of this line's.
        Line { start: unsafe { self.start.add(skipped) }, len: count, ..*self }
    }

    #[inline(always)]
    fn element(&self, number: usize) -> *mut T {
        assert!(number < self.len, "a line is as long as the loop over it");
        // SAFETY: the element is in bounds.
        unsafe { self.start.add(if LAST { number } else { number * self.stride }) }
    }
}

impl<T: Element, const LAST: bool> Index<usize> for Line<'_, T, ReadOnly, LAST> {
    type Output = T;
    #[inline(always)]
    fn index(&self, number: usize) -> &T {
        // SAFETY: nothing writes to the element while the view is borrowed: the view is a `Read`.
        unsafe { &*self.element(number) }
    }
}

// SAFETY: nothing in it needs to be dropped, and it does not call the thread.
unsafe impl<T: Element, const LAST: bool> Get for Line<'_, T, Relaxed, LAST> {
    type Index = usize;
    type Value = T;
    #[inline(always)]
    fn get(&self, number: usize, _: &Thread<'_>) -> T {
        // SAFETY: the element is one of a `Shared` view, which all threads touch by atomic instructions, or those of
        // one block alone.
        unsafe { shared_load(self.element(number), self.is_of_block) }
    }
}

// SAFETY: nothing in it needs to be dropped, and it does not call the thread.
unsafe impl<T: Element, const LAST: bool> Set for &Line<'_, T, Relaxed, LAST> {
    type Index = usize;
    type Value = T;
    #[inline(always)]
    fn set(self, number: usize, value: T, _: &Thread<'_>) {
        // SAFETY: as above.
        unsafe { shared_store(self.element(number), value, self.is_of_block) }
    }
}
