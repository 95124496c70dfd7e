//! Read-modify-write operations (PTX ISA 8.8, 9.7.13.5).

use super::float::flushed;
use super::half::Format;
use crate::operand::Rmw;
use crate::types::{Sort, Type};

/// The new value that an operation on `bytes` bytes (2, 4 or 8) computes from the old one.
pub fn apply(how: Rmw, bytes: u8, old: u64, a: u64) -> u64 {
    let small = bytes == 4;
    let signed = |bits: u64| if small { i64::from(bits as i32) } else { bits as i64 };
    let single = |bits: u64| f32::from_bits(bits as u32);
    let bits = |value: f32| u64::from(if value.is_nan() { 0x7FFF_FFFF } else { value.to_bits() });
    match how {
        Rmw::Exchange => a,
        Rmw::Add if small => u64::from((old as u32).wrapping_add(a as u32)),
        Rmw::Add => old.wrapping_add(a),
        Rmw::AddSingle => bits(single(old) + single(a)),
        Rmw::AddSingleFlushed => bits(flushed(flushed(single(old)) + flushed(single(a)))),
        Rmw::AddHalf => halves(Sort::Float, old, a),
        Rmw::AddBrain => halves(Sort::Brain, old, a),
        Rmw::MinSingle => bits(single(old).min(single(a))),
        Rmw::MaxSingle => bits(single(old).max(single(a))),
        Rmw::MinDouble => f64::from_bits(old).min(f64::from_bits(a)).to_bits(),
        Rmw::MaxDouble => f64::from_bits(old).max(f64::from_bits(a)).to_bits(),
        Rmw::AddDouble => (f64::from_bits(old) + f64::from_bits(a)).to_bits(),
        Rmw::Inc => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        Rmw::Dec => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        Rmw::MinUnsigned => old.min(a),
        Rmw::MaxUnsigned => old.max(a),
        Rmw::MinSigned => {
            if signed(a) < signed(old) {
                a
            } else {
                old
            }
        }
        Rmw::MaxSigned => {
            if signed(a) > signed(old) {
                a
            } else {
                old
            }
        }
        Rmw::And => old & a,
        Rmw::Or => old | a,
        Rmw::Xor => old ^ a,
    }
}

/// The sum of two numbers of 16 bits. A double holds it exactly, or with enough bits for the rounding to 16 bits to be
/// the only one that shows.
fn halves(sort: Sort, a: u64, b: u64) -> u64 {
    let format = Format::of(Type { sort, bits: 16 });
    format.nearest(format.number(a) + format.number(b))
}
