//! What kernels can compute, as tables: the types of values, the operations on numbers, the atomic operations, and those of
//! warps.
//!
//! Each table is a macro that hands its rows to another one: `operations!(each more)` becomes `each!(more rows)`. From
//! the rows come the enumerations with their names and typing rules, the evaluator, the methods of numbers on the host
//! and in the builder, and the names that the kernel macro knows. A new operation is a new row, and an arm in each code
//! generator, which does not compile without it; so is a new type, with its meaning in Rust in `ir::scalar`.
//!
//! The tables are a crate of their own because the kernel macro reads them too. What never will live here: code.

#![no_std]

/// The operations that are expressions. None can fail: integer division, which can, is a statement.
///
/// A row is
///
/// ```text
/// /// The documentation of the operation and of its methods.
/// how Class Variant "name" method(operands) -> Result, precision { kind: meaning, … }
/// ```
///
/// - `how` is `fn` for what kernels write as a method, `op` for what they write with a sign of Rust's. `by` is a method
///   too, of floats, which no code generator sees: expressions in `math`, which is `wattle-math`, replace it before. `fast`
///   is one that they replace where the target has no instruction for it.
/// - `Class` is the trait of the numbers that have the method; `Sign` for what has no method on the host.
/// - `"name"` is what the printer writes.
/// - The operands have the type of the first one where nothing else is said, and `Self` is that type.
/// - `precision` is that of the result on floats: `exact` results are the operand or an integer and have the same bits on
///   all devices; `rounded` ones are rounded once as IEEE 754 says, and may be subnormal; `bounded` ones are within the
///   stated bound, may be subnormal, and have the same bits on all devices too; `near` ones are within the stated bound,
///   and have other bits on other devices.
/// - The kinds are `bool`, `int` (all integers), `signed` and `word` (unsigned, 32 or 64 bits), `float`, and `any`. The
///   operation exists on the types of these kinds; the expression is its meaning there, in Rust.
/// - Floats of 16 bits are computed with as `f32`: the operands are widened, `float` (or `half`, which goes before it) is
///   the meaning on these, and a result of type `Self` is rounded.
#[macro_export]
macro_rules! operations {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        unary {
            /// The negation; integers wrap.
            op Signed Neg "-" neg(x) -> Self, exact { signed: x.wrapping_neg(), float: -x }
            /// The complement.
            op Int Not "!" not(x) -> Self, exact { bool: !x, int: !x }
            /// The absolute value; integers wrap (the least value stays itself).
            fn Signed Abs "abs" abs(x) -> Self, exact { signed: x.wrapping_abs(), float: x.abs() }
            /// The square root, rounded correctly (0.5 ulp). Below zero it is NaN; of -0 it is -0.
            fn Float Sqrt "sqrt" sqrt(x) -> Self, rounded { float: x.sqrt() }
            /// One by the square root, within 1.5 ulp. Below zero it is NaN; of a zero it is an infinity with the zero's
            /// sign.
            by Float Rsqrt "rsqrt" rsqrt(x) -> Self, bounded { float: math::rsqrt(x) }
            /// The cube root, within 1 ulp, with the sign of the number.
            by Float Cbrt "cbrt" cbrt(x) -> Self, bounded { float: math::cbrt(x) }
            /// The exponential, within 1.5 ulp. Beyond the range it is infinity or 0.
            by Float Exp "exp" exp(x) -> Self, bounded { float: math::exp(x) }
            /// 2 to the power of the number, within 1.5 ulp. Beyond the range it is infinity or 0.
            by Float Exp2 "exp2" exp2(x) -> Self, bounded { float: math::exp2(x) }
            /// The exponential less 1, within 1.5 ulp, also where that is small; of -0 it is -0.
            by Float ExpM1 "exp_m1" exp_m1(x) -> Self, bounded { float: math::exp_m1(x) }
            /// The natural logarithm, within 1.5 ulp. Below zero it is NaN; of a zero it is -infinity.
            by Float Ln "ln" ln(x) -> Self, bounded { float: math::ln(x) }
            /// The logarithm to base 2, within 1.5 ulp; exact of powers of 2. Below zero it is NaN; of a zero it is -infinity.
            by Float Log2 "log2" log2(x) -> Self, bounded { float: math::log2(x) }
            /// The logarithm to base 10, within 1.5 ulp. Below zero it is NaN; of a zero it is -infinity.
            by Float Log10 "log10" log10(x) -> Self, bounded { float: math::log10(x) }
            /// The natural logarithm of 1 more, within 1.5 ulp, also where the number is small; of -0 it is -0. Below -1 it
            /// is NaN; of -1 it is -infinity.
            by Float Ln1p "ln_1p" ln_1p(x) -> Self, bounded { float: math::ln_1p(x) }
            /// The sine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN; of -0 it
            /// is -0.
            by Float Sin "sin" sin(x) -> Self, bounded { float: math::sin(x) }
            /// The cosine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN.
            by Float Cos "cos" cos(x) -> Self, bounded { float: math::cos(x) }
            /// The tangent of an angle in radians, within 3 ulp for every finite angle. Of an infinity it is NaN; of -0 it
            /// is -0.
            by Float Tan "tan" tan(x) -> Self, bounded { float: math::tan(x) }
            /// The angle from -π/2 to π/2 of this sine, within 1.5 ulp; of -0 it is -0. Beyond 1 it is NaN.
            by Float Asin "asin" asin(x) -> Self, bounded { float: math::asin(x) }
            /// The angle from 0 to π of this cosine, within 1.5 ulp. Beyond 1 it is NaN.
            by Float Acos "acos" acos(x) -> Self, bounded { float: math::acos(x) }
            /// The angle from -π/2 to π/2 of this tangent, within 1.5 ulp; of -0 it is -0.
            by Float Atan "atan" atan(x) -> Self, bounded { float: math::atan(x) }
            /// The hyperbolic sine, within 3 ulp; of -0 it is -0.
            by Float Sinh "sinh" sinh(x) -> Self, bounded { float: math::sinh(x) }
            /// The hyperbolic cosine, within 2 ulp.
            by Float Cosh "cosh" cosh(x) -> Self, bounded { float: math::cosh(x) }
            /// The hyperbolic tangent, within 3 ulp. Of an infinity it is 1 with the infinity's sign; of -0 it is -0.
            by Float Tanh "tanh" tanh(x) -> Self, bounded { float: math::tanh(x) }
            /// The inverse of the hyperbolic sine, within 3 ulp; of -0 it is -0.
            by Float Asinh "asinh" asinh(x) -> Self, bounded { float: math::asinh(x) }
            /// The inverse of the hyperbolic cosine, within 3 ulp. Below 1 it is NaN.
            by Float Acosh "acosh" acosh(x) -> Self, bounded { float: math::acosh(x) }
            /// The inverse of the hyperbolic tangent, within 3 ulp; of -0 it is -0. Of 1 it is infinity, beyond NaN.
            by Float Atanh "atanh" atanh(x) -> Self, bounded { float: math::atanh(x) }
            /// One by the number, within 3 ulp for sizes from 2^-126 to 2^126 (CUDA's `__frcp_rn` without its rounding).
            #[doc(alias("__frcp_rn", "rcp.approx"))]
            fast Float RecipFast "recip_fast" recip_fast(x) -> Self, near { float: math::recip_fast(x) }
            /// The square root, within 5 ulp.
            #[doc(alias("sqrt.approx"))]
            fast Float SqrtFast "sqrt_fast" sqrt_fast(x) -> Self, near { float: math::sqrt_fast(x) }
            /// One by the square root, within 8 ulp.
            #[doc(alias("rsqrtf", "__frsqrt_rn", "rsqrt.approx"))]
            fast Float RsqrtFast "rsqrt_fast" rsqrt_fast(x) -> Self, near { float: math::rsqrt_fast(x) }
            /// 2 to the power of the number, within 2^-21 of itself.
            #[doc(alias("exp2f", "ex2.approx"))]
            fast Float Exp2Fast "exp2_fast" exp2_fast(x) -> Self, near { float: math::exp2_fast(x) }
            /// The logarithm to base 2, within 2^-21 from 0.5 to 2, and within 2^-21 of itself elsewhere (CUDA's `__log2f`).
            #[doc(alias("__log2f", "lg2.approx"))]
            fast Float Log2Fast "log2_fast" log2_fast(x) -> Self, near { float: math::log2_fast(x) }
            /// The sine, within 2^-20 for angles from -π to π (CUDA's `__sinf`). The error grows with the angle.
            #[doc(alias("__sinf", "sin.approx"))]
            fast Float SinFast "sin_fast" sin_fast(x) -> Self, near { float: math::sin_fast(x) }
            /// The cosine, within 2^-20 for angles from -π to π (CUDA's `__cosf`). The error grows with the angle.
            #[doc(alias("__cosf", "cos.approx"))]
            fast Float CosFast "cos_fast" cos_fast(x) -> Self, near { float: math::cos_fast(x) }
            /// The hyperbolic tangent, within 2^-10 of itself (PTX's `tanh.approx`).
            #[doc(alias("tanh.approx", "__tanhf"))]
            fast Float TanhFast "tanh_fast" tanh_fast(x) -> Self, near { float: math::tanh_fast(x) }
            /// The greatest whole number that is not greater; exact.
            fn Float Floor "floor" floor(x) -> Self, exact { float: x.floor() }
            /// The least whole number that is not less; exact.
            fn Float Ceil "ceil" ceil(x) -> Self, exact { float: x.ceil() }
            /// The nearest whole number, halves away from zero; exact.
            by Float Round "round" round(x) -> Self, exact { float: math::round(x) }
            /// The nearest whole number, halves to the even one; exact.
            fn Float RoundTiesEven "round_ties_even" round_ties_even(x) -> Self, exact { float: x.round_ties_even() }
            /// The nearest whole number that is not greater in size; exact.
            fn Float Trunc "trunc" trunc(x) -> Self, exact { float: x.trunc() }
            /// Whether it is not a number.
            fn Float IsNan "is_nan" is_nan(x) -> bool, exact { float: x.is_nan() }
            /// How many bits are one.
            #[doc(alias = "__popc")]
            fn Int CountOnes "count_ones" count_ones(x) -> u32, exact { int: x.count_ones() }
            /// The bits in the opposite order.
            #[doc(alias = "__brev")]
            fn Int ReverseBits "reverse_bits" reverse_bits(x) -> Self, exact { int: x.reverse_bits() }
            /// How many bits are zero above the highest one; the width for zero.
            #[doc(alias = "__clz")]
            fn Int LeadingZeros "leading_zeros" leading_zeros(x) -> u32, exact { int: x.leading_zeros() }
            /// How many bits are zero below the lowest one; the width for zero.
            #[doc(alias = "__ffs")]
            fn Int TrailingZeros "trailing_zeros" trailing_zeros(x) -> u32, exact { int: x.trailing_zeros() }
        }
        binary {
            /// The sum; integers wrap.
            op Number Add "+" add(x, y) -> Self, rounded { int: x.wrapping_add(y), float: x + y }
            /// The difference; integers wrap.
            op Number Sub "-" sub(x, y) -> Self, rounded { int: x.wrapping_sub(y), float: x - y }
            /// The product; integers wrap.
            op Number Mul "*" mul(x, y) -> Self, rounded { int: x.wrapping_mul(y), float: x * y }
            /// The quotient of floats.
            op Sign Div "/" quotient(x, y) -> Self, rounded { float: x / y }
            /// The lesser; of floats the one that is a number, and -0 is less than +0.
            fn Number Min "min" min(x, y) -> Self, exact { int: Ord::min(x, y), float: lesser(x, y) }
            /// The greater; of floats the one that is a number, and -0 is less than +0.
            fn Number Max "max" max(x, y) -> Self, exact { int: Ord::max(x, y), float: greater(x, y) }
            /// The first number to the power of the second, within 1.5 ulp. Below zero it is NaN unless the exponent is a
            /// whole number; for the exponent 0 and the base 1 it is 1, also where the other is NaN.
            by Float Pow "pow" powf(x, y) -> Self, bounded { float: math::pow(x, y) }
            /// The number to the power of an integer, within 1.5 ulp; for the exponent 0 it is 1, also of a NaN.
            by Float Powi "powi" powi(x, n: i32) -> Self, bounded { float: math::powi(x, n) }
            /// The angle of the point (`x`, `self`) from -π to π, within 2 ulp. The signs of zeros count.
            by Float Atan2 "atan2" atan2(y, x) -> Self, bounded { float: math::atan2(y, x) }
            /// The square root of the sum of both squares, within 1.5 ulp, also where a square is out of range. Of an
            /// infinity it is infinity, also with a NaN.
            by Float Hypot "hypot" hypot(x, y) -> Self, bounded { float: math::hypot(x, y) }
            /// What remains of the first number where the second one is taken off as often as it fits, with the sign of the
            /// first; exact. It is what `x % y` is of floats. It is NaN for an `x` that is not finite and a `y` that is
            /// zero; a subnormal `y` counts as zero.
            #[doc(alias = "fmodf")]
            by Float Fmod "fmod" fmod(x, y) -> Self, rounded { float: math::fmod(x, y) }
            /// The high half of the full product, which has twice the width: the product divided by 2 to the width.
            #[doc(alias = "__umulhi")]
            fn Word MulHi "mul_hi" mul_hi(x, y) -> Self, exact { word: x.carrying_mul(y, 0).1 }
            /// Bitwise and.
            op Int And "&" and(x, y) -> Self, exact { bool: x & y, int: x & y }
            /// Bitwise or.
            op Int Or "|" or(x, y) -> Self, exact { bool: x | y, int: x | y }
            /// Bitwise exclusive or.
            op Int Xor "^" xor(x, y) -> Self, exact { bool: x ^ y, int: x ^ y }
            /// Shift left by a count that is taken modulo the width.
            op Int Shl "<<" shl(x, count: u32) -> Self, exact { int: x.wrapping_shl(count) }
            /// Shift right by a count that is taken modulo the width; arithmetic for signed types.
            op Int Shr ">>" shr(x, count: u32) -> Self, exact { int: x.wrapping_shr(count) }
            /// Equality.
            op Sign Eq "==" eq(x, y) -> bool, exact { any: x == y }
            /// Inequality.
            op Sign Ne "!=" ne(x, y) -> bool, exact { any: x != y }
            /// Less.
            op Sign Lt "<" lt(x, y) -> bool, exact { int: x < y, float: x < y }
            /// Less or equal.
            op Sign Le "<=" le(x, y) -> bool, exact { int: x <= y, float: x <= y }
            /// Greater.
            op Sign Gt ">" gt(x, y) -> bool, exact { int: x > y, float: x > y }
            /// Greater or equal.
            op Sign Ge ">=" ge(x, y) -> bool, exact { int: x >= y, float: x >= y }
        }
        ternary {
            /// `x * y + z`, rounded once (0.5 ulp).
            #[doc(alias("fmaf", "__fmaf_rn"))]
            fn Float Fma "fma" fma(x, y, z) -> Self, rounded { float: x.mul_add(y, z), half: fused::<Self>(x, y, z) }
        }
    } };
}

/// The methods of numbers that are built of operations: the rows are those of [`operations!`], whose second names are not
/// used. The intermediate representation does not know them; the builder has a function for each.
#[macro_export]
macro_rules! compositions {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        unary {
            /// One by the number, rounded correctly (0.5 ulp).
            fn Float Recip "recip" recip(x) -> Self, rounded { float: 1.0 / x }
            /// What the number is more than its whole part, with its sign; exact.
            fn Float Fract "fract" fract(x) -> Self, exact { float: x - x.trunc() }
            /// Of a float 1 with its sign, also of a zero, and NaN of a NaN; of an integer -1, 0 or 1.
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
            /// Whether it is neither infinite nor NaN.
            fn Float IsFinite "is_finite" is_finite(x) -> bool, exact { float: x.is_finite() }
            /// Whether it is an infinity.
            fn Float IsInfinite "is_infinite" is_infinite(x) -> bool, exact { float: x.is_infinite() }
            /// e to the power of the number, within 2^-21 + |x| 2^-23 of itself (CUDA's `__expf`).
            #[doc(alias = "__expf")]
            fn Float ExpFast "exp_fast" exp_fast(x) -> Self, near { float: math::exp_fast(x) }
            /// The natural logarithm, within 2^-21 from 0.5 to 2, and within 2^-20 of itself elsewhere (CUDA's `__logf`).
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
            /// How many bits are zero.
            fn Int CountZeros "count_zeros" count_zeros(x) -> u32, exact { int: x.count_zeros() }
            /// How many bits are one above the highest zero.
            fn Int LeadingOnes "leading_ones" leading_ones(x) -> u32, exact { int: x.leading_ones() }
            /// How many bits are one below the lowest zero.
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
            /// The bits moved down by a count that is taken modulo the width; those that leave come in at the other end.
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
/// - `Class`, operands and kinds are those of [`operations!`]; the meaning is an `Option`, `None` for the fault.
#[macro_export]
macro_rules! faulting {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// The quotient, rounded so that the remainder is not negative; an integer divided by zero is a fault.
        Number by_zero div_euclid(x, y) {
            int: (y != 0).then(|| x.wrapping_div_euclid(y)), float: Some(euclid_quotient(x, y))
        }
        /// The remainder from 0 to the size of the divisor; an integer divided by zero is a fault. Of floats it is rounded
        /// once, to the divisor's size if that is nearest, and a subnormal `x % y` counts as zero.
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

/// The atomic read-modify-writes.
///
/// A row is
///
/// ```text
/// /// The documentation of the operation and of its methods.
/// Class Variant method method_with host(old, operand) { kind: what it leaves, … }
/// ```
///
/// - `Class` is the trait of the numbers that have the method, which is relaxed; `method_with` takes scope and order.
/// - `host` is the method of the standard library's atomic integers that does it; `update` for a loop of
///   compare-exchanges. On floats everything but `swap` is such a loop.
/// - The kinds are those of [`operations!`].
#[macro_export]
macro_rules! atomics {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// Stores the operand.
        #[doc(alias = "atomicExch")]
        AtomicScalar Exchange exchange exchange_with swap(old, operand) { int: operand, float: operand }
        /// Adds the operand; integers wrap.
        #[doc(alias = "atomicAdd")]
        AtomicScalar Add fetch_add fetch_add_with fetch_add(old, operand) {
            int: old.wrapping_add(operand), float: old + operand
        }
        /// Subtracts the operand; integers wrap.
        #[doc(alias = "atomicSub")]
        AtomicInt Sub fetch_sub fetch_sub_with fetch_sub(old, operand) { int: old.wrapping_sub(operand) }
        /// Leaves the lesser of the two (CUDA's `atomicMin`); of floats the one that is a number, and -0 is less than +0.
        #[doc(alias = "atomicMin")]
        AtomicScalar Min fetch_min fetch_min_with fetch_min(old, operand) {
            int: Ord::min(old, operand), float: lesser(old, operand)
        }
        /// Leaves the greater of the two (CUDA's `atomicMax`); of floats the one that is a number, and -0 is less than +0.
        #[doc(alias = "atomicMax")]
        AtomicScalar Max fetch_max fetch_max_with fetch_max(old, operand) {
            int: Ord::max(old, operand), float: greater(old, operand)
        }
        /// Bitwise and.
        #[doc(alias = "atomicAnd")]
        AtomicInt And fetch_and fetch_and_with fetch_and(old, operand) { int: old & operand }
        /// Bitwise or.
        #[doc(alias = "atomicOr")]
        AtomicInt Or fetch_or fetch_or_with fetch_or(old, operand) { int: old | operand }
        /// Bitwise exclusive or.
        #[doc(alias = "atomicXor")]
        AtomicInt Xor fetch_xor fetch_xor_with fetch_xor(old, operand) { int: old ^ operand }
        /// Adds 1, or leaves 0 once the old value has reached the operand (CUDA's `atomicInc`).
        #[doc(alias = "atomicInc")]
        AtomicInt Inc fetch_inc fetch_inc_with update(old, operand) { int: if old >= operand { 0 } else { old.wrapping_add(1) } }
        /// Subtracts 1, or leaves the operand where the old value is 0 or beyond it (CUDA's `atomicDec`).
        #[doc(alias = "atomicDec")]
        AtomicInt Dec fetch_dec fetch_dec_with update(old, operand) {
            int: if old == 0 || old > operand { operand } else { old.wrapping_sub(1) }
        }
    } };
}

/// The operations of a warp: each takes a value of every lane, and gives each lane a result.
///
/// A row is
///
/// ```text
/// /// The documentation of the operation and of its method.
/// Class Variant method(value[, operand]) -> Result how { kind … }
/// ```
///
/// - `Class` is the trait of the values that have the method, or `bool`; `word` has no method of its own.
/// - The second operand, where there is one, is a `u32`.
/// - `how` is what kind of operation it is: `shuffle` takes another lane's value, `ballot` gives a word of all lanes' truth
///   values, `vote` asks all lanes, `reduce` gives all lanes the same, `inclusive_scan` gives each what the lanes up to it
///   have, `exclusive_scan` what those below it have.
/// - The kinds are those of [`operations!`].
#[macro_export]
macro_rules! warps {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// The value of the lane with this number; the lane's own where there is no such lane (CUDA's `__shfl_sync`, which
        /// takes the number modulo the warp's size).
        #[doc(alias = "__shfl_sync")]
        Scalar Shuffle shuffle(value, lane) -> Self shuffle { any }
        /// The value of the lane that is `delta` below this one; the lane's own where there is none (`__shfl_up_sync`).
        #[doc(alias = "__shfl_up_sync")]
        Scalar ShuffleUp shuffle_up(value, delta) -> Self shuffle { any }
        /// The value of the lane that is `delta` above this one; the lane's own where there is none (`__shfl_down_sync`).
        #[doc(alias = "__shfl_down_sync")]
        Scalar ShuffleDown shuffle_down(value, delta) -> Self shuffle { any }
        /// The value of the lane whose number is this one's, exclusive or `mask`; the lane's own where there is none
        /// (`__shfl_xor_sync`).
        #[doc(alias = "__shfl_xor_sync")]
        Scalar ShuffleXor shuffle_xor(value, mask) -> Self shuffle { any }
        /// Which lanes hold true, as the bits of the mask's word with this number: the lanes from 32 times it on.
        word Ballot ballot_word(value, number) -> u32 ballot { bool }
        /// Whether some lane holds true (`__any_sync`).
        #[doc(alias = "__any_sync")]
        bool Any any(value) -> bool vote { bool }
        /// Whether all lanes hold true (`__all_sync`).
        #[doc(alias = "__all_sync")]
        bool All all(value) -> bool vote { bool }
        /// The sum of all lanes' values (`__reduce_add_sync`); integers wrap. Of floats it is the sum of a tree whose shape
        /// depends on the number of lanes alone: first lanes are added that are furthest apart, by powers of two.
        #[doc(alias = "__reduce_add_sync")]
        Number ReduceSum reduce_sum(value) -> Self reduce { int float }
        /// The least of all lanes' values (`__reduce_min_sync`); of floats the least that is a number.
        #[doc(alias = "__reduce_min_sync")]
        Number ReduceMin reduce_min(value) -> Self reduce { int float }
        /// The greatest of all lanes' values (`__reduce_max_sync`); of floats the greatest that is a number.
        #[doc(alias = "__reduce_max_sync")]
        Number ReduceMax reduce_max(value) -> Self reduce { int float }
        /// The bitwise and of all lanes' values (`__reduce_and_sync`).
        Int ReduceAnd reduce_and(value) -> Self reduce { int }
        /// The bitwise or of all lanes' values (`__reduce_or_sync`).
        Int ReduceOr reduce_or(value) -> Self reduce { int }
        /// The bitwise exclusive or of all lanes' values (`__reduce_xor_sync`).
        Int ReduceXor reduce_xor(value) -> Self reduce { int }
        /// The sum of the values of the lanes up to this one, with its own (an inclusive scan). Integers wrap; floats are
        /// added to those of the lanes 1, 2, 4 and so on below, in this order.
        #[doc(alias = "inclusive_scan")]
        Number InclusiveSum inclusive_sum(value) -> Self inclusive_scan { int float }
        /// The sum of the values of the lanes below this one (an exclusive scan): what [`inclusive_sum`] is one lane below,
        /// and 0 in lane 0.
        ///
        /// [`inclusive_sum`]: Self::inclusive_sum
        #[doc(alias = "exclusive_scan")]
        Number ExclusiveSum exclusive_sum(value) -> Self exclusive_scan { int float }
        /// The least of the values of the lanes up to this one.
        Number InclusiveMin inclusive_min(value) -> Self inclusive_scan { int float }
        /// The greatest of the values of the lanes up to this one.
        Number InclusiveMax inclusive_max(value) -> Self inclusive_scan { int float }
    } };
}

/// The types of values, `bool` first.
///
/// A row is
///
/// ```text
/// /// The documentation of the type.
/// Variant rust bits Kind BitsType kind Atomic
/// ```
///
/// - `rust` is the type in Rust, `bits` its size in memory, and `Kind` what its values are.
/// - `BitsType` is the unsigned integer type as wide, which the bits can be read as.
/// - `kind` is the name that the kind has in [`operations!`].
/// - `Atomic` is the standard library's type through which the host does atomic operations on it; types without one have
///   no atomic operations.
#[macro_export]
macro_rules! types {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// A truth value. It lives in slots and never in memory.
        Bool bool 8 Bool U8 bool;
        /// Unsigned, 8 bits.
        U8 u8 8 Unsigned U8 unsigned;
        /// Signed, 8 bits, two's complement.
        I8 i8 8 Signed U8 signed;
        /// Unsigned, 16 bits.
        U16 u16 16 Unsigned U16 unsigned;
        /// Signed, 16 bits.
        I16 i16 16 Signed U16 signed;
        /// Unsigned, 32 bits.
        U32 u32 32 Unsigned U32 word AtomicU32;
        /// Signed, 32 bits.
        I32 i32 32 Signed U32 signed AtomicI32;
        /// Unsigned, 64 bits.
        U64 u64 64 Unsigned U64 word AtomicU64;
        /// Signed, 64 bits.
        I64 i64 64 Signed U64 signed AtomicI64;
        /// IEEE 754 binary16, the `half` crate's type.
        F16 f16 16 Float U16 half;
        /// The upper half of a binary32 (bfloat16), the `half` crate's type.
        BF16 bf16 16 Float U16 half;
        /// IEEE 754 binary32.
        F32 f32 32 Float U32 float AtomicU32;
        /// IEEE 754 binary64.
        F64 f64 64 Float U64 float AtomicU64;
    } };
}

/// The sets of vector instructions that kernels are compiled for on the host, besides those of the build: of x86-64, from
/// the fewest to the most. Each has a name of a type, one that people write, and the features of the processor that it is.
#[macro_export]
macro_rules! vectors {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// AVX2, and what came with it.
        Avx2 "avx2" ["avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "popcnt"]
        /// The parts of AVX-512 that all server processors have.
        Avx512 "avx512" [
            "avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "popcnt"
            "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"
        ]
    } };
}
