//! The exported functions for initialization, versions, errors and devices.

use std::ffi::{c_char, c_int, c_void};

use super::launches::domains;
use super::{must, put, text};
use crate::driver::config::Config;
use crate::driver::context::{self, device as known};
use crate::driver::module;
use crate::driver::status::{Done, Status};

fn uuid(device: u32) -> [u8; 16] {
    let mut uuid = *b"soft-cuda-device";
    uuid[15] = device as u8;
    uuid
}

/// An attribute of a device, as of an H100 except for its size; attributes not listed are 0.
fn attribute(attribute: c_int, device: u32) -> Done<c_int> {
    let config = Config::get();
    Ok(match attribute {
        1..=3 => 1024,
        4 => 64,
        5 => c_int::MAX,
        6 | 7 => 65535,
        8 => module::SHARED as c_int,
        9 => 65536,
        10 => 32,
        11 => c_int::MAX,
        12 | 82 => 65536,
        13 => 1_000_000,
        14 | 30 => 512,
        16 => config.sms as c_int,
        // Overlapping copies, mapped host memory, concurrent kernels, unified addresses.
        15 | 19 | 31 | 41 => 1,
        32 => 1,
        33 => device as c_int + 1,
        36 => 1_000_000,
        37 => 512,
        38 => 4 << 20,
        39 => 2048,
        40 => 2,
        51 => 32,
        75 => config.sm as c_int / 10,
        76 => config.sm as c_int % 10,
        78..=80 => 1,
        81 => module::most_shared() as c_int + 1024,
        // Managed memory that host and device use at the same time; there are no native atomics on host memory.
        83 | 89 | 90 | 91 => 1,
        87 => 2,
        92 | 93 | 95 | 99 => 1,
        97 => module::most_shared() as c_int,
        106 => config.blocks_per_sm as c_int,
        111 => 1024,
        115 => 1,
        // The number of memory synchronization domains.
        126 => c_int::from(domains()),
        _ if (1..=150).contains(&attribute) => 0,
        _ => return Err(Status::ERROR_INVALID_VALUE),
    })
}

/// Writes a text with a zero at its end.
///
/// # Safety
/// `to` is null, or `length` bytes may be written there.
unsafe fn give(text: &[u8], to: *mut c_char, length: c_int) -> Done {
    must(!to.is_null() && length as usize > text.len() && length > 0)?;
    // SAFETY: the caller vouches for it.
    unsafe {
        to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        to.add(text.len()).write(0);
    }
    Ok(())
}

/// Writes one of the texts of an error code; null if the code is unknown.
fn error(code: u32, to: *mut *const c_char, which: impl Fn((&'static str, &'static str)) -> &'static str) -> Done {
    let found = Status(code).texts();
    // SAFETY: the caller of the exported function vouches for it.
    unsafe { put(to, found.map_or(std::ptr::null(), |texts| which(texts).as_ptr().cast()))? };
    must(found.is_some())
}

exports! {
    cuInit(flags: u32) => {
        must(flags == 0)?;
        match Config::get().init_error {
            Status::SUCCESS if Config::get().devices == 0 => Err(Status::ERROR_NO_DEVICE),
            Status::SUCCESS => {
                context::initialize();
                super::watch_end();
                Ok(())
            }
            error => Err(error),
        }
    };
    cuDriverGetVersion(version: *mut c_int) -> version => Config::get().driver;
    cuGetErrorName(code: u32, name: *mut *const c_char) => error(code, name, |(name, _)| name);
    cuGetErrorString(code: u32, meaning: *mut *const c_char) => error(code, meaning, |(_, meaning)| meaning);
    cuDeviceGetCount(count: *mut c_int) -> count => {
        context::initialized()?;
        Config::get().devices as c_int
    };
    cuDeviceGet(device: *mut c_int, ordinal: c_int) -> device => known(ordinal)? as c_int;
    cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) => {
        let text = format!("Soft CUDA sm_{} #{}", Config::get().sm, known(device)?);
        must(length > 0)?;
        // SAFETY: the caller vouches for it: `length` bytes may be written.
        unsafe { give(&text.as_bytes()[..text.len().min(length as usize - 1)], name, length) }
    };
    cuDeviceGetUuid(to: *mut [u8; 16], device: c_int) -> to => uuid(known(device)?);
    cuDeviceGetUuid_v2(to: *mut [u8; 16], device: c_int) -> to => uuid(known(device)?);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> bytes => {
        known(device)?;
        Config::get().memory as usize
    };
    cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) -> major, minor => {
        known(device)?;
        let sm = Config::get().sm as c_int;
        (sm / 10, sm % 10)
    };
    cuDeviceGetAttribute(value: *mut c_int, which: c_int, device: c_int) -> value => attribute(which, known(device)?)?;
    cuDeviceGetPCIBusId(to: *mut c_char, length: c_int, device: c_int) => {
        let text = format!("0000:{:02X}:00.0", known(device)? + 1);
        // SAFETY: the caller vouches for it: `length` bytes may be written.
        unsafe { give(text.as_bytes(), to, length) }
    };
    /// All devices reach each other's memory.
    cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> can => {
        c_int::from(known(device)? != known(peer)?)
    };
    /// Peer access is possible, and so are atomics through it.
    cuDeviceGetP2PAttribute(value: *mut c_int, which: c_int, from: c_int, to: c_int) -> value => {
        must(known(from)? != known(to)? && (1..=4).contains(&which))?;
        c_int::from(which == 2 || which == 3)
    };
    /// Finds no function; all functions are exported by their names.
    cuGetProcAddress_v2(
        symbol: *const c_char,
        function: *mut *mut c_void,
        _version: c_int,
        _flags: u64,
        status: *mut u32,
    ) => {
        // SAFETY: the caller vouches for it; null is allowed for the status.
        unsafe {
            text(symbol)?;
            put(function, std::ptr::null_mut())?;
            super::offer(status, 1);
        }
        Err(Status::ERROR_NOT_FOUND)
    };
}
