//! The exported functions, by the names and with the types of the CUDA driver API.
#![allow(clippy::missing_safety_doc, reason = "what a caller must hold to is what the CUDA driver API asks for")]

pub mod contexts;
pub mod copies;
pub mod devices;
pub mod events;
pub mod launches;
pub mod memory;
pub mod modules;
pub mod streams;

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crate::driver::config::Config;
use crate::driver::lock;
use crate::driver::status::{Done, Status};

static CALLS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Makes an exported function of one that may fail: counts it, tells it, and lets no panic out.
fn call(name: &'static str, body: impl FnOnce() -> Done) -> Status {
    let result = catch_unwind(AssertUnwindSafe(|| {
        *lock(&CALLS).entry(name).or_default() += 1;
        let status = body().err().unwrap_or(Status::SUCCESS);
        if Config::get().trace {
            eprintln!("soft-cuda: {name} -> {}", status.0);
        }
        status
    }));
    result.unwrap_or_else(|_| {
        eprintln!("soft-cuda: {name} panicked");
        Status::ERROR_UNKNOWN
    })
}

/// Writes a result.
///
/// # Safety
/// `to` is null or may be written.
unsafe fn put<T>(to: *mut T, value: T) -> Done {
    if to.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller's.
    unsafe { to.write(value) };
    Ok(())
}

/// Reads a name.
///
/// # Safety
/// `name` is null or text with a zero at its end.
unsafe fn text<'a>(name: *const c_char) -> Done<&'a str> {
    if name.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Status::ERROR_INVALID_VALUE)
}

/// How often a function of the driver was called, by its exported name; of all functions together if it is null.
///
/// # Safety
/// `name` is null or text with a zero at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn soft_cuda_calls(name: *const c_char) -> u64 {
    let calls = lock(&CALLS);
    // SAFETY: the caller's.
    match unsafe { text(name) } {
        Ok(name) => calls.get(name).copied().unwrap_or(0),
        Err(_) => calls.values().sum(),
    }
}

/// PTX instructions that all launches that have ended well have executed.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_instructions() -> u64 {
    crate::driver::launch::instructions()
}

/// What the last failed launch said: writes up to `bytes` bytes with a zero at the end, and gives the whole length.
///
/// # Safety
/// `to` is null, or `bytes` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn soft_cuda_last_failure(to: *mut c_char, bytes: usize) -> usize {
    let last = crate::driver::launch::last_failure();
    if !to.is_null() && bytes > 0 {
        let length = last.len().min(bytes - 1);
        // SAFETY: the caller's: `bytes` is more than `length`.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(last.as_ptr(), length);
            to.cast::<u8>().add(length).write(0);
        }
    }
    last.len()
}
