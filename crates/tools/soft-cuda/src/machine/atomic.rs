//! Accesses to memory: each item is accessed as a whole.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Loads 1, 2, 4 or 8 bytes.
///
/// # Safety
/// The bytes are allocated and aligned, and are written by atomic accesses only.
#[inline]
pub unsafe fn load(at: usize, bytes: u8, strong: bool) -> u64 {
    let order = if strong { Ordering::SeqCst } else { Ordering::Relaxed };
    // SAFETY: the caller vouches for it.
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
/// The requirements are those of [`load`].
#[inline]
pub unsafe fn store(at: usize, bytes: u8, strong: bool, value: u64) {
    let order = if strong { Ordering::SeqCst } else { Ordering::Relaxed };
    // SAFETY: the caller vouches for it.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(at as *mut u8).store(value as u8, order),
            2 => AtomicU16::from_ptr(at as *mut u16).store(value as u16, order),
            4 => AtomicU32::from_ptr(at as *mut u32).store(value as u32, order),
            _ => AtomicU64::from_ptr(at as *mut u64).store(value, order),
        }
    }
}

/// Replaces 4 or 8 bytes by the result of `next` for them; returns the old value.
///
/// # Safety
/// The requirements are those of [`load`].
#[inline]
pub unsafe fn update(at: usize, bytes: u8, next: impl Fn(u64) -> Option<u64>) -> u64 {
    // SAFETY: the caller vouches for it.
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
