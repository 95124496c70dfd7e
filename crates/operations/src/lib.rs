//! What kernels can compute, as tables: the operations on numbers, and the atomic operations.
//!
//! Each table is a macro that hands its rows to another one: `operations!(each more)` becomes `each!(more rows)`. From
//! the rows come the enumerations with their names and typing rules, the evaluator, the methods of numbers on the host
//! and in the builder, and the names that the kernel macro knows. A new operation is a new row, and an arm in each code
//! generator, which does not compile without it.
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
/// - `how` is `fn` for what kernels write as a method, `op` for what they write with a sign of Rust's.
/// - `Class` is the trait of the numbers that have the method; `Sign` for what has no method on the host.
/// - `"name"` is what the printer writes.
/// - The operands have the type of the first one where nothing else is said, and `Self` is that type.
/// - `precision` is that of the result on floats: `exact` results are the operand or an integer and have the same bits on
///   all devices; `rounded` ones are rounded once as IEEE 754 says, and may be subnormal; `bounded` ones are within the
///   stated bound.
/// - The kinds are `bool`, `int` (all integers), `signed` and `word` (unsigned, 32 or 64 bits), `float`, and `any`. The
///   operation exists on the types of these kinds; the expression is its meaning there, in Rust.
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
            fn Float Rsqrt "rsqrt" rsqrt(x) -> Self, bounded { float: 1.0 / x.sqrt() }
            /// The exponential, within 1.5 ulp. Beyond the range it is infinity or 0.
            fn Float Exp "exp" exp(x) -> Self, bounded { float: x.exp() }
            /// The natural logarithm, within 1.5 ulp. Below zero it is NaN; of a zero it is -infinity.
            fn Float Ln "ln" ln(x) -> Self, bounded { float: x.ln() }
            /// The sine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN; of -0 it
            /// is -0.
            fn Float Sin "sin" sin(x) -> Self, bounded { float: Angle::sin(x) }
            /// The cosine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN.
            fn Float Cos "cos" cos(x) -> Self, bounded { float: Angle::cos(x) }
            /// The hyperbolic tangent, within 3 ulp. Of an infinity it is 1 with the infinity's sign; of -0 it is -0.
            fn Float Tanh "tanh" tanh(x) -> Self, bounded { float: x.tanh() }
            /// The greatest whole number that is not greater; exact.
            fn Float Floor "floor" floor(x) -> Self, exact { float: x.floor() }
            /// The least whole number that is not less; exact.
            fn Float Ceil "ceil" ceil(x) -> Self, exact { float: x.ceil() }
            /// The nearest whole number, halves away from zero; exact.
            fn Float Round "round" round(x) -> Self, exact { float: x.round() }
            /// Whether it is not a number.
            fn Float IsNan "is_nan" is_nan(x) -> bool, exact { float: x.is_nan() }
            /// How many bits are one.
            fn Int CountOnes "count_ones" count_ones(x) -> u32, exact { int: x.count_ones() }
            /// How many bits are zero above the highest one; the width for zero.
            fn Int LeadingZeros "leading_zeros" leading_zeros(x) -> u32, exact { int: x.leading_zeros() }
            /// How many bits are zero below the lowest one; the width for zero.
            fn Int TrailingZeros "trailing_zeros" trailing_zeros(x) -> u32, exact { int: x.trailing_zeros() }
        }
        binary {
            /// The sum; integers wrap.
            op Element Add "+" add(x, y) -> Self, rounded { int: x.wrapping_add(y), float: x + y }
            /// The difference; integers wrap.
            op Element Sub "-" sub(x, y) -> Self, rounded { int: x.wrapping_sub(y), float: x - y }
            /// The product; integers wrap.
            op Element Mul "*" mul(x, y) -> Self, rounded { int: x.wrapping_mul(y), float: x * y }
            /// The quotient of floats.
            op Sign Div "/" quotient(x, y) -> Self, rounded { float: x / y }
            /// The lesser; of floats the one that is a number, and -0 is less than +0.
            fn Element Min "min" min(x, y) -> Self, exact { int: Ord::min(x, y), float: lesser(x, y) }
            /// The greater; of floats the one that is a number, and -0 is less than +0.
            fn Element Max "max" max(x, y) -> Self, exact { int: Ord::max(x, y), float: greater(x, y) }
            /// The first number to the power of the second, within 1.5 ulp. Below zero it is NaN unless the exponent is a
            /// whole number; for the exponent 0 and the base 1 it is 1, also where the other is NaN.
            fn Float Pow "pow" pow(x, y) -> Self, bounded { float: x.powf(y) }
            /// The high half of the full product, which has twice the width: the product divided by 2 to the width.
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
            fn Float Fma "fma" fma(x, y, z) -> Self, rounded { float: x.mul_add(y, z) }
        }
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
        AtomicScalar Exchange exchange exchange_with swap(old, operand) { int: operand, float: operand }
        /// Adds the operand; integers wrap.
        AtomicScalar Add fetch_add fetch_add_with fetch_add(old, operand) {
            int: old.wrapping_add(operand), float: old + operand
        }
        /// Subtracts the operand; integers wrap.
        AtomicInt Sub fetch_sub fetch_sub_with fetch_sub(old, operand) { int: old.wrapping_sub(operand) }
        /// Leaves the lesser of the two.
        AtomicInt Min fetch_min fetch_min_with fetch_min(old, operand) { int: Ord::min(old, operand) }
        /// Leaves the greater of the two.
        AtomicInt Max fetch_max fetch_max_with fetch_max(old, operand) { int: Ord::max(old, operand) }
        /// Bitwise and.
        AtomicInt And fetch_and fetch_and_with fetch_and(old, operand) { int: old & operand }
        /// Bitwise or.
        AtomicInt Or fetch_or fetch_or_with fetch_or(old, operand) { int: old | operand }
        /// Bitwise exclusive or.
        AtomicInt Xor fetch_xor fetch_xor_with fetch_xor(old, operand) { int: old ^ operand }
        /// Adds 1, or leaves 0 once the old value has reached the operand (CUDA's `atomicInc`).
        AtomicInt Inc fetch_inc fetch_inc_with update(old, operand) { int: if old >= operand { 0 } else { old.wrapping_add(1) } }
        /// Subtracts 1, or leaves the operand where the old value is 0 or beyond it (CUDA's `atomicDec`).
        AtomicInt Dec fetch_dec fetch_dec_with update(old, operand) {
            int: if old == 0 || old > operand { operand } else { old.wrapping_sub(1) }
        }
    } };
}
