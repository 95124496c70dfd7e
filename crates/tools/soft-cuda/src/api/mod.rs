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

/// Exports functions, one to a row.
///
/// `name(parameters) => done;` does what the expression says, which is a [`Done`]. `name(parameters) -> out => value;`
/// writes the value where the parameter `out` points to, if it is not null; with two of them the value is a pair.
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
        // SAFETY: the caller's: what the driver API has as a pointer to a result may be written.
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

/// The driver's lock, where loading a module is configured to wait: one who loads has it alone.
static DRIVER: RwLock<()> = RwLock::new(());

/// Does a function's work, with the driver's lock if it has one.
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

/// Whether the process ends.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Called once the driver is there; what must be done before the end of the driver has to be registered later.
fn watch_end() {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    extern "C" fn end() {
        ENDED.store(true, Ordering::SeqCst);
        // So that threads which go on have the time to be seen.
        std::thread::sleep(Duration::from_millis(100));
    }
    static WATCHED: Once = Once::new();
    if Config::get().end_aborts {
        // SAFETY: it is the C library's, and the function lives as long as this library, which is never unloaded.
        WATCHED.call_once(|| assert_eq!(unsafe { atexit(end) }, 0, "the C library takes the function"));
    }
}

/// Makes an exported function of one that may fail: counts the call, traces it, and lets no panic out.
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

/// Writes a result that the caller may not want.
///
/// # Safety
/// `to` is null or may be written.
unsafe fn offer<T>(to: *mut T, value: T) {
    // SAFETY: the caller's.
    let _ = unsafe { put(to, value) };
}

/// Success, or that an argument is wrong.
fn must(holds: bool) -> Done {
    if holds { Ok(()) } else { Err(Status::ERROR_INVALID_VALUE) }
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
