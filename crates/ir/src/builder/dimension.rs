//! Ranges of indices, dimension by dimension.

use super::{Builder, Val};
use crate::{Axes, IndexWord, NumberOps as _};

/// The bounds and the step of a range of indices in one of its dimensions.
#[derive(Clone, Copy)]
pub struct Dimension<'b, W = u32> {
    pub(super) begin: Val<'b, W>,
    pub(super) end: Val<'b, W>,
    pub(super) step: Val<'b, W>,
}

/// The numbers of the dimensions of a range.
pub(super) type Dimensions<'b, R> = Vec<Dimension<'b, <R as Axes>::Word>>;

/// The dimensions of a range between two indices, with these steps.
pub(super) fn dimensions<'b, R: Axes>(
    begin: R::Built<'b>,
    end: R::Built<'b>,
    steps: Vec<Val<'b, R::Word>>,
) -> Dimensions<'b, R> {
    let bounds = R::spread_built(begin).into_iter().zip(R::spread_built(end));
    bounds.zip(steps).map(|((begin, end), step)| Dimension { begin, end, step }).collect()
}

/// The dimensions of all indices below an extent.
pub(super) fn below<'b, R: Axes>(builder: &'b Builder, extent: R::Built<'b>) -> Dimensions<'b, R> {
    let (begin, step) = (builder.lit(R::Word::ZERO), builder.lit(R::Word::ONE));
    R::spread_built(extent).into_iter().map(|end| Dimension { begin, end, step }).collect()
}

impl<'b, W: IndexWord> Dimension<'b, W> {
    /// The dimension with numbers of 32 bits, where they are known to fit.
    pub(super) fn as_words(&self, builder: &'b Builder) -> Option<Dimension<'b>> {
        let word = |value: Val<'b, W>| Some(Val::new(builder, builder.as_word(value.id)?));
        Some(Dimension { begin: word(self.begin)?, end: word(self.end)?, step: word(self.step)? })
    }
}
