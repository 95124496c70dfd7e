//! Instructions on bytes, bits and fields (PTX ISA 8.8, 9.7.1 "Integer Arithmetic Instructions", 9.7.8 "Logic and Shift
//! Instructions", 9.7.9.7 "prmt").

use crate::functions::{Bin, Quad, Tern, Un};
use crate::types::{Sort, Type};

const LOW: u64 = 0xFFFF_FFFF;

/// The function of `shf`: 64 bits, of which `a` is the low half and `b` the high one, shifted; to the left the high
/// half is the result, to the right the low one. The amount wraps at 32, or clamps to it (9.7.8.8).
pub fn funnel(left: bool, wrap: bool) -> Tern {
    fn amount<const WRAP: bool>(c: u64) -> u64 {
        if WRAP { c & 31 } else { c.min(32) }
    }
    fn of<const LEFT: bool, const WRAP: bool>(a: u64, b: u64, c: u64) -> u64 {
        let (whole, by) = (b << 32 | a, amount::<WRAP>(c));
        if LEFT { whole << by >> 32 } else { whole >> by & LOW }
    }
    match (left, wrap) {
        (true, true) => of::<true, true>,
        (true, false) => of::<true, false>,
        (false, true) => of::<false, true>,
        (false, false) => of::<false, false>,
    }
}

/// The function of `lop3`: each bit of the result is the bit of the table that the three operands' bits choose, of
/// which the first operand's is the highest (9.7.8.6).
pub fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let rows = (0..8u64).filter(|row| table >> row & 1 == 1);
    let chosen = |bits: u64, one: bool| if one { bits } else { !bits };
    rows.fold(0, |d, row| d | chosen(a, row & 4 != 0) & chosen(b, row & 2 != 0) & chosen(c, row & 1 != 0) & LOW)
}

/// The function of `cvt.pack` to a type.
pub enum Packing {
    /// Two fields fill the word.
    Word(Bin),
    /// Two fields of so many bits go below the third operand, whose highest bits are lost.
    Below {
        /// The bits of each field.
        bits: u32,
        /// The function of the two numbers and the word above them.
        f: Tern,
    },
}

/// What `cvt.pack` does for a type of its result: numbers with a sign are limited to the field's range, and the second
/// one is the low field (9.7.9.22).
pub fn packing(word: &str) -> Option<Packing> {
    fn two<const BITS: u32, const SIGNED: bool>(a: u64, b: u64) -> u64 {
        let (least, most) = if SIGNED { (-1i64 << (BITS - 1), (1 << (BITS - 1)) - 1) } else { (0, (1 << BITS) - 1) };
        let field = |of: u64| part(of, 0, 32, true).clamp(least, most) as u64 & ((1 << BITS) - 1);
        field(a) << BITS | field(b)
    }
    fn below<const BITS: u32, const SIGNED: bool>(a: u64, b: u64, c: u64) -> u64 {
        (c << (2 * BITS) | two::<BITS, SIGNED>(a, b)) & LOW
    }
    Some(match word {
        "u16" => Packing::Word(two::<16, false>),
        "s16" => Packing::Word(two::<16, true>),
        "u8" => Packing::Below { bits: 8, f: below::<8, false> },
        "s8" => Packing::Below { bits: 8, f: below::<8, true> },
        "u4" => Packing::Below { bits: 4, f: below::<4, false> },
        "s4" => Packing::Below { bits: 4, f: below::<4, true> },
        "u2" => Packing::Below { bits: 2, f: below::<2, false> },
        "s2" => Packing::Below { bits: 2, f: below::<2, true> },
        _ => return None,
    })
}

/// The function of `prmt`, by its mode: which of the bytes of `b` and `a`, from `a`'s lowest on, each byte of the
/// result is (9.7.9.7).
pub fn permute(mode: Option<&str>) -> Option<Tern> {
    fn byte(a: u64, b: u64, which: u64) -> u64 {
        (b << 32 | a) >> (8 * (which & 7)) & 0xFF
    }
    fn all(of: impl Fn(u64) -> u64) -> u64 {
        (0..4).fold(0, |d, place| d | of(place) << (8 * place))
    }
    Some(match mode {
        // The topmost bit of a selection asks for the byte's sign in all of its bits.
        None => |a, b, c| {
            all(|place| {
                let which = c >> (4 * place);
                let byte = byte(a, b, which);
                if which & 8 == 0 { byte } else { (byte >> 7) * 0xFF }
            })
        },
        Some("f4e") => |a, b, c| all(|place| byte(a, b, (c & 3) + place)),
        Some("b4e") => |a, b, c| all(|place| byte(a, b, (c & 3).wrapping_sub(place))),
        Some("rc8") => |a, b, c| all(|_| byte(a, b, c & 3)),
        Some("ecl") => |a, b, c| all(|place| byte(a, b, place.max(c & 3))),
        Some("ecr") => |a, b, c| all(|place| byte(a, b, place.min(c & 3))),
        Some("rc16") => |a, b, c| all(|place| byte(a, b, 2 * (c & 1) + (place & 1))),
        Some(_) => return None,
    })
}

/// A part of a word, with its sign if it has one.
fn part(bits: u64, from: u64, width: u32, signed: bool) -> i64 {
    let bits = bits >> from << (64 - width);
    if signed { bits as i64 >> (64 - width) } else { (bits >> (64 - width)) as i64 }
}

/// The function of `dp4a`: the sum of the products of four bytes and `c` (9.7.1.23).
pub fn dot4(a_signed: bool, b_signed: bool) -> Tern {
    fn of<const A: bool, const B: bool>(a: u64, b: u64, c: u64) -> u64 {
        let product = |place: u64| part(a, 8 * place, 8, A) * part(b, 8 * place, 8, B);
        c.wrapping_add_signed((0..4).map(product).sum()) & LOW
    }
    match (a_signed, b_signed) {
        (false, false) => of::<false, false>,
        (false, true) => of::<false, true>,
        (true, false) => of::<true, false>,
        (true, true) => of::<true, true>,
    }
}

/// The function of `dp2a`: the sum of the products of the two halves of `a` with the low or the high two bytes of `b`,
/// and `c` (9.7.1.24).
pub fn dot2(a_signed: bool, b_signed: bool, high: bool) -> Tern {
    fn of<const A: bool, const B: bool, const HIGH: bool>(a: u64, b: u64, c: u64) -> u64 {
        let first = if HIGH { 16 } else { 0 };
        let product = |place: u64| part(a, 16 * place, 16, A) * part(b, first + 8 * place, 8, B);
        c.wrapping_add_signed(product(0) + product(1)) & LOW
    }
    match (a_signed, b_signed, high) {
        (false, false, false) => of::<false, false, false>,
        (false, true, false) => of::<false, true, false>,
        (true, false, false) => of::<true, false, false>,
        (true, true, false) => of::<true, true, false>,
        (false, false, true) => of::<false, false, true>,
        (false, true, true) => of::<false, true, true>,
        (true, false, true) => of::<true, false, true>,
        (true, true, true) => of::<true, true, true>,
    }
}

/// The 48 bits of the product of the low 24 bits of two words: the low 32, or the high 32 (9.7.1.6 "mul24").
fn product24(a: u64, b: u64, signed: bool, high: bool) -> u64 {
    let product = part(a, 0, 24, signed) * part(b, 0, 24, signed);
    (if high { product >> 16 } else { product }) as u64 & LOW
}

/// The function of `mul24.{hi,lo}` on signed or unsigned words (9.7.1.6).
pub fn mul24(signed: bool, high: bool) -> Bin {
    match (signed, high) {
        (false, false) => |a, b| product24(a, b, false, false),
        (false, true) => |a, b| product24(a, b, false, true),
        (true, false) => |a, b| product24(a, b, true, false),
        (true, true) => |a, b| product24(a, b, true, true),
    }
}

/// A sum of two signed words, which stays within their range.
fn saturated(a: u64, b: u64) -> u64 {
    u64::from((a as i32).saturating_add(b as i32) as u32)
}

/// The function of `mad24` (9.7.1.7); only the signed high half saturates.
pub fn mad24(signed: bool, high: bool, saturate: bool) -> Option<Tern> {
    Some(match (signed, high, saturate) {
        (false, false, false) => |a, b, c| product24(a, b, false, false).wrapping_add(c) & LOW,
        (false, true, false) => |a, b, c| product24(a, b, false, true).wrapping_add(c) & LOW,
        (true, false, false) => |a, b, c| product24(a, b, true, false).wrapping_add(c) & LOW,
        (true, true, false) => |a, b, c| product24(a, b, true, true).wrapping_add(c) & LOW,
        (true, true, true) => |a, b, c| saturated(product24(a, b, true, true), c),
        (false, _, true) | (true, false, true) => return None,
    })
}

/// The function of `mad.hi.sat.s32` (9.7.1.4).
pub fn mad_high_saturated(a: u64, b: u64, c: u64) -> u64 {
    let high = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
    saturated(high as u64 & LOW, c)
}

/// The function of `sad`: the distance of two numbers, and `c` (9.7.1.8).
pub fn distance(ty: Type) -> Tern {
    fn of<const BITS: u32, const SIGNED: bool>(a: u64, b: u64, c: u64) -> u64 {
        let value = |bits: u64| {
            let bits = bits << (64 - BITS);
            if SIGNED { i128::from(bits as i64 >> (64 - BITS)) } else { i128::from(bits >> (64 - BITS)) }
        };
        let distance = (value(a) - value(b)).unsigned_abs() as u64;
        c.wrapping_add(distance) & (u64::MAX >> (64 - BITS))
    }
    match (ty.sort == Sort::Signed, ty.bits) {
        (false, 16) => of::<16, false>,
        (true, 16) => of::<16, true>,
        (false, 32) => of::<32, false>,
        (true, 32) => of::<32, true>,
        (false, _) => of::<64, false>,
        (true, _) => of::<64, true>,
    }
}

/// The function of `slct`: the first operand where the third one is not negative, else the second one. A NaN is taken
/// for negative, and a flushed number for zero, which -0 equals (9.7.6.4).
pub fn choose(by: Type, flush: bool) -> Tern {
    match (by.is_float(), flush) {
        (false, _) => |a, b, c| if (c as i32) < 0 { b } else { a },
        (true, false) => |a, b, c| if f32::from_bits(c as u32) >= 0.0 { a } else { b },
        (true, true) => |a, b, c| if super::float::flushed(f32::from_bits(c as u32)) >= 0.0 { a } else { b },
    }
}

/// The function of `bfi`: the low `length` bits of `a` put into `b` at a position; of both only the low byte counts
/// (9.7.1.21).
pub fn insert(bits: u32) -> Quad {
    fn of<const WIDTH: u32>(a: u64, b: u64, position: u64, length: u64) -> u64 {
        let (position, length) = ((position & 0xFF) as u32, (length & 0xFF) as u32);
        if position >= WIDTH || length == 0 {
            return b;
        }
        let field = (u64::MAX >> (64 - length.min(64))) << position & (u64::MAX >> (64 - WIDTH));
        b & !field | a << position & field
    }
    if bits == 32 { of::<32> } else { of::<64> }
}

/// The function of `bmsk`: a mask of `b` bits from bit `a` on; both clamp at 32, or wrap there (9.7.1.26).
pub fn mask(wrap: bool) -> Bin {
    fn of(position: u64, width: u64) -> u64 {
        let bits = if width >= 32 { LOW } else { (1 << width) - 1 };
        if position >= 32 { 0 } else { bits << position & LOW }
    }
    if wrap { |a, b| of(a & 31, b & 31) } else { of }
}

/// The function of `szext`: `a` from its low `b` bits, extended by zeros or by their sign; the number of bits clamps at
/// 32, or wraps there (9.7.1.25).
pub fn extend(signed: bool, wrap: bool) -> Bin {
    fn of<const SIGNED: bool, const WRAP: bool>(a: u64, b: u64) -> u64 {
        let width = if WRAP { b & 31 } else { b.min(32) } as u32;
        if width == 0 { 0 } else { part(a, 0, width, SIGNED) as u64 & LOW }
    }
    match (signed, wrap) {
        (false, false) => of::<false, false>,
        (false, true) => of::<false, true>,
        (true, false) => of::<true, false>,
        (true, true) => of::<true, true>,
    }
}

/// `fns`: the position of the bit that is set as the `offset`-th, counted from the base upwards, or downwards if the
/// offset is negative; all bits set if there is none (9.7.1.17).
pub fn nth(mask: u64, base: u64, offset: u64) -> u64 {
    let (base, offset) = (base & 31, offset as i32);
    let is_set = |bit: &u64| mask >> bit & 1 == 1;
    let found = match offset {
        0 => Some(base).filter(is_set),
        1.. => (base..32).filter(is_set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(is_set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(LOW)
}

/// The function of `bfind.shiftamt`: by how much a number has to be shifted to the left so that the bit that `bfind`
/// finds is the topmost one (9.7.1.16).
pub fn shift_amount(ty: Type) -> Un {
    match (ty.sort == Sort::Signed, ty.bits) {
        (false, 32) => |a| found(u64::from((a as u32).leading_zeros()), 32),
        (true, 32) => |a| found(u64::from(((a as u32) ^ (a as i32 >> 31) as u32).leading_zeros()), 32),
        (false, _) => |a| found(u64::from(a.leading_zeros()), 64),
        (true, _) => |a| found(u64::from((a ^ (a as i64 >> 63) as u64).leading_zeros()), 64),
    }
}

fn found(zeros: u64, width: u64) -> u64 {
    if zeros == width { LOW } else { zeros }
}
