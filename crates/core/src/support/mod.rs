//! What the functions that the kernel macro writes call.

pub(crate) mod access;
mod arrays;
mod bits;
mod each;
mod loops;
mod numbers;
pub(crate) mod places;
pub(crate) mod spots;

pub use crate::rows::{Cut, InLines, Line, Parts, Row, Stretch, line, narrow, next_side};
pub use crate::thread::STEPS_PER_LOOK;
pub use access::{Extents, Get, Lanes, Named, Set, extent, get, is_empty, lanes, len, named, set};
pub use arrays::{Rows, array, repeat, row};
pub use bits::{bit_and, bit_or, bit_xor, eq, ne, not};
pub use each::{Each, EachOf, each};
pub use loops::{InRows, Pieces, Step, WideStep, next_piece, pieces, range_rows, rows, step_by};
pub use numbers::*;
pub use places::{axis, delinearize, linearize, with_axis};
pub use spots::{How, InPlace, ReadOnly, Relaxed, Spot, assign, element, fields, read, within};
