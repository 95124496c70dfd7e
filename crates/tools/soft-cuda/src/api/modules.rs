//! The exported functions for modules, functions, the linker and occupancy.

use std::ffi::{c_char, c_int, c_void};

use super::{must, offer, put, text};
use crate::driver::config::Config;
use crate::driver::module::{self, LINKS, Link, Log};
use crate::driver::status::{Done, Status};
use crate::driver::{context, image};

/// The link options that have an effect here: the buffer for the log of errors, and the target.
///
/// # Safety
/// Both arrays have `count` items.
unsafe fn options(count: u32, options: *const u32, values: *mut usize) -> Done<(Option<Log>, Option<u32>)> {
    must(count == 0 || !options.is_null() && !values.is_null())?;
    let (mut at, mut size, mut target) = (None, None, None);
    for index in 0..count as usize {
        // SAFETY: the caller vouches for it.
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

/// Writes a log to the caller's buffer, cut to its size.
///
/// # Safety
/// The buffer and the slot are still live.
unsafe fn tell(to: Option<Log>, log: &str) {
    let Some(Log { at, bytes, size_slot }) = to else { return };
    if at == 0 || bytes == 0 {
        return;
    }
    let kept = log.len().min(bytes - 1);
    // SAFETY: the caller vouches for it; `kept` and the zero fit into the buffer.
    unsafe {
        let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
        at.copy_from_nonoverlapping(log.as_ptr(), kept);
        at.add(kept).write(0);
        std::ptr::with_exposed_provenance_mut::<usize>(size_slot).write(kept);
    }
}

/// Loads a module from PTX.
///
/// # Safety
/// `to` can be written, `from` is text that ends with a zero byte, and the log's buffers are as long as they are said
/// to be.
unsafe fn load(to: *mut usize, from: *const c_void, log: Option<Log>) -> Done {
    must(!to.is_null())?;
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

fn occupancy(function: usize, threads: c_int, dynamic: usize) -> Done<c_int> {
    let function = module::find(function)?;
    must(threads > 0)?;
    Ok(module::resident(&function, threads as u32, dynamic as u64) as c_int)
}

exports! {
    // SAFETY: the caller vouches for it.
    cuModuleLoadData(to: *mut usize, image: *const c_void) => unsafe { load(to, image, None) };
    cuModuleLoadDataEx(
        to: *mut usize, image: *const c_void, count: u32, names: *const u32, values: *mut usize,
    ) => {
        // SAFETY: the caller vouches for it.
        unsafe { load(to, image, options(count, names, values)?.0) }
    };
    cuModuleUnload(handle: usize) => module::unload(handle);
    cuModuleGetFunction(to: *mut usize, handle: usize, name: *const c_char) -> to => {
        // SAFETY: the caller vouches for it.
        module::function(handle, unsafe { text(name)? })?
    };
    cuModuleGetGlobal_v2(to: *mut u64, bytes: *mut usize, handle: usize, name: *const c_char) => {
        // SAFETY: the caller vouches for it; null is allowed for the results.
        unsafe {
            let (address, size) = module::global(handle, text(name)?)?;
            offer(to, address);
            offer(bytes, size as usize);
        }
        Ok(())
    };
    cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: usize) -> value => {
        module::attribute(&*module::find(function)?, attribute)?
    };
    cuFuncSetAttribute(function: usize, attribute: c_int, value: c_int) => {
        module::set_attribute(&*module::find(function)?, attribute, value)
    };
    /// Checks its arguments, without further effect.
    cuFuncSetCacheConfig(function: usize, config: u32) => module::find(function).and_then(|_| must(config <= 3));
    /// Returns the function's name, which lives as long as the function.
    cuFuncGetName(name: *mut *const c_char, function: usize) -> name => module::find(function)?.name.as_ptr().cast();
    /// Returns that modules are loaded eagerly.
    cuModuleGetLoadingMode(mode: *mut u32) -> mode => 1;
    cuLinkCreate_v2(count: u32, names: *const u32, values: *mut usize, to: *mut usize) -> to => {
        context::current()?;
        // SAFETY: the caller vouches for it.
        let (log, target) = unsafe { options(count, names, values)? };
        LINKS.add(|_| Link::new(target.unwrap_or(Config::get().sm), log)).0
    };
    /// Adds PTX to a link; other kinds of input are refused.
    cuLinkAddData_v2(
        state: usize, kind: u32, data: *const u8, bytes: usize, _name: *const c_char, count: u32, names: *const u32,
        values: *mut usize,
    ) => {
        let link = LINKS.get(state)?;
        must(!data.is_null() && bytes > 0)?;
        if kind != 1 {
            return Err(Status::ERROR_NOT_SUPPORTED);
        }
        // SAFETY: the caller vouches for it.
        let (own, data) = unsafe { (options(count, names, values)?.0, std::slice::from_raw_parts(data, bytes)) };
        let data = data.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = std::str::from_utf8(data).map_err(|_| Status::ERROR_INVALID_PTX)?;
        link.add(text).map_err(|(status, text)| {
            // SAFETY: the caller vouches for it: buffers that the link was created with live as long as it.
            unsafe { tell(own.or(link.log), &text) };
            status
        })
    };
    cuLinkComplete(state: usize, image: *mut *mut c_void, bytes: *mut usize) -> image => {
        let (at, size) = LINKS.get(state)?.complete()?;
        // SAFETY: the caller vouches for it; null is allowed.
        unsafe { offer(bytes, size) };
        std::ptr::with_exposed_provenance_mut(at)
    };
    cuLinkDestroy(state: usize) => LINKS.remove(state).map(drop);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        to: *mut c_int, function: usize, threads: c_int, dynamic: usize,
    ) -> to => occupancy(function, threads, dynamic)?;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: *mut c_int, function: usize, threads: c_int, dynamic: usize, flags: u32,
    ) -> to => {
        must(flags <= 1)?;
        occupancy(function, threads, dynamic)?
    };
    /// Returns the largest block size whose threads fill a multiprocessor best.
    cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int, block: *mut c_int, function: usize, shared_of: Option<unsafe extern "C" fn(c_int) -> usize>,
        dynamic: usize, limit: c_int,
    ) -> grid, block => {
        let function = module::find(function)?;
        let most = module::most_threads(function.kernel());
        let most = if limit > 0 { most.min(limit as u32) } else { most };
        let fill = |threads: u32| {
            // SAFETY: the caller vouches for it: the function may be called with any size of a block.
            let dynamic = shared_of.map_or(dynamic, |shared_of| unsafe { shared_of(threads as c_int) });
            module::resident(&function, threads, dynamic as u64)
        };
        let sizes = (1..=most.div_ceil(32)).map(|warps| (warps * 32).min(most));
        let best = sizes.max_by_key(|&threads| fill(threads) * threads).filter(|&threads| fill(threads) > 0);
        let best = best.ok_or(Status::ERROR_LAUNCH_OUT_OF_RESOURCES)?;
        ((fill(best) * Config::get().sms) as c_int, best as c_int)
    };
}
