//! The methods of numbers that are no operations of their own: those built of operations, and those that can fail.

/// The methods of numbers that are built of operations: the rows are those of [`operations!`](crate::operations!),
/// whose second names are not used. The intermediate representation does not know them; the builder has a function for
/// each.
#[macro_export]
macro_rules! compositions {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        unary {
            /// The reciprocal, rounded correctly (0.5 ulp).
            fn Float Recip "recip" recip(x) -> Self, rounded { float: 1.0 / x }
            /// The fractional part: the number less its whole part, with its sign; exact.
            fn Float Fract "fract" fract(x) -> Self, exact { float: x - x.trunc() }
            /// The sign of the number: of a float 1 with its sign, also of a zero, and NaN of a NaN; of an integer -1,
            /// 0 or 1.
            fn Signed Signum "signum" signum(x) -> Self, exact { signed: x.signum(), float: x.signum() }
            /// An angle in radians as degrees: the product with the nearest number to 180/π.
            fn Float ToDegrees "to_degrees" to_degrees(x) -> Self, rounded {
                float: x * Self::cast_from(57.29577951308232),
                half: x * 57.29577951308232f64 as f32
            }
            /// An angle in degrees as radians: the product with the nearest number to π/180.
            fn Float ToRadians "to_radians" to_radians(x) -> Self, rounded {
                float: x * Self::cast_from(0.017453292519943295),
                half: x * 0.017453292519943295f64 as f32
            }
            /// Whether the number is neither infinite nor NaN.
            fn Float IsFinite "is_finite" is_finite(x) -> bool, exact { float: x.is_finite() }
            /// Whether the number is an infinity.
            fn Float IsInfinite "is_infinite" is_infinite(x) -> bool, exact { float: x.is_infinite() }
            /// e to the power of the number, within 2^-21 + |x| 2^-23 of itself (CUDA's `__expf`).
            #[doc(alias = "__expf")]
            fn Float ExpFast "exp_fast" exp_fast(x) -> Self, near { float: math::exp_fast(x) }
            /// The natural logarithm, within 2^-21 from 0.5 to 2, and within 2^-20 of itself elsewhere (CUDA's
            /// `__logf`).
            #[doc(alias = "__logf")]
            fn Float LnFast "ln_fast" ln_fast(x) -> Self, near { float: math::ln_fast(x) }
            /// The logarithm to base 10, within 2^-21 from 0.5 to 2, and within 2^-20 of itself elsewhere (CUDA's
            /// `__log10f`).
            #[doc(alias = "__log10f")]
            fn Float Log10Fast "log10_fast" log10_fast(x) -> Self, near { float: math::log10_fast(x) }
            /// The tangent: `sin_fast` by `cos_fast` (CUDA's `__tanf`), within 2^-18 of
            /// itself and 2^-18 for angles from -1 to 1.
            #[doc(alias = "__tanf")]
            fn Float TanFast "tan_fast" tan_fast(x) -> Self, near { float: math::tan_fast(x) }
            /// Whether its sign is positive, also of a zero.
            fn Float IsSignPositive "is_sign_positive" is_sign_positive(x) -> bool, exact { float: x.is_sign_positive() }
            /// Whether its sign is negative, also of a zero.
            fn Float IsSignNegative "is_sign_negative" is_sign_negative(x) -> bool, exact { float: x.is_sign_negative() }
            /// The number of bits that are zero.
            fn Int CountZeros "count_zeros" count_zeros(x) -> u32, exact { int: x.count_zeros() }
            /// The number of one bits above the highest zero.
            fn Int LeadingOnes "leading_ones" leading_ones(x) -> u32, exact { int: x.leading_ones() }
            /// The number of one bits below the lowest zero.
            fn Int TrailingOnes "trailing_ones" trailing_ones(x) -> u32, exact { int: x.trailing_ones() }
            /// Whether exactly one bit is one.
            fn Word IsPowerOfTwo "is_power_of_two" is_power_of_two(x) -> bool, exact { word: x.is_power_of_two() }
            /// The bytes in the opposite order.
            #[doc(alias = "__byte_perm")]
            fn Int SwapBytes "swap_bytes" swap_bytes(x) -> Self, exact { int: x.swap_bytes() }
            /// The number of the highest bit that is one, which is the logarithm to base 2, rounded down; 0 for zero.
            fn Int Ilog2 "ilog2" ilog2(x) -> u32, exact { int: Self::BITS - 1 - (x | 1).leading_zeros() }
            /// The square root, rounded down.
            fn Word Isqrt "isqrt" isqrt(x) -> Self, exact { word: x.isqrt() }
        }
        binary {
            /// The size of the first number with the sign of the second.
            #[doc(alias("copysignf"))]
            fn Float Copysign "copysign" copysign(x, y) -> Self, exact { float: x.copysign(y) }
            /// The quotient, within 5 ulp for divisors whose size is from 2^-126 to 2^126 (CUDA's `__fdividef`).
            #[doc(alias("__fdividef", "div.approx"))]
            fn Float DivFast "div_fast" div_fast(x, y) -> Self, near { float: math::div_fast(x, y) }
            /// A positive number to the power of the second one, by the logarithm: within 2^-21 + |y log2(x)| 2^-21 of
            /// itself where the logarithm is not between -1 and 1 (CUDA's `__powf`).
            #[doc(alias = "__powf")]
            fn Float PowFast "pow_fast" pow_fast(x, y) -> Self, near { float: math::pow_fast(x, y) }
            /// The bits moved up by a count that is taken modulo the width; those that leave come in at the other end.
            #[doc(alias = "__funnelshift_l")]
            fn Int RotateLeft "rotate_left" rotate_left(x, count: u32) -> Self, exact { int: x.rotate_left(count) }
            /// The bits moved down by a count that is taken modulo the width; those that leave come in at the other
            /// end.
            fn Int RotateRight "rotate_right" rotate_right(x, count: u32) -> Self, exact { int: x.rotate_right(count) }
            /// The sum, or the type's bound where that is beyond it.
            fn Int SaturatingAdd "saturating_add" saturating_add(x, y) -> Self, exact { int: x.saturating_add(y) }
            /// The difference, or the type's bound where that is beyond it.
            fn Int SaturatingSub "saturating_sub" saturating_sub(x, y) -> Self, exact { int: x.saturating_sub(y) }
            /// The product, or the type's bound where that is beyond it.
            fn Int SaturatingMul "saturating_mul" saturating_mul(x, y) -> Self, exact { int: x.saturating_mul(y) }
            /// The sum, which wraps as `x + y` does in kernels.
            fn Int WrappingAdd "wrapping_add" wrapping_add(x, y) -> Self, exact { int: x.wrapping_add(y) }
            /// The difference, which wraps as `x - y` does in kernels.
            fn Int WrappingSub "wrapping_sub" wrapping_sub(x, y) -> Self, exact { int: x.wrapping_sub(y) }
            /// The product, which wraps as `x * y` does in kernels.
            fn Int WrappingMul "wrapping_mul" wrapping_mul(x, y) -> Self, exact { int: x.wrapping_mul(y) }
            /// The distance between two numbers.
            fn Word AbsDiff "abs_diff" abs_diff(x, y) -> Self, exact { word: x.abs_diff(y) }
        }
    } };
}

/// The methods of numbers that can fail, which is a fault, and gives 0.
///
/// A row is
///
/// ```text
/// /// The documentation of the method.
/// Class fault method(operands) { kind: meaning, … }
/// ```
///
/// - `fault` is `by_zero` where a divisor of zero is the fault, `overflow` where a result beyond the type is.
/// - `Class`, operands and kinds are those of [`operations!`](crate::operations!); the meaning is an `Option`, `None`
///   for the fault.
#[macro_export]
macro_rules! faulting {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// The quotient, rounded so that the remainder is not negative; an integer divided by zero is a fault.
        Number by_zero div_euclid(x, y) {
            int: (y != 0).then(|| x.wrapping_div_euclid(y)), float: Some(euclid_quotient(x, y))
        }
        /// The remainder from 0 to the size of the divisor; an integer divided by zero is a fault. Of floats it is
        /// rounded once, to the divisor's size if that is nearest, and a subnormal `x % y` counts as zero.
        Number by_zero rem_euclid(x, y) {
            int: (y != 0).then(|| x.wrapping_rem_euclid(y)), float: Some(euclid_remainder(x, y))
        }
        /// The quotient, rounded up; a divisor of zero is a fault.
        Word by_zero div_ceil(x, y) { word: (y != 0).then(|| x.div_ceil(y)) }
        /// The sum; one that is beyond the type is a fault.
        Int overflow checked_add(x, y) { int: x.checked_add(y) }
        /// The difference; one that is beyond the type is a fault.
        Int overflow checked_sub(x, y) { int: x.checked_sub(y) }
        /// The product; one that is beyond the type is a fault.
        Int overflow checked_mul(x, y) { int: x.checked_mul(y) }
        /// The negation; one that is beyond the type is a fault.
        Int overflow checked_neg(x) { int: x.checked_neg() }
        /// The power; one that is beyond the type is a fault.
        Int overflow checked_pow(x, n: u32) { int: x.checked_pow(n) }
    } };
}
