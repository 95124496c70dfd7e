//! Memory: allocations, copies and fills. All of them belong to the current context; copies and fills are executed in
//! the order of their stream.

use std::ffi::c_void;
use std::ptr::NonNull;

use cudarc::driver::sys;

use super::{PrimaryContext, Refusal, Said, Stream, functions, said};

/// An address at which kernels and copies access memory.
pub(crate) type Address = sys::CUdeviceptr;

/// Allocates device memory, whose contents are unspecified.
pub(crate) fn new_device(bytes: usize) -> Said<Address> {
    let mut address = 0;
    // SAFETY: the driver is loaded, and the place is there.
    said(unsafe { (functions::MEM_ALLOC.get())(&raw mut address, bytes) })?;
    Ok(address)
}

/// Allocates memory that the driver moves between host and device; both find it at the same address.
pub(crate) fn new_managed(bytes: usize) -> Said<Address> {
    let mut address = 0;
    let kind = sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL as u32;
    // SAFETY: as above.
    said(unsafe { (functions::MEM_ALLOC_MANAGED.get())(&raw mut address, bytes, kind) })?;
    Ok(address)
}

/// Allocates page-locked host memory that every device reaches, whose contents are unspecified.
pub(crate) fn new_host(bytes: usize) -> Said<(NonNull<u8>, Address)> {
    let (mut start, mut address) = (std::ptr::null_mut(), 0);
    let kind = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: as above.
    said(unsafe { (functions::MEM_HOST_ALLOC.get())(&raw mut start, bytes, kind) })?;
    let start = NonNull::new(start).ok_or(Refusal::of(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
    // SAFETY: the memory was just allocated so that devices reach it.
    let found = said(unsafe { (functions::MEM_HOST_GET_DEVICE_POINTER.get())(&raw mut address, start.as_ptr(), 0) });
    if let Err(refusal) = found {
        // SAFETY: nothing else refers to it.
        let _ = unsafe { (functions::MEM_FREE_HOST.get())(start.as_ptr()) };
        return Err(refusal);
    }
    Ok((start.cast(), address))
}

/// Frees device memory or managed memory. It may wait for all that the context does.
///
/// # Safety
/// It was allocated here, and nothing uses it any more.
pub(crate) unsafe fn free(address: Address) -> Said {
    // SAFETY: the caller's promise.
    said(unsafe { (functions::MEM_FREE.get())(address) })
}

/// Frees page-locked host memory. It may wait for all that the context does.
///
/// # Safety
/// The requirements are those of [`free`].
pub(crate) unsafe fn free_host(start: NonNull<u8>) -> Said {
    // SAFETY: the caller's promise.
    said(unsafe { (functions::MEM_FREE_HOST.get())(start.as_ptr().cast()) })
}

/// How many bytes of the device's memory are free.
pub(crate) fn free_memory() -> Said<u64> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the places are there.
    said(unsafe { (functions::MEM_GET_INFO.get())(&raw mut free, &raw mut total) })?;
    Ok(free as u64)
}

/// Copies from the host to memory that devices reach.
///
/// # Safety
/// Both ends have `bytes` bytes until the copy is done; nothing writes the source, and nothing else uses the
/// destination, until then. The same holds for all copies here.
pub(crate) unsafe fn copy_from_host(to: Address, from: *const u8, bytes: usize, stream: &Stream) -> Said {
    // SAFETY: the caller's promise.
    said(unsafe { (functions::MEMCPY_H_TO_D.get())(to, from.cast::<c_void>(), bytes, stream.raw()) })
}

/// Copies to the host from memory that devices reach.
///
/// # Safety
/// The requirements are those of [`copy_from_host`].
pub(crate) unsafe fn copy_to_host(to: *mut u8, from: Address, bytes: usize, stream: &Stream) -> Said {
    // SAFETY: the caller's promise.
    said(unsafe { (functions::MEMCPY_D_TO_H.get())(to.cast::<c_void>(), from, bytes, stream.raw()) })
}

/// Copies within a device.
///
/// # Safety
/// The requirements are those of [`copy_from_host`].
pub(crate) unsafe fn copy(to: Address, from: Address, bytes: usize, stream: &Stream) -> Said {
    // SAFETY: the caller's promise.
    said(unsafe { (functions::MEMCPY_D_TO_D.get())(to, from, bytes, stream.raw()) })
}

/// Copies from memory of one context to that of another.
///
/// # Safety
/// The requirements are those of [`copy_from_host`].
pub(crate) unsafe fn copy_peer(
    (to, to_context): (Address, PrimaryContext),
    (from, from_context): (Address, PrimaryContext),
    bytes: usize,
    stream: &Stream,
) -> Said {
    // SAFETY: the caller's promise.
    said(unsafe { (functions::MEMCPY_PEER.get())(to, to_context.raw(), from, from_context.raw(), bytes, stream.raw()) })
}

/// The source or the destination of a copy of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Memory that devices reach.
    Device(Address),
    /// Page-locked host memory.
    Host(NonNull<u8>),
}

/// The layout of rows in memory: the distance of neighbouring rows in bytes, and the number of such distances between
/// neighbouring slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pitch {
    pub(crate) row: usize,
    pub(crate) rows_per_slice: usize,
}

/// The extent of a copy: `slices` slices of `rows` rows of `width` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) width: usize,
    pub(crate) rows: usize,
    pub(crate) slices: usize,
}

fn parts(place: Place) -> (sys::CUmemorytype, *mut c_void, Address) {
    match place {
        Place::Device(address) => (sys::CUmemorytype::CU_MEMORYTYPE_DEVICE, std::ptr::null_mut(), address),
        Place::Host(start) => (sys::CUmemorytype::CU_MEMORYTYPE_HOST, start.as_ptr().cast(), 0),
    }
}

/// Copies rows from one place to another.
///
/// # Safety
/// The requirements are those of [`copy_from_host`], of all rows of both ends.
pub(crate) unsafe fn copy_rows(
    (to, to_pitch): (Place, Pitch),
    (from, from_pitch): (Place, Pitch),
    rows: Rows,
    stream: &Stream,
) -> Said {
    let (dst_type, dst_host, dst_device) = parts(to);
    let (src_type, src_host, src_device) = parts(from);
    if rows.slices == 1 {
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: src_type,
            srcHost: src_host,
            srcDevice: src_device,
            srcArray: std::ptr::null_mut(),
            srcPitch: from_pitch.row,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: dst_type,
            dstHost: dst_host,
            dstDevice: dst_device,
            dstArray: std::ptr::null_mut(),
            dstPitch: to_pitch.row,
            WidthInBytes: rows.width,
            Height: rows.rows,
        };
        // SAFETY: the caller's promise; the description outlives the call.
        return said(unsafe { (functions::MEMCPY_2D.get())(&raw const copy, stream.raw()) });
    }
    let copy = sys::CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: src_type,
        srcHost: src_host,
        srcDevice: src_device,
        srcArray: std::ptr::null_mut(),
        reserved0: std::ptr::null_mut(),
        srcPitch: from_pitch.row,
        srcHeight: from_pitch.rows_per_slice,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: dst_type,
        dstHost: dst_host,
        dstDevice: dst_device,
        dstArray: std::ptr::null_mut(),
        reserved1: std::ptr::null_mut(),
        dstPitch: to_pitch.row,
        dstHeight: to_pitch.rows_per_slice,
        WidthInBytes: rows.width,
        Height: rows.rows,
        Depth: rows.slices,
    };
    // SAFETY: as above.
    said(unsafe { (functions::MEMCPY_3D.get())(&raw const copy, stream.raw()) })
}

/// The value that a fill repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Byte(u8),
    Half(u16),
    Word(u32),
}

impl Pattern {
    /// The shortest pattern that equals a value of 1, 2, 4 or 8 bytes; `None` if the value has no period of 4 bytes.
    pub(crate) fn of(value: &[u8]) -> Option<Pattern> {
        let word = wattle_gpu::word_of(value)?;
        Some(match word {
            [a, b, c, d] if a == b && b == c && c == d => Pattern::Byte(a),
            [a, b, c, d] if a == c && b == d => Pattern::Half(u16::from_ne_bytes([a, b])),
            _ => Pattern::Word(u32::from_ne_bytes(word)),
        })
    }

    /// The pattern repeated to 4 bytes.
    pub(crate) fn word(self) -> u32 {
        match self {
            Pattern::Byte(byte) => u32::from_ne_bytes([byte; 4]),
            Pattern::Half(half) => u32::from(half) << 16 | u32::from(half),
            Pattern::Word(word) => word,
        }
    }

    /// The size of the pattern in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Pattern::Byte(_) => 1,
            Pattern::Half(_) => 2,
            Pattern::Word(_) => 4,
        }
    }
}

/// Fills `rows` rows of `width` bytes, which stand `pitch` bytes apart. Address and width are multiples of the
/// pattern's size, and so is the distance if there is more than one row.
///
/// # Safety
/// The memory is there until the fill is done, and nothing else uses it.
pub(crate) unsafe fn fill(
    to: Address,
    pattern: Pattern,
    (width, rows, pitch): (usize, usize, usize),
    stream: &Stream,
) -> Said {
    let (count, stream) = (width / pattern.size(), stream.raw());
    // SAFETY: the caller's promise.
    said(unsafe {
        match (pattern, rows) {
            (Pattern::Byte(value), 1) => (functions::MEMSET_D8.get())(to, value, count, stream),
            (Pattern::Half(value), 1) => (functions::MEMSET_D16.get())(to, value, count, stream),
            (Pattern::Word(value), 1) => (functions::MEMSET_D32.get())(to, value, count, stream),
            (Pattern::Byte(value), _) => (functions::MEMSET_2D_D8.get())(to, pitch, value, count, rows, stream),
            (Pattern::Half(value), _) => (functions::MEMSET_2D_D16.get())(to, pitch, value, count, rows, stream),
            (Pattern::Word(value), _) => (functions::MEMSET_2D_D32.get())(to, pitch, value, count, rows, stream),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_pattern() {
        assert_eq!(Pattern::of(&[7]), Some(Pattern::Byte(7)));
        assert_eq!(Pattern::of(&[7; 8]), Some(Pattern::Byte(7)));
        assert_eq!(Pattern::of(&[1, 2, 1, 2]), Some(Pattern::Half(u16::from_ne_bytes([1, 2]))));
        assert_eq!(Pattern::of(&[1, 2, 3, 4]), Some(Pattern::Word(u32::from_ne_bytes([1, 2, 3, 4]))));
        assert_eq!(Pattern::of(&[1, 2, 3, 4, 1, 2, 3, 4]), Some(Pattern::Word(u32::from_ne_bytes([1, 2, 3, 4]))));
        assert_eq!(Pattern::of(&[1, 2, 3, 4, 1, 2, 3, 5]), None);
        for value in [[7; 4], [1, 2, 1, 2], [1, 2, 3, 4]] {
            assert_eq!(Pattern::of(&value).map(Pattern::word), Some(u32::from_ne_bytes(value)));
        }
    }
}
