//! Extents of buffers and launches.

use std::fmt;
use wattle_ir::format_index;

use wattle_ir::{Axes as _, Dim, Idx, MAX_RANK, Rank};

use crate::error::{ErrorKind, Result};

/// An extent in `D` dimensions, in elements, blocks, threads or frames. Dimension 0 varies slowest.
///
/// The product of all fits a `usize`. It may be zero: there is nothing to do then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent<const D: usize>([usize; D]);

impl<const D: usize> Extent<D> {
    /// The extent in each dimension.
    pub fn get(&self) -> [usize; D] {
        self.0
    }

    /// The product of the extents in all dimensions.
    pub fn count(&self) -> usize {
        self.0.iter().product()
    }

    /// The extents in an array of the greatest rank, with ones behind.
    pub(crate) fn spread(&self) -> [u64; MAX_RANK] {
        std::array::from_fn(|d| self.0.get(d).copied().unwrap_or(1) as u64)
    }
}

impl<const D: usize> fmt::Display for Extent<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_index(&self.0))
    }
}

/// What an extent can be written as: a `usize` or `u32` in one dimension, an array of them in more, or an [`Extent`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extent in {D} dimensions",
    note = "write a number for one dimension, an array of numbers for more: `[height, width]`"
)]
pub trait ToExtent<const D: usize>: Copy + fmt::Debug {
    /// The extent in each dimension, unchecked.
    fn raw(self) -> [usize; D];
}

/// A type of extents: `usize` and `u32`. `i32` is among them since a plain `64` is one where several types are
/// possible; what is negative is beyond every device.
pub trait Count: Copy + fmt::Debug + TryInto<usize> {}
impl Count for usize {}
impl Count for u32 {}
impl Count for i32 {}

impl<N: Count> ToExtent<1> for N {
    fn raw(self) -> [usize; 1] {
        [self.try_into().unwrap_or(usize::MAX)]
    }
}

impl<N: Count, const D: usize> ToExtent<D> for [N; D] {
    fn raw(self) -> [usize; D] {
        self.map(|extent| extent.try_into().unwrap_or(usize::MAX))
    }
}

impl<const D: usize> ToExtent<D> for Extent<D> {
    fn raw(self) -> [usize; D] {
        self.0
    }
}

/// Checks an extent; `what` names its owner in the error.
pub(crate) fn check<const D: usize>(extent: impl ToExtent<D>, what: &'static str) -> Result<Extent<D>> {
    let raw = extent.raw();
    let refuse = |why| Err(ErrorKind::Extent { what, extent: format!("{raw:?}"), why }.into());
    if !(1..=MAX_RANK).contains(&D) {
        return refuse("launches and buffers have 1 to 4 dimensions");
    }
    // The distance of neighbours in a dimension is the product of those behind it, also where one before it is zero.
    let strides = raw.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent.max(1)));
    match strides {
        Some(product) if product <= isize::MAX as usize => Ok(Extent(raw)),
        _ => refuse("the product is 2^63 or more, and no memory is as large; allocate less"),
    }
}

/// Checks the number of blocks, frames or threads in each dimension, which kernels count with 32 bits.
pub(crate) fn check_count<const D: usize>(extent: [usize; D], what: &'static str) -> Result<[u32; MAX_RANK]> {
    let count = |extent: &usize| u32::try_from(*extent).ok();
    let product = extent.iter().try_fold(1u32, |product, extent| product.checked_mul(count(extent)?));
    let is_counted = product.is_some() || extent.contains(&0) && extent.iter().all(|extent| count(extent).is_some());
    if !is_counted {
        let why = "the product is 2^32 or more, and a launch has 4294967295 at the most; split the work into several launches, \
                   or let each thread do more of it";
        return Err(ErrorKind::Extent { what, extent: format!("{extent:?}"), why }.into());
    }
    check(extent, what).map(|extent| extent.spread().map(|extent| extent as u32))
}

/// Checks an extent that work is shared out by, as [`check_count`] does and against zero, with which there would be no
/// thread to do it.
pub(crate) fn check_share<const D: usize>(extent: [usize; D], what: &'static str) -> Result<[u32; MAX_RANK]> {
    if extent.contains(&0) {
        let why = "an extent of zero; it must be at least 1 in each dimension";
        return Err(ErrorKind::Extent { what, extent: format!("{extent:?}"), why }.into());
    }
    check_count(extent, what)
}

/// The index of `D` dimensions from the front of an array.
pub(crate) fn gather<const D: usize>(all: [u32; MAX_RANK]) -> Idx<D>
where
    Dim<D>: Rank,
{
    Dim::<D>::gather(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_1_to_4_dimensions() {
        assert!(check([1usize; 4], "a buffer").is_ok());
        let said = |error: crate::Error| error.to_string().contains("1 to 4 dimensions");
        assert!(check([2usize; 5], "a buffer").is_err_and(said));
        assert!(check::<0>([0usize; 0], "a buffer").is_err_and(said));
    }
}
