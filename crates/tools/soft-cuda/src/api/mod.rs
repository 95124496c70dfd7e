//! The exported functions, by the names and with the types of the CUDA driver API.
#![allow(clippy::missing_safety_doc, reason = "what a caller must hold to is what the CUDA driver API asks for")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError, RwLock};
use std::time::Duration;

use crate::driver::config::Config;
use crate::driver::context;
use crate::driver::lock::lock;
use crate::driver::status::{Done, Status};

/// Exports functions, one per row.
///
/// `name(parameters) => done;` evaluates the expression, which is a [`Done`]. `name(parameters) -> out => value;`
/// writes the value to where the parameter `out` points, if that is not null; with two of them the value is a pair.
macro_rules! exports {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $($out:ident),+)? => $body:expr;
    )*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        $(#[doc = ""] #[doc = $doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> crate::driver::status::Status {
            crate::api::call(stringify!($name), || exports!(@ ($($($out),+)?) $body))
        }
    )*};
    (@ () $body:expr) => { $body };
    (@ ($out:ident) $body:expr) => {{
        let value = $body;
        // SAFETY: the caller vouches for it: a pointer to a result in the driver API may be written.
        unsafe { crate::api::put($out, value) }
    }};
    (@ ($first:ident, $second:ident) $body:expr) => {{
        let (first, second) = $body;
        // SAFETY: as for one result.
        unsafe {
            crate::api::put($first, first)?;
            crate::api::put($second, second)
        }
    }};
}

pub mod contexts;
pub mod copies;
pub mod devices;
pub mod events;
pub mod launches;
pub mod memory;
pub mod modules;
pub mod streams;

static CALLS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// The driver's lock, where loading a module is configured to wait: a call that loads one holds it exclusively.
static DRIVER: RwLock<()> = RwLock::new(());

/// Executes a function's body, with the driver's lock if that is configured.
fn locked(name: &str, body: impl FnOnce() -> Done) -> Done {
    if !Config::get().load_waits {
        return body();
    }
    if !name.starts_with("cuModuleLoadData") {
        let _shared = DRIVER.read().unwrap_or_else(PoisonError::into_inner);
        return body();
    }
    let _alone = DRIVER.write().unwrap_or_else(PoisonError::into_inner);
    context::current()?.idle();
    body()
}

/// Whether the process has begun to end.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Registers what sets `ENDED`. What a program must do before the end of the driver has to be registered later.
fn watch_end() {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    extern "C" fn end() {
        ENDED.store(true, Ordering::SeqCst);
        // Threads that go on get the time to make a call, which is then seen.
        std::thread::sleep(Duration::from_millis(100));
    }
    static WATCHED: Once = Once::new();
    if Config::get().end_aborts {
        // SAFETY: it is the C library's, and the function lives as long as this library, which is never unloaded.
        WATCHED.call_once(|| assert_eq!(unsafe { atexit(end) }, 0, "the C library takes the function"));
    }
}

/// Runs the body of an exported function: counts the call, traces it, and turns a panic into an error.
fn call(name: &'static str, body: impl FnOnce() -> Done) -> Status {
    if ENDED.load(Ordering::SeqCst) {
        eprintln!("soft-cuda: {name} was called when the process had begun to end");
        std::process::abort();
    }
    let result = catch_unwind(AssertUnwindSafe(|| {
        *lock(&CALLS).entry(name).or_default() += 1;
        let status = locked(name, body).err().unwrap_or(Status::SUCCESS);
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

/// Writes a result; fails if `to` is null.
///
/// # Safety
/// `to` is null or may be written.
unsafe fn put<T>(to: *mut T, value: T) -> Done {
    if to.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller vouches for it.
    unsafe { to.write(value) };
    Ok(())
}

/// Writes a result, unless `to` is null.
///
/// # Safety
/// `to` is null or may be written.
unsafe fn offer<T>(to: *mut T, value: T) {
    // SAFETY: the caller vouches for it.
    let _ = unsafe { put(to, value) };
}

/// Fails with "invalid value" unless `holds`.
fn must(holds: bool) -> Done {
    if holds { Ok(()) } else { Err(Status::ERROR_INVALID_VALUE) }
}

/// Reads a C string.
///
/// # Safety
/// `name` is null or text with a zero at its end.
unsafe fn text<'a>(name: *const c_char) -> Done<&'a str> {
    if name.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller vouches for it.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Status::ERROR_INVALID_VALUE)
}

/// How often the driver function with this exported name was called; if `name` is null, all functions together.
///
/// # Safety
/// `name` is null or text with a zero at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn soft_cuda_calls(name: *const c_char) -> u64 {
    let calls = lock(&CALLS);
    // SAFETY: the caller vouches for it.
    match unsafe { text(name) } {
        Ok(name) => calls.get(name).copied().unwrap_or(0),
        Err(_) => calls.values().sum(),
    }
}

/// How many PTX instructions the launches that have ended without a fault have executed.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_instructions() -> u64 {
    crate::driver::launch::instructions()
}

/// Writes the last failed launch's message, at most `bytes` bytes with a zero at the end; returns its whole length.
///
/// # Safety
/// `to` is null, or `bytes` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn soft_cuda_last_failure(to: *mut c_char, bytes: usize) -> usize {
    let last = crate::driver::launch::last_failure();
    if !to.is_null() && bytes > 0 {
        let length = last.len().min(bytes - 1);
        // SAFETY: the caller vouches for it: `bytes` is more than `length`.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(last.as_ptr(), length);
            to.cast::<u8>().add(length).write(0);
        }
    }
    last.len()
}
