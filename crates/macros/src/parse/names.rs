//! The methods that kernels know, and those that they know under another name.

use crate::names::{methods_of_views_and_threads, methods_of_warps};
use crate::numbers::of_numbers;

/// The method whose name is nearest to this one, if it is near enough to have been meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, of_numbers().map(|known| known.name).chain(methods_of_views_and_threads()))
}

/// The method of a warp whose name is nearest to this one, or that has it in its name.
pub fn nearest_of_warps(name: &str) -> Option<&'static str> {
    let within = |known: &&str| known.split('_').any(|part| part == name);
    match name {
        "broadcast" => Some("shuffle"),
        _ => nearest_of(name, methods_of_warps()).or_else(|| methods_of_warps().find(within)),
    }
}

fn nearest_of(name: &str, all: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let near = all.map(|known| (strsim::levenshtein(name, known), known)).min()?;
    (near.0 <= name.len() / 3).then_some(near.1)
}

/// The methods that declare an array in shared memory for plain accesses.
pub const SHARED: [&str; 5] = ["shared", "shared_nd", "shared_3d", "shared_4d", "shared_at_launch"];

/// The methods that declare an array of atomics in shared memory.
pub const SHARED_ATOMIC: [&str; 2] = ["shared_atomic", "shared_atomic_at_launch"];

/// The names in [`ELSEWHERE`] that methods of the user's own types may have as well.
pub const ALSO_USERS: [&str; 5] = ["get", "swap", "map", "sum", "log"];

/// Methods of the standard library that have another name here, or that cannot be.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("iter", "write `for x in a` for an array, and index a view in a loop: `for i in 0..x.len() { x[i] }`"),
    ("iter_mut", "write `for (i, x) in acc.items(&mut out)`, or index it in a loop"),
    ("into_iter", "write `for x in a` for an array, and index a view in a loop: `for i in 0..x.len() { x[i] }`"),
    ("enumerate", "write `for i in 0..a.len() { let x = a[i]; … }`"),
    ("zip", "write `for i in 0..a.len() { let (x, y) = (a[i], b[i]); … }`"),
    ("get", "write `x[i]`: every index is checked, and one that is out of bounds gives 0 and a fault"),
    ("get_unchecked", "write `x[i]`: every index is checked"),
    ("unwrap", "there is no `Option` or `Result` in kernels"),
    ("clone", "values in kernels are copied: write the name alone"),
    ("swap", "write `(a[i], a[j]) = (a[j], a[i])` for an array, and `x.exchange(i, value)` on `Atomic` memory"),
    ("is_ok", "a compare-exchange gives what it found: write `x.compare_exchange(i, expected, desired) == expected`"),
    ("is_err", "a compare-exchange gives what it found: write `x.compare_exchange(i, expected, desired) != expected`"),
    ("cas", "write `x.compare_exchange(i, expected, desired)`, which gives the old value"),
    ("dp4a", "of `[i8; 4]` elements write `for k in 0..4 { sum += x[k] as i32 * y[k] as i32; }`"),
    ("compare_and_swap", "write `x.compare_exchange(i, expected, desired)`, which gives the old value"),
    ("compare_exchange_weak", "write `x.compare_exchange(i, expected, desired)`, which gives the old value"),
    ("for_each", "write a `for` loop"),
    ("map", "write a `for` loop"),
    ("sum", "add up in a `for` loop"),
    ("into", "write a conversion: `x as f32`"),
    ("log", "write `x.ln() / y.ln()`, `x.log2()` or `x.log10()`"),
    ("checked_div", "write `x / y`: a divisor of zero is a fault, which the launch reports"),
    ("checked_rem", "write `x % y`: a divisor of zero is a fault, which the launch reports"),
    ("wrapping_neg", "integers wrap in kernels: write `-x`"),
    ("wrapping_pow", "integers wrap in kernels: write `x.pow(n)`"),
    ("wrapping_abs", "integers wrap in kernels: write `x.abs()`"),
    ("wrapping_shl", "shift counts are taken modulo the width: write `x << n`"),
    ("wrapping_shr", "shift counts are taken modulo the width: write `x >> n`"),
    ("overflowing_add", "write `let sum = x + y;`, which overflowed if `sum < x`, of unsigned integers"),
    ("overflowing_sub", "write `x - y`, which overflowed if `x < y`, of unsigned integers"),
    ("checked_add", "there is no `Option` in kernels: integers wrap, and `x.saturating_add(y)` does not"),
    ("checked_sub", "there is no `Option` in kernels: write `if x >= y { x - y } else { … }`"),
    ("checked_mul", "there is no `Option` in kernels: integers wrap, and `x.mul_hi(y)` is what goes beyond"),
    ("is_multiple_of", "write `x % n == 0`, where `n` is not 0"),
    ("next_power_of_two", "write `1 << (32 - (x - 1).leading_zeros())`, where `x` is more than 1"),
    ("unsigned_abs", "write `x.abs()` and convert it, `as u32` where `x` is an `i32`"),
    ("to_le_bytes", "write `x as u8`, `(x >> 8) as u8` and so on"),
    ("to_be_bytes", "write `(x >> 24) as u8`, `(x >> 16) as u8` and so on"),
    ("to_ne_bytes", "write `x as u8`, `(x >> 8) as u8` and so on"),
    ("to_be", "write `x.swap_bytes()`: every device is little-endian"),
    ("to_le", "write `x`: every device is little-endian"),
    ("partial_cmp", "compare by `<`, `==` and `>`"),
    ("total_cmp", "compare by `<`, `==` and `>`"),
    ("is_ascii_digit", "compare bytes: `b'0' <= x && x <= b'9'`"),
    ("to_ascii_lowercase", "write `if b'A' <= x && x <= b'Z' { x + 32 } else { x }`"),
    ("to_ascii_uppercase", "write `if b'a' <= x && x <= b'z' { x - 32 } else { x }`"),
    ("to_f32", "write `x as f32`"),
    ("to_f64", "write `x as f64`"),
    ("midpoint", "write `(x & y) + ((x ^ y) >> 1)`, which does not overflow; of floats `0.5 * x + 0.5 * y`"),
];

/// Methods of numbers in the standard library and elsewhere that have another name here, or that cannot be. A type of
/// the user's may have methods of these names: what is written here is said where rustc finds none.
const OF_NUMBERS_ELSEWHERE: &[(&[&str], &str)] = &[
    (&["next_multiple_of"], "write `x.div_ceil(n) * n`"),
    (&["is_negative"], "write `x < 0`"),
    (&["is_positive"], "write `x > 0`"),
    (
        &["widening_mul", "carrying_mul"],
        "write `x.mul_hi(y)` and `x * y`, the upper and the lower half of the product, or `x as u64 * y as u64` of `u32`",
    ),
    (
        &["carrying_add"],
        "write `let sum = x + y;`, whose carry is `sum < x`, and add the carry that comes in the same way",
    ),
    (&["borrowing_sub"], "write `x - y`, whose borrow is `x < y`, and take away the borrow that comes in the same way"),
    (&["next_up"], "write `f32::from_bits(x.to_bits() + 1)`, where `x` is positive and finite"),
    (&["next_down"], "write `f32::from_bits(x.to_bits() - 1)`, where `x` is more than 0.0"),
    (&["is_normal"], "write `x.is_finite() && x.abs() >= f32::MIN_POSITIVE`"),
    (&["is_subnormal"], "write `x != 0.0 && x.abs() < f32::MIN_POSITIVE`"),
    (&["cast_signed"], "write a conversion, `x as i32` of `u32`"),
    (&["cast_unsigned"], "write a conversion, `x as u32` of `i32`"),
    (&["bit_width"], "write `u32::BITS - x.leading_zeros()`"),
    (&["to_int_unchecked"], "write a conversion, `x as i32`, which saturates"),
    (&["maximum", "fmax"], "write `x.max(y)`, which gives the number where the other one is NaN"),
    (&["minimum", "fmin"], "write `x.min(y)`, which gives the number where the other one is NaN"),
    (&["abs_sub", "fdim"], "write `(x - y).max(0.0)`"),
    (&["exp10"], "write `(x * std::f32::consts::LN_10).exp()`, or `(x * std::f32::consts::LOG2_10).exp2()`"),
    (
        &["erf", "erfc", "erfinv", "normcdf", "gamma", "tgamma", "ln_gamma", "lgamma", "j0", "j1"],
        "there is none of the special functions in kernels: write a `#[device_fn]` with a polynomial, or compute it on the host",
    ),
    (&["lerp", "mix"], "write `a + t * (b - a)`"),
    (&["rint", "nearbyint"], "write `x.round_ties_even()`"),
    (&["sinpi"], "write `(x * PI).sin()`"),
    (&["cospi"], "write `(x * PI).cos()`"),
    (&["tanpi"], "write `(x * PI).tan()`"),
    (&["sincospi"], "write `(x * PI).sin_cos()`"),
    (
        &["remainder", "fmod"],
        "write `x % y`, which has the sign of `x`; IEEE 754's remainder is about `x - y * (x / y).round_ties_even()`",
    ),
    (&["ldexp", "scalbn"], "write `x * f32::from_bits(((n + 127) as u32) << 23)`, where `n` is from -126 to 127"),
    (&["frexp"], "take the exponent from `x.to_bits()`: `((x.to_bits() >> 23) & 255) as i32 - 126` of a normal `f32`"),
    (
        &["ilogb", "logb"],
        "take the exponent from `x.to_bits()`: `((x.to_bits() >> 23) & 255) as i32 - 127` of a normal `f32`",
    ),
    (&["modf"], "write `x.trunc()` and `x.fract()`"),
    (&["norm3d"], "write `(x * x + y * y + z * z).sqrt()`"),
    (&["saturate"], "write `x.clamp(0.0, 1.0)`"),
    (&["popcount", "popc"], "write `x.count_ones()`"),
    (&["clz"], "write `x.leading_zeros()`"),
    (&["ctz"], "write `x.trailing_zeros()`"),
    (&["ffs"], "write `if x == 0 { 0 } else { x.trailing_zeros() + 1 }`"),
    (&["funnel_shl"], "write `(high << n) | (low >> (32 - n))`, where `n` is from 1 to 31"),
    (&["funnel_shr"], "write `(high << (32 - n)) | (low >> n)`, where `n` is from 1 to 31"),
    (
        &["ilog10"],
        "there is no logarithm of integers to base 10: compare with a table of powers, or `(x as f64).log10()`",
    ),
    (&["ilog"], "there is no logarithm of integers but `x.ilog2()`"),
    (&["wrapping_div"], "write `x / y`"),
    (&["wrapping_rem"], "write `x % y`"),
    (&["log1p"], "write `x.ln_1p()`"),
    (&["expm1"], "write `x.exp_m1()`"),
    (&["logf"], "write `x.ln()`"),
    (&["fabs"], "write `x.abs()`"),
    (&["checked_shl", "overflowing_shl", "unbounded_shl"], "write `x << n`, which takes the count modulo the width"),
    (&["checked_shr", "overflowing_shr", "unbounded_shr"], "write `x >> n`, which takes the count modulo the width"),
    (
        &["saturating_neg", "saturating_abs", "saturating_pow", "saturating_div"],
        "there are `x.saturating_add(y)` and `x.saturating_sub(y)`; write the rest with a comparison, `if x == i32::MIN` and so on",
    ),
];

/// What is written in the place of a method of numbers that kernels do not have.
pub fn instead(name: &str) -> Option<&'static str> {
    OF_NUMBERS_ELSEWHERE.iter().find(|(names, _)| names.contains(&name)).map(|(_, write)| *write)
}
