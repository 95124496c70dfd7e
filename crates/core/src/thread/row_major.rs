//! The row-major numbers of indices.

use wattle_ir::{IndexWord, MAX_RANK};

/// The index with row-major number `number` in `extent`.
#[inline]
pub(crate) fn delinearize<W: IndexWord>(number: W, extent: [W; MAX_RANK]) -> [W; MAX_RANK] {
    let mut index = [W::ZERO; MAX_RANK];
    let mut rest = number;
    for d in (1..MAX_RANK).rev() {
        index[d] = rest % extent[d];
        rest = rest / extent[d];
    }
    index[0] = rest;
    index
}

/// The row-major number of an index in `extent`.
pub(super) fn linearize(index: [u32; MAX_RANK], extent: [u32; MAX_RANK]) -> u32 {
    index.into_iter().zip(extent).fold(0, |number, (index, extent)| number * extent + index)
}
