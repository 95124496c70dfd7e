//! Rows in runs: where the kernel branches on a loop's index, so that the loop over a run has no branch in it.

use wattle_ir::{Axes, IndexWord};

use super::Row;
use crate::elements::Places;

/// The numbers of a row for which a condition holds that compares numbers which move along with its indices: they are
/// consecutive, so that the row is up to three runs, in each of which the condition is one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    count: u32,
    begin: u64,
    end: u64,
    /// Whether the runs are known: not where a number that is compared wraps within the row.
    is_known: bool,
}

impl<R: Axes, P: Places> Row<R, P> {
    /// The cut of which all numbers of the row are left. None is known where neighbours in the row are not neighbours
    /// in the map.
    #[inline(always)]
    pub fn cut(&self) -> Cut {
        Cut { count: self.count, begin: 0, end: u64::from(self.count), is_known: self.is_plain() }
    }
}

impl Cut {
    #[inline(always)]
    fn moves<W: IndexWord>(&mut self, first: u64) {
        let last = first.checked_add(u64::from(self.count).saturating_sub(1));
        self.is_known &= last.is_some_and(|last| last <= W::truncated(u64::MAX).into());
    }

    /// Leaves the numbers for which `condition` holds, which is the same for all of them.
    #[inline(always)]
    pub fn when(&mut self, condition: bool) {
        self.end = if condition { self.end } else { 0 };
    }

    /// Leaves the numbers for which what is `first` at the row's begin is below `bound`.
    #[inline(always)]
    pub fn lt<W: IndexWord>(&mut self, first: W, bound: W) {
        let (first, bound): (u64, u64) = (first.into(), bound.into());
        self.moves::<W>(first);
        self.end = self.end.min(bound.saturating_sub(first));
    }

    /// Leaves the numbers for which what is `first` at the row's begin is `bound` at the most.
    #[inline(always)]
    pub fn le<W: IndexWord>(&mut self, first: W, bound: W) {
        let (first, bound): (u64, u64) = (first.into(), bound.into());
        self.moves::<W>(first);
        self.end = self.end.min(if bound < first { 0 } else { (bound - first).saturating_add(1) });
    }

    /// Leaves the numbers for which what is `first` at the row's begin is `bound` at least.
    #[inline(always)]
    pub fn ge<W: IndexWord>(&mut self, first: W, bound: W) {
        let (first, bound): (u64, u64) = (first.into(), bound.into());
        self.moves::<W>(first);
        self.begin = self.begin.max(bound.saturating_sub(first));
    }

    /// Leaves the numbers for which what is `first` at the row's begin is above `bound`.
    #[inline(always)]
    pub fn gt<W: IndexWord>(&mut self, first: W, bound: W) {
        let (first, bound): (u64, u64) = (first.into(), bound.into());
        self.moves::<W>(first);
        self.begin = self.begin.max(if bound < first { 0 } else { (bound - first).saturating_add(1) });
    }
}

/// The next run of a row in which the condition of `cut` is one value, and that value, where it is known. What it is
/// taken from goes on behind it.
#[inline(always)]
pub fn next_side<R: Axes, P: Places>(
    row: &mut Row<R, P>,
    passed: &mut u32,
    cut: Cut,
) -> Option<(Row<R, P>, Option<bool>)> {
    if row.count == 0 {
        return None;
    }
    let first = u64::from(*passed);
    let (holds, end) = if !cut.is_known {
        (None, u64::MAX)
    } else if first >= cut.end || cut.begin >= cut.end {
        (Some(false), u64::MAX)
    } else if first < cut.begin {
        (Some(false), cut.begin)
    } else {
        (Some(true), cut.end)
    };
    let run = row.take((end - first).min(u64::from(u32::MAX)) as u32);
    *passed += run.count;
    Some((run, holds))
}
