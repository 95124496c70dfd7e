//! The operations on numbers that are expressions.

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
///   too, of floats, which no code generator sees: expressions in `math`, which is `wattle-math`, replace it before.
///   `fast` is one that they replace where the target has no instruction for it.
/// - `Class` is the trait of the numbers that have the method; `Sign` for what has no method on the host.
/// - `"name"` is what the printer writes.
/// - The operands have the type of the first one where nothing else is said, and `Self` is that type.
/// - `precision` is that of the result on floats: `exact` results are the operand or an integer and have the same bits
///   on all devices; `rounded` ones are rounded once as IEEE 754 says, and may be subnormal; `bounded` ones are within
///   the stated bound, may be subnormal, and have the same bits on all devices too; `near` ones are within the stated
///   bound, and have other bits on other devices.
/// - The kinds are `bool`, `int` (all integers), `signed` and `word` (unsigned, 32 or 64 bits), `float`, and `any`. The
///   operation exists on the types of these kinds; the expression is its meaning there, in Rust.
/// - Floats of 16 bits are computed with as `f32`: the operands are widened, `float` (or `half`, which goes before it)
///   is the meaning on these, and a result of type `Self` is rounded.
#[macro_export]
macro_rules! operations {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        unary {
            /// The negation; integers wrap.
            op Signed Neg "-" neg(x) -> Self, exact { signed: x.wrapping_neg(), float: -x }
            /// The complement.
            op Int Not "!" not(x) -> Self, exact { bool: !x, int: !x }
            /// The absolute value; integers wrap (the least value stays itself).
            #[doc(alias("fabsf"))]
            fn Signed Abs "abs" abs(x) -> Self, exact { signed: x.wrapping_abs(), float: x.abs() }
            /// The square root, rounded correctly (0.5 ulp). Below zero it is NaN; of -0 it is -0.
            #[doc(alias("sqrtf", "__fsqrt_rn"))]
            fn Float Sqrt "sqrt" sqrt(x) -> Self, rounded { float: x.sqrt() }
            /// The reciprocal of the square root, within 1.5 ulp. Below zero it is NaN; of a zero it is an infinity
            /// with the zero's sign.
            by Float Rsqrt "rsqrt" rsqrt(x) -> Self, bounded { float: math::rsqrt(x) }
            /// The cube root, within 1 ulp, with the sign of the number.
            #[doc(alias("cbrtf"))]
            by Float Cbrt "cbrt" cbrt(x) -> Self, bounded { float: math::cbrt(x) }
            /// The exponential, within 1.5 ulp. Beyond the range it is infinity or 0.
            #[doc(alias("expf"))]
            by Float Exp "exp" exp(x) -> Self, bounded { float: math::exp(x) }
            /// 2 to the power of the number, within 1.5 ulp. Beyond the range it is infinity or 0.
            by Float Exp2 "exp2" exp2(x) -> Self, bounded { float: math::exp2(x) }
            /// The exponential less 1, within 1.5 ulp, also where that is small; of -0 it is -0.
            #[doc(alias("expm1f"))]
            by Float ExpM1 "exp_m1" exp_m1(x) -> Self, bounded { float: math::exp_m1(x) }
            /// The natural logarithm, within 1.5 ulp. Below zero it is NaN; of a zero it is -infinity.
            #[doc(alias("logf"))]
            by Float Ln "ln" ln(x) -> Self, bounded { float: math::ln(x) }
            /// The logarithm to base 2, within 1.5 ulp; exact of powers of 2. Below zero it is NaN; of a zero it is
            /// -infinity.
            #[doc(alias("log2f"))]
            by Float Log2 "log2" log2(x) -> Self, bounded { float: math::log2(x) }
            /// The logarithm to base 10, within 1.5 ulp. Below zero it is NaN; of a zero it is -infinity.
            #[doc(alias("log10f"))]
            by Float Log10 "log10" log10(x) -> Self, bounded { float: math::log10(x) }
            /// The natural logarithm of 1 more, within 1.5 ulp, also where the number is small; of -0 it is -0. Below
            /// -1 it is NaN; of -1 it is -infinity.
            #[doc(alias("log1pf"))]
            by Float Ln1p "ln_1p" ln_1p(x) -> Self, bounded { float: math::ln_1p(x) }
            /// The sine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN; of -0
            /// it is -0.
            #[doc(alias("sinf"))]
            by Float Sin "sin" sin(x) -> Self, bounded { float: math::sin(x) }
            /// The cosine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN.
            #[doc(alias("cosf"))]
            by Float Cos "cos" cos(x) -> Self, bounded { float: math::cos(x) }
            /// The tangent of an angle in radians, within 3 ulp for every finite angle. Of an infinity it is NaN; of -0
            /// it is -0.
            #[doc(alias("tanf"))]
            by Float Tan "tan" tan(x) -> Self, bounded { float: math::tan(x) }
            /// The angle from -π/2 to π/2 of this sine, within 1.5 ulp; of -0 it is -0. Beyond 1 it is NaN.
            #[doc(alias("asinf"))]
            by Float Asin "asin" asin(x) -> Self, bounded { float: math::asin(x) }
            /// The angle from 0 to π of this cosine, within 1.5 ulp. Beyond 1 it is NaN.
            #[doc(alias("acosf"))]
            by Float Acos "acos" acos(x) -> Self, bounded { float: math::acos(x) }
            /// The angle from -π/2 to π/2 of this tangent, within 1.5 ulp; of -0 it is -0.
            #[doc(alias("atanf"))]
            by Float Atan "atan" atan(x) -> Self, bounded { float: math::atan(x) }
            /// The hyperbolic sine, within 3 ulp; of -0 it is -0.
            #[doc(alias("sinhf"))]
            by Float Sinh "sinh" sinh(x) -> Self, bounded { float: math::sinh(x) }
            /// The hyperbolic cosine, within 2 ulp.
            #[doc(alias("coshf"))]
            by Float Cosh "cosh" cosh(x) -> Self, bounded { float: math::cosh(x) }
            /// The hyperbolic tangent, within 3 ulp. Of an infinity it is 1 with the infinity's sign; of -0 it is -0.
            #[doc(alias("tanhf"))]
            by Float Tanh "tanh" tanh(x) -> Self, bounded { float: math::tanh(x) }
            /// The inverse of the hyperbolic sine, within 3 ulp; of -0 it is -0.
            #[doc(alias("asinhf"))]
            by Float Asinh "asinh" asinh(x) -> Self, bounded { float: math::asinh(x) }
            /// The inverse of the hyperbolic cosine, within 3 ulp. Below 1 it is NaN.
            #[doc(alias("acoshf"))]
            by Float Acosh "acosh" acosh(x) -> Self, bounded { float: math::acosh(x) }
            /// The inverse of the hyperbolic tangent, within 3 ulp; of -0 it is -0. Of 1 it is infinity, beyond NaN.
            #[doc(alias("atanhf"))]
            by Float Atanh "atanh" atanh(x) -> Self, bounded { float: math::atanh(x) }
            /// The reciprocal, within 3 ulp for sizes from 2^-126 to 2^126 (CUDA's `__frcp_rn` without its rounding).
            #[doc(alias("__frcp_rn", "rcp.approx"))]
            fast Float RecipFast "recip_fast" recip_fast(x) -> Self, near { float: math::recip_fast(x) }
            /// The square root, within 5 ulp.
            #[doc(alias("sqrt.approx"))]
            fast Float SqrtFast "sqrt_fast" sqrt_fast(x) -> Self, near { float: math::sqrt_fast(x) }
            /// The reciprocal of the square root, within 8 ulp.
            #[doc(alias("rsqrtf", "__frsqrt_rn", "rsqrt.approx"))]
            fast Float RsqrtFast "rsqrt_fast" rsqrt_fast(x) -> Self, near { float: math::rsqrt_fast(x) }
            /// 2 to the power of the number, within 2^-21 of itself.
            #[doc(alias("exp2f", "ex2.approx"))]
            fast Float Exp2Fast "exp2_fast" exp2_fast(x) -> Self, near { float: math::exp2_fast(x) }
            /// The logarithm to base 2, within 2^-21 from 0.5 to 2, and within 2^-21 of itself elsewhere (CUDA's
            /// `__log2f`).
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
            #[doc(alias("floorf"))]
            fn Float Floor "floor" floor(x) -> Self, exact { float: x.floor() }
            /// The least whole number that is not less; exact.
            #[doc(alias("ceilf"))]
            fn Float Ceil "ceil" ceil(x) -> Self, exact { float: x.ceil() }
            /// The nearest whole number, halves away from zero; exact.
            #[doc(alias("roundf"))]
            by Float Round "round" round(x) -> Self, exact { float: math::round(x) }
            /// The nearest whole number, halves to the even one; exact.
            #[doc(alias("rintf", "nearbyintf"))]
            fn Float RoundTiesEven "round_ties_even" round_ties_even(x) -> Self, exact { float: x.round_ties_even() }
            /// The nearest whole number that is not greater in size; exact.
            #[doc(alias("truncf"))]
            fn Float Trunc "trunc" trunc(x) -> Self, exact { float: x.trunc() }
            /// Whether the value is not a number (NaN).
            fn Float IsNan "is_nan" is_nan(x) -> bool, exact { float: x.is_nan() }
            /// The number of bits that are one.
            #[doc(alias = "__popc")]
            fn Int CountOnes "count_ones" count_ones(x) -> u32, exact { int: x.count_ones() }
            /// The bits in the opposite order.
            #[doc(alias = "__brev")]
            fn Int ReverseBits "reverse_bits" reverse_bits(x) -> Self, exact { int: x.reverse_bits() }
            /// The number of zero bits above the highest one; the width for zero.
            #[doc(alias = "__clz")]
            fn Int LeadingZeros "leading_zeros" leading_zeros(x) -> u32, exact { int: x.leading_zeros() }
            /// The number of zero bits below the lowest one; the width for zero.
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
            #[doc(alias("fminf"))]
            fn Number Min "min" min(x, y) -> Self, exact { int: Ord::min(x, y), float: lesser(x, y) }
            /// The greater; of floats the one that is a number, and -0 is less than +0.
            #[doc(alias("fmaxf"))]
            fn Number Max "max" max(x, y) -> Self, exact { int: Ord::max(x, y), float: greater(x, y) }
            /// The first number to the power of the second, within 1.5 ulp. Below zero it is NaN unless the exponent is
            /// a whole number; for the exponent 0 and the base 1 it is 1, also where the other is NaN.
            by Float Pow "pow" powf(x, y) -> Self, bounded { float: math::pow(x, y) }
            /// The number to the power of an integer, within 1.5 ulp; for the exponent 0 it is 1, also of a NaN.
            by Float Powi "powi" powi(x, n: i32) -> Self, bounded { float: math::powi(x, n) }
            /// The angle of the point (`x`, `self`) from -π to π, within 2 ulp. The signs of zeros count.
            #[doc(alias("atan2f"))]
            by Float Atan2 "atan2" atan2(y, x) -> Self, bounded { float: math::atan2(y, x) }
            /// The square root of the sum of both squares, within 1.5 ulp, also where a square is out of range. Of an
            /// infinity it is infinity, also with a NaN.
            #[doc(alias("hypotf"))]
            by Float Hypot "hypot" hypot(x, y) -> Self, bounded { float: math::hypot(x, y) }
            /// What remains of the first number where the second one is taken off as often as it fits, with the sign of
            /// the first; exact. It is what `x % y` is of floats. It is NaN for an `x` that is not finite and a `y`
            /// that is zero; a subnormal `y` counts as zero.
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
