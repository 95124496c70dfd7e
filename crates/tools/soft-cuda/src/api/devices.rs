//! Initialization, versions, errors, devices.

use std::ffi::{c_char, c_int, c_void};

use super::{call, put, text};
use crate::driver::config::Config;
use crate::driver::status::{Done, Status};
use crate::driver::{context, module};

/// `cuInit`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuInit(flags: u32) -> Status {
    call("cuInit", || {
        if flags != 0 {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        match Config::get().init_error {
            Status::SUCCESS if Config::get().devices == 0 => Err(Status::ERROR_NO_DEVICE),
            Status::SUCCESS => {
                context::initialize();
                super::watch_end();
                Ok(())
            }
            error => Err(error),
        }
    })
}

/// `cuDriverGetVersion`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> Status {
    // SAFETY: the caller's.
    call("cuDriverGetVersion", || unsafe { put(version, Config::get().driver) })
}

/// `cuGetErrorName`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: u32, name: *mut *const c_char) -> Status {
    call("cuGetErrorName", || {
        let found = Status(error).texts();
        // SAFETY: the caller's.
        unsafe { put(name, found.map_or(std::ptr::null(), |(name, _)| name.as_ptr().cast()))? };
        found.map(drop).ok_or(Status::ERROR_INVALID_VALUE)
    })
}

/// `cuGetErrorString`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: u32, meaning: *mut *const c_char) -> Status {
    call("cuGetErrorString", || {
        let found = Status(error).texts();
        // SAFETY: the caller's.
        unsafe { put(meaning, found.map_or(std::ptr::null(), |(_, meaning)| meaning.as_ptr().cast()))? };
        found.map(drop).ok_or(Status::ERROR_INVALID_VALUE)
    })
}

/// `cuDeviceGetCount`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> Status {
    call("cuDeviceGetCount", || {
        context::initialized()?;
        // SAFETY: the caller's.
        unsafe { put(count, Config::get().devices as c_int) }
    })
}

/// `cuDeviceGet`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> Status {
    call("cuDeviceGet", || {
        context::device(ordinal)?;
        // SAFETY: the caller's.
        unsafe { put(device, ordinal) }
    })
}

/// `cuDeviceGetName`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> Status {
    call("cuDeviceGetName", || {
        let device = context::device(device)?;
        let text = format!("Soft CUDA sm_{} #{device}", Config::get().sm);
        if name.is_null() || length <= 0 {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        let kept = text.len().min(length as usize - 1);
        // SAFETY: the caller's: `length` bytes may be written, and `kept` is less.
        unsafe {
            name.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), kept);
            name.add(kept).write(0);
        }
        Ok(())
    })
}

fn uuid(device: u32) -> [u8; 16] {
    let mut uuid = *b"soft-cuda-device";
    uuid[15] = device as u8;
    uuid
}

/// `cuDeviceGetUuid`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid(to: *mut [u8; 16], device: c_int) -> Status {
    // SAFETY: the caller's.
    call("cuDeviceGetUuid", || unsafe { put(to, uuid(context::device(device)?)) })
}

/// `cuDeviceGetUuid_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(to: *mut [u8; 16], device: c_int) -> Status {
    // SAFETY: the caller's.
    call("cuDeviceGetUuid_v2", || unsafe { put(to, uuid(context::device(device)?)) })
}

/// `cuDeviceTotalMem_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> Status {
    call("cuDeviceTotalMem_v2", || {
        context::device(device)?;
        // SAFETY: the caller's.
        unsafe { put(bytes, Config::get().memory as usize) }
    })
}

/// `cuDeviceComputeCapability`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) -> Status {
    call("cuDeviceComputeCapability", || {
        context::device(device)?;
        let sm = Config::get().sm as c_int;
        // SAFETY: the caller's.
        unsafe {
            put(major, sm / 10)?;
            put(minor, sm % 10)
        }
    })
}

/// Attributes of a device, as an H100 has them but for its size; all others are 0.
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
        // Overlap of copies, mapped host memory, concurrent kernels, unified addresses.
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
        // Managed memory, at the same time as the host; native atomics on the host's memory there are none.
        83 | 89 | 90 | 91 => 1,
        87 => 2,
        92 | 93 | 95 | 99 => 1,
        97 => module::most_shared() as c_int,
        106 => config.blocks_per_sm as c_int,
        111 => 1024,
        115 => 1,
        // Memory synchronization domains.
        126 => {
            if config.sm >= 90 {
                4
            } else {
                1
            }
        }
        _ if (1..=150).contains(&attribute) => 0,
        _ => return Err(Status::ERROR_INVALID_VALUE),
    })
}

/// `cuDeviceGetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, device: c_int) -> Status {
    call("cuDeviceGetAttribute", || {
        let device = context::device(device)?;
        // SAFETY: the caller's.
        unsafe { put(value, attribute(which, device)?) }
    })
}

/// `cuDeviceGetPCIBusId`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(to: *mut c_char, length: c_int, device: c_int) -> Status {
    call("cuDeviceGetPCIBusId", || {
        let device = context::device(device)?;
        let text = format!("0000:{:02X}:00.0\0", device + 1);
        if to.is_null() || (length as usize) < text.len() {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller's: `length` bytes may be written.
        unsafe { to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        Ok(())
    })
}

/// `cuDeviceCanAccessPeer`: all devices reach each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> Status {
    call("cuDeviceCanAccessPeer", || {
        let (device, peer) = (context::device(device)?, context::device(peer)?);
        // SAFETY: the caller's.
        unsafe { put(can, c_int::from(device != peer)) }
    })
}

/// `cuDeviceGetP2PAttribute`: peer access, and atomics through it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetP2PAttribute(value: *mut c_int, which: c_int, from: c_int, to: c_int) -> Status {
    call("cuDeviceGetP2PAttribute", || {
        let (from, to) = (context::device(from)?, context::device(to)?);
        if from == to || !(1..=4).contains(&which) {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller's.
        unsafe { put(value, c_int::from(which == 2 || which == 3)) }
    })
}

/// `cuGetProcAddress_v2`: says that nothing is found; all functions are exported by their names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    symbol: *const c_char,
    function: *mut *mut c_void,
    _version: c_int,
    _flags: u64,
    status: *mut u32,
) -> Status {
    call("cuGetProcAddress_v2", || {
        // SAFETY: the caller's.
        unsafe {
            text(symbol)?;
            put(function, std::ptr::null_mut())?;
            if !status.is_null() {
                put(status, 1)?;
            }
        }
        Err(Status::ERROR_NOT_FOUND)
    })
}
