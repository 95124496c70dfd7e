//! Modules, functions, the linker, occupancy.

use std::ffi::{c_char, c_int, c_void};

use super::{call, put, text};
use crate::driver::config::Config;
use crate::driver::module::{self, LINKS, Link, Log};
use crate::driver::status::{Done, Status};
use crate::driver::{context, image};

/// The options that matter here: where the log of errors goes, and the target.
///
/// # Safety
/// Both arrays have `count` items.
unsafe fn options(count: u32, options: *const u32, values: *mut usize) -> Done<(Option<Log>, Option<u32>)> {
    if count > 0 && (options.is_null() || values.is_null()) {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let (mut at, mut size, mut target) = (None, None, None);
    for index in 0..count as usize {
        // SAFETY: the caller's.
        let (option, value) = unsafe { (options.add(index).read(), values.add(index).read()) };
        match option {
            5 => at = Some(value),
            // SAFETY: as above.
            6 => size = Some((value as u32 as usize, unsafe { values.add(index) }.expose_provenance())),
            9 => target = Some(value as u32),
            0..=35 => {}
            _ => return Err(Status::ERROR_INVALID_VALUE),
        }
    }
    let log = at.zip(size).map(|(at, (bytes, size_slot))| Log { at, bytes, size_slot });
    Ok((log, target))
}

/// Writes a log where the caller wants it.
///
/// # Safety
/// The buffer and the slot are live yet.
unsafe fn tell(to: Option<Log>, log: &str) {
    let Some(Log { at, bytes, size_slot }) = to else { return };
    if at == 0 || bytes == 0 {
        return;
    }
    let kept = log.len().min(bytes - 1);
    // SAFETY: the caller's; `kept` and the zero fit into the buffer.
    unsafe {
        let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
        at.copy_from_nonoverlapping(log.as_ptr(), kept);
        at.add(kept).write(0);
        std::ptr::with_exposed_provenance_mut::<usize>(size_slot).write(kept);
    }
}

unsafe fn load(to: *mut usize, from: *const c_void, log: Option<Log>) -> Done {
    if to.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    context::current()?;
    // SAFETY: the caller of the exported function vouches for it.
    let source = unsafe { image::read(from.cast())? };
    match module::load(&source) {
        // SAFETY: as above.
        Ok(handle) => unsafe { put(to, handle) },
        Err((status, text)) => {
            // SAFETY: as above.
            unsafe { tell(log, &text) };
            Err(status)
        }
    }
}

/// `cuModuleLoadData`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(to: *mut usize, image: *const c_void) -> Status {
    // SAFETY: the caller's.
    call("cuModuleLoadData", || unsafe { load(to, image, None) })
}

/// `cuModuleLoadDataEx`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    to: *mut usize,
    image: *const c_void,
    count: u32,
    names: *const u32,
    values: *mut usize,
) -> Status {
    // SAFETY: the caller's.
    call("cuModuleLoadDataEx", || unsafe { load(to, image, options(count, names, values)?.0) })
}

/// `cuModuleUnload`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(handle: usize) -> Status {
    call("cuModuleUnload", || module::unload(handle))
}

/// `cuModuleGetFunction`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(to: *mut usize, handle: usize, name: *const c_char) -> Status {
    // SAFETY: the caller's.
    call("cuModuleGetFunction", || unsafe { put(to, module::function(handle, text(name)?)?) })
}

/// `cuModuleGetGlobal_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    to: *mut u64,
    bytes: *mut usize,
    handle: usize,
    name: *const c_char,
) -> Status {
    call("cuModuleGetGlobal_v2", || {
        // SAFETY: the caller's; null is allowed for the results.
        unsafe {
            let (address, size) = module::global(handle, text(name)?)?;
            let _ = put(to, address);
            let _ = put(bytes, size as usize);
        }
        Ok(())
    })
}

/// `cuFuncGetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: usize) -> Status {
    call("cuFuncGetAttribute", || {
        let function = module::find(function)?;
        // SAFETY: the caller's.
        unsafe { put(value, module::attribute(&function, attribute)?) }
    })
}

/// `cuFuncSetAttribute`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetAttribute(function: usize, attribute: c_int, value: c_int) -> Status {
    call("cuFuncSetAttribute", || module::set_attribute(&*module::find(function)?, attribute, value))
}

/// `cuFuncSetCacheConfig`: without effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetCacheConfig(function: usize, config: u32) -> Status {
    call("cuFuncSetCacheConfig", || {
        module::find(function)?;
        if config <= 3 { Ok(()) } else { Err(Status::ERROR_INVALID_VALUE) }
    })
}

/// `cuFuncGetName`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetName(name: *mut *const c_char, function: usize) -> Status {
    // SAFETY: the caller's; the name lives as long as the function.
    call("cuFuncGetName", || unsafe { put(name, module::find(function)?.name.as_ptr().cast()) })
}

/// `cuFuncGetModule` is not here; functions know their module by themselves. `cuModuleGetLoadingMode`: modules are
/// loaded at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetLoadingMode(mode: *mut u32) -> Status {
    // SAFETY: the caller's.
    call("cuModuleGetLoadingMode", || unsafe { put(mode, 1) })
}

/// `cuLinkCreate_v2`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate_v2(count: u32, names: *const u32, values: *mut usize, to: *mut usize) -> Status {
    call("cuLinkCreate_v2", || {
        context::current()?;
        // SAFETY: the caller's.
        unsafe {
            let (log, target) = options(count, names, values)?;
            let sm = target.unwrap_or(Config::get().sm);
            put(to, LINKS.add(|_| Link::new(sm, log)).0)
        }
    })
}

/// `cuLinkAddData_v2`: PTX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddData_v2(
    state: usize,
    kind: u32,
    data: *const u8,
    bytes: usize,
    _name: *const c_char,
    count: u32,
    names: *const u32,
    values: *mut usize,
) -> Status {
    call("cuLinkAddData_v2", || {
        let link = LINKS.get(state)?;
        if data.is_null() || bytes == 0 {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        if kind != 1 {
            return Err(Status::ERROR_NOT_SUPPORTED);
        }
        // SAFETY: the caller's.
        let (own, data) = unsafe { (options(count, names, values)?.0, std::slice::from_raw_parts(data, bytes)) };
        let data = data.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = std::str::from_utf8(data).map_err(|_| Status::ERROR_INVALID_PTX)?;
        link.add(text).map_err(|(status, text)| {
            // SAFETY: the caller's: buffers that the link was created with live as long as it.
            unsafe { tell(own.or(link.log), &text) };
            status
        })
    })
}

/// `cuLinkComplete`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkComplete(state: usize, image: *mut *mut c_void, bytes: *mut usize) -> Status {
    call("cuLinkComplete", || {
        let (at, size) = LINKS.get(state)?.complete()?;
        // SAFETY: the caller's; null is allowed for the size.
        unsafe {
            let _ = put(bytes, size);
            put(image, std::ptr::with_exposed_provenance_mut(at))
        }
    })
}

/// `cuLinkDestroy`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkDestroy(state: usize) -> Status {
    call("cuLinkDestroy", || LINKS.remove(state).map(drop))
}

fn occupancy(to: *mut c_int, function: usize, threads: c_int, dynamic: usize) -> Done {
    let function = module::find(function)?;
    if threads <= 0 {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let blocks = module::resident(&function, threads as u32, dynamic as u64);
    // SAFETY: the caller of the exported function vouches for it.
    unsafe { put(to, blocks as c_int) }
}

/// `cuOccupancyMaxActiveBlocksPerMultiprocessor`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    to: *mut c_int,
    function: usize,
    threads: c_int,
    dynamic: usize,
) -> Status {
    call("cuOccupancyMaxActiveBlocksPerMultiprocessor", || occupancy(to, function, threads, dynamic))
}

/// `cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    to: *mut c_int,
    function: usize,
    threads: c_int,
    dynamic: usize,
    flags: u32,
) -> Status {
    call("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", || {
        if flags > 1 { Err(Status::ERROR_INVALID_VALUE) } else { occupancy(to, function, threads, dynamic) }
    })
}

/// `cuOccupancyMaxPotentialBlockSize`: the largest block whose threads fill a multiprocessor best.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: usize,
    shared_of: Option<unsafe extern "C" fn(c_int) -> usize>,
    dynamic: usize,
    limit: c_int,
) -> Status {
    call("cuOccupancyMaxPotentialBlockSize", || {
        let function = module::find(function)?;
        let most = module::most_threads(function.kernel());
        let most = if limit > 0 { most.min(limit as u32) } else { most };
        let fill = |threads: u32| {
            // SAFETY: the caller's: the function may be called with any size of a block.
            let dynamic = shared_of.map_or(dynamic, |shared_of| unsafe { shared_of(threads as c_int) });
            module::resident(&function, threads, dynamic as u64)
        };
        let sizes = (1..=most.div_ceil(32)).map(|warps| (warps * 32).min(most));
        let best = sizes.max_by_key(|&threads| fill(threads) * threads).filter(|&threads| fill(threads) > 0);
        let best = best.ok_or(Status::ERROR_LAUNCH_OUT_OF_RESOURCES)?;
        // SAFETY: the caller's.
        unsafe {
            put(grid, (fill(best) * Config::get().sms) as c_int)?;
            put(block, best as c_int)
        }
    })
}
