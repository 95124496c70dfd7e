//! `cvt` (PTX ISA 9.7.9.21).

use super::exact::{self, Exact};
use super::float::flushed;
use super::half::{Finish, Format};
use crate::operand::{Convert, Integral};
use crate::types::{Sort, Type};

/// Converts a number, given as bits of its type; returns the bits of the destination register.
pub fn convert(how: &Convert, bits: u64) -> u64 {
    let bits = bits & how.from.mask();
    let result = match (how.from.is_float(), how.to.is_float()) {
        (false, false) => integer(how, value(how.from, bits)),
        (false, true) => to_float(how, value(how.from, bits)),
        (true, false) => to_integer(how, number(how, bits)),
        (true, true) => float(how, bits),
    };
    extend(result, how.to, how.register)
}

/// Extends a value to the register's width by the destination's sign.
fn extend(bits: u64, ty: Type, register: u32) -> u64 {
    let mask = if register == 64 { u64::MAX } else { (1 << register) - 1 };
    if ty.sort == Sort::Signed && ty.bits < 64 {
        let shift = 64 - ty.bits;
        return ((bits << shift) as i64 >> shift) as u64 & mask;
    }
    bits & ty.mask()
}

fn value(ty: Type, bits: u64) -> i128 {
    if ty.sort == Sort::Signed {
        let shift = 64 - ty.bits;
        i128::from((bits << shift) as i64 >> shift)
    } else {
        i128::from(bits)
    }
}

fn range(ty: Type) -> (i128, i128) {
    if ty.sort == Sort::Signed { (-(1 << (ty.bits - 1)), (1 << (ty.bits - 1)) - 1) } else { (0, (1 << ty.bits) - 1) }
}

fn integer(how: &Convert, value: i128) -> u64 {
    let (least, greatest) = range(how.to);
    let value = if how.saturate { value.clamp(least, greatest) } else { value };
    value as u64 & how.to.mask()
}

/// What happens to a result before it is rounded, which gives the same as afterwards: 0 and 1 are numbers of all
/// formats.
fn finish(how: &Convert) -> Finish {
    match (how.saturate, how.relu) {
        (true, _) => Finish::Saturate,
        (false, true) => Finish::Relu,
        (false, false) => Finish::None,
    }
}

fn to_float(how: &Convert, value: i128) -> u64 {
    let value = if how.saturate { value.clamp(0, 1) } else { value };
    Exact::integer(value).rounded(how.to, how.rounding)
}

/// The source as a double, exactly.
fn number(how: &Convert, bits: u64) -> f64 {
    match how.from.bits {
        64 => return f64::from_bits(bits),
        16 => return Format::of(how.from).number(bits),
        _ => {}
    }
    let value = f32::from_bits(bits as u32);
    f64::from(if how.flush { flushed(value) } else { value })
}

fn integral(value: f64, round: Option<Integral>) -> f64 {
    match round {
        None => value,
        Some(Integral::Nearest) => value.round_ties_even(),
        Some(Integral::Zero) => value.trunc(),
        Some(Integral::Down) => value.floor(),
        Some(Integral::Up) => value.ceil(),
    }
}

/// Values beyond the range clamp to it. A NaN becomes 0, unless 64 bits are on either side: then only the topmost bit
/// of the destination is set.
fn to_integer(how: &Convert, value: f64) -> u64 {
    if value.is_nan() {
        return if how.from.bits == 64 || how.to.bits == 64 { 1 << (how.to.bits - 1) } else { 0 };
    }
    let (least, greatest) = range(how.to);
    // The conversion to `i128` is exact or saturates beyond each range.
    (integral(value, how.round) as i128).clamp(least, greatest) as u64 & how.to.mask()
}

fn float(how: &Convert, bits: u64) -> u64 {
    let value = finish(how).of(integral(number(how, bits), how.round));
    if !value.is_finite() {
        return match how.to.bits {
            64 => value.to_bits(),
            32 if value.is_nan() => 0x7FFF_FFFF,
            32 => u64::from((value as f32).to_bits()),
            _ => Format::of(how.to).nearest(value),
        };
    }
    let bits = exact::round(value, how.to, how.rounding);
    if how.flush && how.to.bits == 32 { u64::from(flushed(f32::from_bits(bits as u32)).to_bits()) } else { bits }
}
