//! The exported functions for launches.

use std::ffi::c_void;

use wattle_modules::code::Kernel;

use super::must;
use crate::driver::config::Config;
use crate::driver::launch::{Request, launch};
use crate::driver::module;
use crate::driver::status::{Done, Status};

/// Collects the bytes of a launch's parameters, from pointers to them or from a packed buffer.
///
/// # Safety
/// `params` is null or has a pointer for each parameter; `extra` is null or a list as the driver API describes it.
unsafe fn params(kernel: &Kernel, params: *const *const u8, extra: *const *const c_void) -> Done<Vec<u8>> {
    let mut bytes = vec![0; kernel.packed_bytes()];
    if !params.is_null() {
        must(extra.is_null())?;
        for (index, param) in kernel.params.iter().enumerate() {
            let to = &mut bytes[param.offset as usize..(param.offset + param.bytes) as usize];
            // SAFETY: the caller vouches for it.
            unsafe {
                let from = params.add(index).read();
                must(!from.is_null())?;
                to.as_mut_ptr().copy_from_nonoverlapping(from, to.len());
            }
        }
        return Ok(bytes);
    }
    if extra.is_null() {
        return must(kernel.params.is_empty()).map(|()| bytes);
    }
    let (mut buffer, mut size, mut at) = (std::ptr::null::<u8>(), 0, 0);
    loop {
        // SAFETY: the caller vouches for it: the list ends with CU_LAUNCH_PARAM_END, 0.
        let (key, value) = unsafe {
            let key = extra.add(at).read() as usize;
            (key, if key == 0 { std::ptr::null() } else { extra.add(at + 1).read() })
        };
        match key {
            0 => break,
            1 => buffer = value.cast(),
            // SAFETY: the caller vouches for it: it points to the size.
            2 if !value.is_null() => size = unsafe { value.cast::<usize>().read() },
            _ => return Err(Status::ERROR_INVALID_VALUE),
        }
        at += 2;
    }
    let end = kernel.packed_bytes();
    must(size >= end && (end == 0 || !buffer.is_null()))?;
    // SAFETY: the caller vouches for it: the buffer has `size` bytes, which are `end` at least.
    unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(buffer, end) };
    Ok(bytes)
}

/// Enqueues a launch.
///
/// # Safety
/// The parameters are given as `cuLaunchKernel` takes them: each pointer that is not null is to what the kernel
/// declares.
unsafe fn run(function: usize, request: Request, from: *const *const u8, extra: *const *const c_void) -> Done {
    let function = module::find(function)?;
    // SAFETY: the caller of the exported function vouches for it.
    let bytes = unsafe { params(function.kernel(), from, extra)? };
    let space = function.kernel().parameter_space(&bytes);
    launch(&function, request, space)
}

/// The layout of `CUlaunchAttribute`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    /// The number of the attribute.
    pub id: u32,
    /// Unused bytes.
    pub pad: [u8; 4],
    /// The value of the attribute.
    pub value: [u64; 8],
}

/// The layout of `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfig {
    /// The number of blocks in each dimension.
    pub grid: [u32; 3],
    /// The threads per block in each dimension.
    pub block: [u32; 3],
    /// The dynamic shared memory in bytes.
    pub dynamic: u32,
    /// The handle of the stream.
    pub stream: usize,
    /// The launch attributes; may be null if there are none.
    pub attributes: *const Attribute,
    /// The number of launch attributes.
    pub count: u32,
}

/// The number of memory synchronization domains (CUDA C++ Programming Guide, "Memory Synchronization Domains").
pub(super) fn domains() -> u8 {
    if Config::get().sm >= 90 { 4 } else { 1 }
}

fn apply(attribute: &Attribute, request: &mut Request) -> Done {
    let value = attribute.value[0];
    let bytes = value.to_le_bytes();
    let good = match attribute.id {
        0 => true,
        2 => {
            request.cooperative = value as u32 != 0;
            true
        }
        // A cluster of one block.
        4 => value == 1 << 32 | 1 && attribute.value[1] as u32 == 1,
        8 => (-5..=0).contains(&(value as i32)),
        // The map of memory synchronization domains: those of the default and of the remote domain.
        9 => bytes[..2].iter().all(|domain| *domain < domains()),
        10 => value as u32 <= 1,
        _ => false,
    };
    must(good)
}

exports! {
    cuLaunchKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, dynamic: u32, stream: usize,
        from: *const *const u8, extra: *const *const c_void,
    ) => {
        let request = Request { grid: [gx, gy, gz], block: [bx, by, bz], dynamic, stream, cooperative: false };
        // SAFETY: the caller vouches for it.
        unsafe { run(function, request, from, extra) }
    };
    cuLaunchCooperativeKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, dynamic: u32, stream: usize,
        from: *const *const u8,
    ) => {
        let request = Request { grid: [gx, gy, gz], block: [bx, by, bz], dynamic, stream, cooperative: true };
        // SAFETY: the caller vouches for it.
        unsafe { run(function, request, from, std::ptr::null()) }
    };
    cuLaunchKernelEx(
        config: *const LaunchConfig, function: usize, from: *const *const u8, extra: *const *const c_void,
    ) => {
        must(!config.is_null())?;
        // SAFETY: the caller vouches for it.
        let LaunchConfig { grid, block, dynamic, stream, attributes, count } = unsafe { *config };
        let mut request = Request { grid, block, dynamic, stream, cooperative: false };
        must(count == 0 || !attributes.is_null())?;
        for index in 0..count as usize {
            // SAFETY: the caller vouches for it: there are `count` of them.
            apply(unsafe { &*attributes.add(index) }, &mut request)?;
        }
        // SAFETY: the caller vouches for it.
        unsafe { run(function, request, from, extra) }
    };
}
