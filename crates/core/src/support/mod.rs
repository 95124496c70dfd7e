//! What the functions that the kernel macro writes call.

mod access;
mod arrays;
mod loops;
mod numbers;
mod places;
mod spots;

pub use access::{Extents, Get, Lanes, Named, Set, extent, get, is_empty, lanes, len, named, set};
pub use arrays::{Rows, array, repeat, row};
pub use loops::{
    Pieces, Run, STEPS_PER_LOOK, Step, bounds, elements, elements_together, indexer, next_piece, piece_end, pieces,
    step_by, window,
};
pub use numbers::*;
pub use places::{axis, delinearize, linearize, with_axis};
pub use spots::{How, InPlace, ReadOnly, Relaxed, Spot, assign, element, fields, read, within};
