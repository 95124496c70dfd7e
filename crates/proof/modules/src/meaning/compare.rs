//! Comparisons (PTX ISA 9.3.1 "Comparisons", 9.7.6).

use super::half;
use crate::functions::Test;
use crate::types::{Sort, Type};

/// The comparison of that name and type, if it exists.
pub fn test(name: &str, ty: Type) -> Option<Test> {
    match (ty.sort, ty.bits) {
        (Sort::Float, 16) | (Sort::Brain, _) => half::test(name, ty),
        (Sort::Float, 32) => float(name, true),
        (Sort::Float, _) => float(name, false),
        (Sort::Pred, _) | (_, 8) => None,
        (Sort::Bits, _) => match name {
            "eq" => Some(|a, b| a == b),
            "ne" => Some(|a, b| a != b),
            _ => None,
        },
        // Registers hold their bits with zeros above: unsigned values compare as they are.
        (Sort::Unsigned, _) => Some(match name {
            "eq" => |a, b| a == b,
            "ne" => |a, b| a != b,
            "lt" | "lo" => |a, b| a < b,
            "le" | "ls" => |a, b| a <= b,
            "gt" | "hi" => |a, b| a > b,
            "ge" | "hs" => |a, b| a >= b,
            _ => return None,
        }),
        (Sort::Signed, 16) => signed::<16>(name),
        (Sort::Signed, 32) => signed::<32>(name),
        (Sort::Signed, _) => signed::<64>(name),
    }
}

fn signed<const BITS: u32>(name: &str) -> Option<Test> {
    fn of<const BITS: u32>(a: u64) -> i64 {
        (a << (64 - BITS)) as i64
    }
    Some(match name {
        "eq" => |a, b| a == b,
        "ne" => |a, b| a != b,
        "lt" => |a, b| of::<BITS>(a) < of::<BITS>(b),
        "le" => |a, b| of::<BITS>(a) <= of::<BITS>(b),
        "gt" => |a, b| of::<BITS>(a) > of::<BITS>(b),
        "ge" => |a, b| of::<BITS>(a) >= of::<BITS>(b),
        _ => return None,
    })
}

/// Ordered comparisons are false with a NaN, unordered ones (`equ` to `geu`) true; `num` asks for two numbers, `nan`
/// for a NaN.
fn float(name: &str, is_single: bool) -> Option<Test> {
    fn s(a: u64) -> f32 {
        f32::from_bits(a as u32)
    }
    fn d(a: u64) -> f64 {
        f64::from_bits(a)
    }
    fn nan32(a: u64, b: u64) -> bool {
        s(a).is_nan() || s(b).is_nan()
    }
    fn nan64(a: u64, b: u64) -> bool {
        d(a).is_nan() || d(b).is_nan()
    }
    Some(match (name, is_single) {
        ("eq", true) => |a, b| s(a) == s(b),
        ("ne", true) => |a, b| !nan32(a, b) && s(a) != s(b),
        ("lt", true) => |a, b| s(a) < s(b),
        ("le", true) => |a, b| s(a) <= s(b),
        ("gt", true) => |a, b| s(a) > s(b),
        ("ge", true) => |a, b| s(a) >= s(b),
        ("equ", true) => |a, b| nan32(a, b) || s(a) == s(b),
        ("neu", true) => |a, b| s(a) != s(b),
        ("ltu", true) => |a, b| nan32(a, b) || s(a) < s(b),
        ("leu", true) => |a, b| nan32(a, b) || s(a) <= s(b),
        ("gtu", true) => |a, b| nan32(a, b) || s(a) > s(b),
        ("geu", true) => |a, b| nan32(a, b) || s(a) >= s(b),
        ("num", true) => |a, b| !nan32(a, b),
        ("nan", true) => nan32,
        ("eq", false) => |a, b| d(a) == d(b),
        ("ne", false) => |a, b| !nan64(a, b) && d(a) != d(b),
        ("lt", false) => |a, b| d(a) < d(b),
        ("le", false) => |a, b| d(a) <= d(b),
        ("gt", false) => |a, b| d(a) > d(b),
        ("ge", false) => |a, b| d(a) >= d(b),
        ("equ", false) => |a, b| nan64(a, b) || d(a) == d(b),
        ("neu", false) => |a, b| d(a) != d(b),
        ("ltu", false) => |a, b| nan64(a, b) || d(a) < d(b),
        ("leu", false) => |a, b| nan64(a, b) || d(a) <= d(b),
        ("gtu", false) => |a, b| nan64(a, b) || d(a) > d(b),
        ("geu", false) => |a, b| nan64(a, b) || d(a) >= d(b),
        ("num", false) => |a, b| !nan64(a, b),
        ("nan", false) => nan64,
        _ => return None,
    })
}

/// The comparison of `.f32` of that name whose subnormal operands are flushed to zero: `.ftz` (9.7.6.1).
pub fn flushed(name: &str) -> Option<Test> {
    fn s(a: u64) -> f32 {
        super::float::flushed(f32::from_bits(a as u32))
    }
    fn nan(a: u64, b: u64) -> bool {
        s(a).is_nan() || s(b).is_nan()
    }
    Some(match name {
        "eq" => |a, b| s(a) == s(b),
        "ne" => |a, b| !nan(a, b) && s(a) != s(b),
        "lt" => |a, b| s(a) < s(b),
        "le" => |a, b| s(a) <= s(b),
        "gt" => |a, b| s(a) > s(b),
        "ge" => |a, b| s(a) >= s(b),
        "equ" => |a, b| nan(a, b) || s(a) == s(b),
        "neu" => |a, b| s(a) != s(b),
        "ltu" => |a, b| nan(a, b) || s(a) < s(b),
        "leu" => |a, b| nan(a, b) || s(a) <= s(b),
        "gtu" => |a, b| nan(a, b) || s(a) > s(b),
        "geu" => |a, b| nan(a, b) || s(a) >= s(b),
        "num" => |a, b| !nan(a, b),
        "nan" => nan,
        _ => return None,
    })
}
