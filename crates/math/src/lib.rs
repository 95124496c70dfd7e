//! Mathematical functions that have the same bits on every device.
//!
//! Each function is written once, over [`Real`]: additions, multiplications, divisions and square roots of IEEE 754,
//! comparisons, choices, and operations on the bits. `f32` and `f64` are [`Real`], and the functions are the host's and
//! the interpreter's; so are the expressions of a kernel, and the functions are what code generators emit. Nothing is
//! contracted and nothing depends on a branch, so that all give the same bits, but for the payloads of NaN and
//! subnormal numbers, and so that loops over slices are vectorized.
//!
//! A function's bound is the distance between its result and the true value for the operands as they are, in units in
//! the last place (ulp) of the true value. It holds for all operands, also the largest; where the true value is within
//! the bound of the largest finite number, the result may be infinite. A subnormal operand may count as a zero of its
//! sign, and a result whose true value is subnormal may be any number from zero to the least normal one, with its sign.
//! Special values are those of C (ISO C 2011, annex F.10).
//!
//! The polynomials' coefficients are those of the least greatest error (Remez' exchange), computed to 200 bits and
//! rounded; each is worth less than a tenth of an ulp.
//!
//! Floats of 16 bits are not [`Real`]: they are computed with as `f32`, by [`widen`] and [`narrow`].
//!
//! What never will live here: a kernel's expressions, and a device.

mod atan;
mod digits;
mod double_word;
mod exp;
mod exp_by;
mod fast;
mod fma;
mod fmod;
mod half;
mod host;
mod ln;
mod ln_by;
mod payne_hanek;
mod pow;
mod real;
mod root;
mod round;
mod trig;

pub use atan::{acos, asin, atan, atan2};
pub use double_word::{DoubleWord, dekker_product, fast_two_sum, two_sum};
pub use exp::{exp, exp_m1, exp2};
pub use exp_by::{cosh, sinh, tanh};
pub use fast::{
    cos_fast, div_fast, exp_fast, exp2_fast, ln_fast, log2_fast, log10_fast, pow_fast, recip_fast, rsqrt_fast,
    sin_fast, sqrt_fast, tan_fast, tanh_fast,
};
pub use fma::fma;
pub use fmod::fmod;
pub use half::{HalfFormat, fused, narrow, sticky, widen};
pub use ln::{ln, ln_1p, log2, log10};
pub use ln_by::{acosh, asinh, atanh};
pub use pow::{pow, powi};
pub use real::{Coefficients, Flag, Real, Reduced, Word};
pub use root::{cbrt, hypot, rsqrt};
pub use round::round;
pub use trig::{cos, sin, sin_cos, tan};
