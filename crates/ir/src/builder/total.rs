//! How many indices a range of several dimensions has, where they are numbered.

use super::dimension::Dimension;
use super::{Builder, Val};
use crate::{Expr, IndexWord, Place, Type};

/// The message of the fault for a range of too many indices, on every device.
pub const TOO_MANY_INDICES: &str = "the range has 2^32 indices or more, and kernels number them with `u32`: share out its slower \
                                    dimensions by `acc.indices`, and loop over the others in the body, or write `#[kernel(wide)]`, with indices of `u64`";

/// The message of the fault for a range of more indices than 64 bits number.
const FAR_TOO_MANY_INDICES: &str = "the range has 2^64 indices or more, and kernels number them with `u64`";

/// The message of the fault for a range of more indices than numbers of this type.
pub fn too_many_indices<W: IndexWord>() -> &'static str {
    if W::TYPE == Type::U64 { FAR_TOO_MANY_INDICES } else { TOO_MANY_INDICES }
}

/// The greatest number of an index.
fn mask_of<W: IndexWord>() -> u64 {
    W::truncated(u64::MAX).into()
}

/// The product of the counts. Where it is 2³² or more (2⁶⁴ in a kernel that is wide) there is a fault, and none of the
/// indices is gone over.
#[track_caller]
pub(super) fn total<'b, W: IndexWord>(
    builder: &'b Builder,
    dimensions: &[Dimension<'b, W>],
    counts: &[Val<'b, W>],
) -> Val<'b, W> {
    let one = || builder.lit(W::ONE);
    let product = counts.iter().copied().reduce(|x, y| builder.mul(x, y)).unwrap_or_else(one);
    if are_of_one_view(builder, dimensions) || are_few(builder, counts) {
        return product;
    }
    let zero = builder.lit(W::ZERO);
    let (mut is_empty, mut beyond) = (builder.lit(false), builder.lit(false));
    let mut before = one();
    for &count in counts {
        is_empty = builder.bit_or(is_empty, builder.eq(count, zero));
        beyond = builder.bit_or(beyond, builder.ne(before.mul_hi(count), zero));
        before = builder.mul(before, count);
    }
    let is_right = builder.bit_or(is_empty, builder.not(beyond));
    builder.assert(is_right, too_many_indices::<W>().into(), &[]);
    Val::select(is_right, product, zero)
}

/// Whether there are surely fewer than 2³² indices, in launches with as many elements.
pub(super) fn are_few_in_all(builder: &Builder, dimensions: &[Dimension<'_>]) -> bool {
    let ends: Vec<_> = dimensions.iter().map(|dimension| dimension.end).collect();
    are_of_one_view(builder, dimensions) || are_few(builder, &ends)
}

/// Whether the dimensions are the extent of one view, which has fewer elements.
fn are_of_one_view<W: IndexWord>(builder: &Builder, dimensions: &[Dimension<'_, W>]) -> bool {
    let mut of: Option<Place> = None;
    (0..).zip(dimensions).all(|(d, dimension)| {
        let is = |value: Val<'_, W>, wanted| builder.constant(value.id).is_some_and(|constant| constant.raw == wanted);
        let Expr::Extent(place, number) = builder.expr(dimension.end.id) else { return false };
        is(dimension.begin, 0) && is(dimension.step, 1) && number == d && *of.get_or_insert(place) == place
    })
}

/// Whether the counts are constants, with a product below 2³² (2⁶⁴ for `u64`).
fn are_few<W: IndexWord>(builder: &Builder, counts: &[Val<'_, W>]) -> bool {
    let constants = counts.iter().map(|count| builder.constant(count.id).map(|constant| constant.raw));
    let product = constants.into_iter().try_fold(1u64, |product, count| product.checked_mul(count?));
    product.is_some_and(|product| product <= mask_of::<W>())
}
