//! Accesses to memory: single items, whole or not at all.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::float::flushed;
use super::op::Rmw;

/// Loads 1, 2, 4 or 8 bytes.
///
/// # Safety
/// They are allocated and aligned, and nobody writes them but by atomic accesses.
#[inline]
pub unsafe fn load(at: usize, bytes: u8, strong: bool) -> u64 {
    let order = if strong { Ordering::SeqCst } else { Ordering::Relaxed };
    // SAFETY: the caller's.
    unsafe {
        match bytes {
            1 => u64::from(AtomicU8::from_ptr(at as *mut u8).load(order)),
            2 => u64::from(AtomicU16::from_ptr(at as *mut u16).load(order)),
            4 => u64::from(AtomicU32::from_ptr(at as *mut u32).load(order)),
            _ => AtomicU64::from_ptr(at as *mut u64).load(order),
        }
    }
}

/// Stores 1, 2, 4 or 8 bytes.
///
/// # Safety
/// As for [`load`].
#[inline]
pub unsafe fn store(at: usize, bytes: u8, strong: bool, value: u64) {
    let order = if strong { Ordering::SeqCst } else { Ordering::Relaxed };
    // SAFETY: the caller's.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(at as *mut u8).store(value as u8, order),
            2 => AtomicU16::from_ptr(at as *mut u16).store(value as u16, order),
            4 => AtomicU32::from_ptr(at as *mut u32).store(value as u32, order),
            _ => AtomicU64::from_ptr(at as *mut u64).store(value, order),
        }
    }
}

/// Replaces 4 or 8 bytes by what `next` makes of them; gives what was there.
///
/// # Safety
/// As for [`load`].
#[inline]
pub unsafe fn update(at: usize, bytes: u8, next: impl Fn(u64) -> Option<u64>) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        if bytes == 4 {
            let cell = AtomicU32::from_ptr(at as *mut u32);
            let made =
                cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| next(old.into()).map(|new| new as u32));
            u64::from(made.unwrap_or_else(|old| old))
        } else {
            let cell = AtomicU64::from_ptr(at as *mut u64);
            cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).unwrap_or_else(|old| old)
        }
    }
}

/// What an operation makes of the old value (PTX ISA 9.7.13.5).
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
