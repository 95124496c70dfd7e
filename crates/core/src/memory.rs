//! Memory of a device.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use wattle_ir::{Element, Number};

use crate::error::{Error, ErrorKind, Result};

/// What a buffer is allocated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The device's own memory.
    Device,
    /// Memory in an address space that the device and the host share, moved between them by the driver.
    Unified,
    /// The host's memory, which the device reads and writes in place.
    HostMapped,
}

/// A request for memory.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// The numbers that an element is made of.
    pub layout: &'static wattle_ir::ElementLayout,
    /// The number of elements.
    pub len: usize,
    /// What the memory is for.
    pub kind: MemoryKind,
    /// Whether the elements must be zero; else their values are unspecified.
    pub zeroed: bool,
}

impl Allocation {
    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * self.layout.size()
    }
}

/// An allocation on a device. It is freed when it is dropped.
///
/// Offsets and lengths are in bytes.
///
/// # Safety
/// `host_pointer` points to initialized bytes of the requested number, aligned for every element type, until the
/// memory is dropped; nothing else touches them.
pub unsafe trait Memory: Send + Sync + 'static {
    /// Copies from the device.
    ///
    /// # Safety
    /// The bytes are within the allocation, and nothing writes them meanwhile.
    ///
    /// # Errors
    /// The device cannot do the copy.
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()>;
    /// Copies to the device.
    ///
    /// # Safety
    /// The bytes are within the allocation, and nothing else uses them meanwhile.
    ///
    /// # Errors
    /// The device cannot do the copy.
    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()>;
    /// Copies runs from the device, one behind the other; each is an offset and a length.
    ///
    /// # Safety
    /// The requirements are those of [`Memory::read`], and together the runs have as many bytes as `into`.
    ///
    /// # Errors
    /// The device cannot do the copy.
    unsafe fn read_runs(&self, runs: &mut dyn Iterator<Item = (usize, usize)>, into: &mut [u8]) -> Result<()> {
        let mut at = 0;
        for (offset, length) in runs {
            // SAFETY: the caller's promise.
            unsafe { self.read(offset, &mut into[at..at + length])? };
            at += length;
        }
        Ok(())
    }
    /// Copies consecutive bytes to runs on the device; each run is an offset and a length.
    ///
    /// # Safety
    /// The requirements are those of [`Memory::write`], and together the runs have as many bytes as `from`.
    ///
    /// # Errors
    /// The device cannot do the copy.
    unsafe fn write_runs(&self, runs: &mut dyn Iterator<Item = (usize, usize)>, from: &[u8]) -> Result<()> {
        let mut at = 0;
        for (offset, length) in runs {
            // SAFETY: the caller's promise.
            unsafe { self.write(offset, &from[at..at + length])? };
            at += length;
        }
        Ok(())
    }
    /// Copies from memory of the same kind of device, without a detour through the host; `None` if it cannot.
    ///
    /// # Safety
    /// The bytes are within the allocations, nothing writes those that are read, and nothing else uses those that are
    /// written.
    ///
    /// # Errors
    /// The device cannot do the copy.
    unsafe fn copy_from(
        &self,
        _offset: usize,
        _from: &dyn Memory,
        _from_offset: usize,
        _len: usize,
    ) -> Option<Result<()>> {
        None
    }
    /// Checks that the host may touch the memory: not while a launch that is no longer waited for may still use it.
    ///
    /// # Errors
    /// Such a launch may still use the memory; the error names it.
    fn usable(&self) -> Result<()> {
        Ok(())
    }
    /// The start of the memory, where the host can reach it.
    fn host_pointer(&self) -> Option<NonNull<u8>>;
    /// Whether a host guard has a copy of memory that the host cannot reach, which is written back when it is dropped.
    fn is_mapped_by_copy(&self) -> bool {
        false
    }
    /// The memory as a value of its own type, to be downcast.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// Memory of the host.
pub struct HostMemory {
    allocation: NonNull<u8>,
    layout: Layout,
    /// Offset of the elements in the allocation, in bytes.
    offset: usize,
}

// SAFETY: it is plain memory, and the clocks decide which operation touches it when.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

/// Large enough for a cache line and for any vector load.
const ALIGNMENT: usize = 64;
/// The size, in bytes, from which on buffers start at different places in their pages. Otherwise the same index of two
/// buffers has the same low address bits, and a processor takes a load for one that must wait for a store to the other.
const COLORED_FROM: usize = 16 << 10;
/// The distance of neighbouring colors in bytes, and the number of colors.
const COLOR: usize = 320;
const COLORS: usize = 12;

/// The size of all buffers in the host's memory together, in bytes.
static HELD: AtomicUsize = AtomicUsize::new(0);

fn next_color(bytes: usize) -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if bytes < COLORED_FROM { 0 } else { NEXT.fetch_add(1, Ordering::Relaxed) % COLORS * COLOR }
}

impl HostMemory {
    /// Allocates zeroed memory for the device `device`.
    ///
    /// # Errors
    /// The machine has less.
    pub fn new(device: &str, bytes: usize) -> Result<HostMemory> {
        let out_of_memory =
            |why: String| Error::from(ErrorKind::OutOfMemory { device: device.to_owned(), bytes: bytes as u64, why });
        let held = HELD.load(Ordering::Relaxed);
        if let Some(total) = total_memory().filter(|&total| held.saturating_add(bytes) as u64 > total) {
            return Err(out_of_memory(format!("this machine has {total}, and buffers hold {held}")));
        }
        let color = next_color(bytes);
        // Asked for more than its own alignment, the allocator clears the pages by hand, and so touches them all; what
        // it aligns by itself it takes zeroed from the operating system, page by page when it is used.
        let padded = bytes.saturating_add(color).saturating_add(ALIGNMENT);
        let layout = Layout::from_size_align(padded, size_of::<usize>())
            .map_err(|_| out_of_memory("that is beyond the address space".into()))?;
        // SAFETY: the layout is not empty.
        let allocation = unsafe { std::alloc::alloc_zeroed(layout) };
        let allocation =
            NonNull::new(allocation).ok_or_else(|| out_of_memory("the operating system refused it".into()))?;
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        let offset = allocation.addr().get().next_multiple_of(ALIGNMENT) - allocation.addr().get() + color;
        Ok(HostMemory { allocation, layout, offset })
    }

    fn start(&self) -> NonNull<u8> {
        // SAFETY: the offset is within the allocation, which was made larger by it.
        unsafe { self.allocation.add(self.offset) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        HELD.fetch_sub(self.layout.size(), Ordering::Relaxed);
        // SAFETY: it was allocated with this layout, and is freed once.
        unsafe { std::alloc::dealloc(self.allocation.as_ptr(), self.layout) }
    }
}

// SAFETY: `allocation` has the bytes, aligned to 64, and was zeroed; it is freed when this is dropped.
unsafe impl Memory for HostMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        let len = into.len();
        // SAFETY: the caller's promise.
        unsafe { self.start().add(offset).copy_to_nonoverlapping(NonNull::from(into).cast(), len) };
        Ok(())
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.start().add(offset).copy_from_nonoverlapping(NonNull::from(from).cast(), from.len()) };
        Ok(())
    }

    unsafe fn copy_from(&self, offset: usize, from: &dyn Memory, from_offset: usize, len: usize) -> Option<Result<()>> {
        let from = from.as_any().downcast_ref::<HostMemory>()?;
        // SAFETY: the caller's promise; parts of one buffer may be the two ends, and then do not overlap.
        unsafe { self.start().add(offset).copy_from(from.start().add(from_offset), len) };
        Some(Ok(()))
    }

    fn host_pointer(&self) -> Option<NonNull<u8>> {
        Some(self.start())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

fn host_lacks(bytes: usize) -> Error {
    let why = "the operating system refused it".to_owned();
    ErrorKind::OutOfMemory { device: "host".to_owned(), bytes: bytes as u64, why }.into()
}

/// `len` zeros in the host's memory; too little memory is an error, since the program's data decide `len`.
pub(crate) fn zeros<T: Element>(len: usize) -> Result<Vec<T>> {
    let layout = Layout::array::<T>(len).map_err(|_| host_lacks(usize::MAX))?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is not empty.
    let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or_else(|| host_lacks(layout.size()))?;
    // SAFETY: the memory was just allocated with this layout, and zeros are a value of every element type. The
    // operating system gives zeros page by page; a vector that is filled would touch them all.
    Ok(unsafe { Vec::from_raw_parts(start.as_ptr().cast(), len, len) })
}

/// The values as bytes.
pub(crate) fn bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: elements have no padding, so all their bytes are initialized.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The elements as bytes, to be written.
///
/// # Safety
/// What is written are bytes of elements, or such as [`ElementLayout::settle`](wattle_ir::ElementLayout::settle) has
/// settled.
pub(crate) unsafe fn bytes_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: elements have no padding; settled bytes are a value, by the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// The numbers as bytes, to be written.
pub(crate) fn number_bytes_mut<T: Number>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: every bit pattern of a number is a value.
    unsafe { bytes_mut(values) }
}

/// Reads elements of a device: the runs, one behind the other, each an offset and a length in bytes. What becomes of
/// them in `into` are bytes of elements, whatever the memory holds.
///
/// # Safety
/// The requirements are those of [`Memory::read_runs`], and the memory is of elements of this layout.
pub(crate) unsafe fn read_elements(
    memory: &dyn Memory,
    layout: &wattle_ir::ElementLayout,
    runs: &mut dyn Iterator<Item = (usize, usize)>,
    into: &mut [u8],
) -> Result<()> {
    if !layout.has_bools() {
        // SAFETY: the caller's promise.
        return unsafe { memory.read_runs(runs, into) };
    }
    let mut read = zeros::<u8>(into.len())?;
    // SAFETY: as above.
    unsafe { memory.read_runs(runs, &mut read)? };
    layout.settle(&mut read);
    into.copy_from_slice(&read);
    Ok(())
}

/// Settles the elements of memory that the host reaches, before it has references to them: see
/// [`ElementLayout::settle`](wattle_ir::ElementLayout::settle).
///
/// # Safety
/// `count` elements of this layout begin at `start`, and nothing but kernels that read them uses them, and guards of
/// the host for which they have been settled.
pub(crate) unsafe fn settle_in_place(layout: &wattle_ir::ElementLayout, start: NonNull<u8>, count: usize) {
    for leaf in layout.bools() {
        for element in 0..count {
            // SAFETY: the byte is within the elements. It is written only if it is neither 0 nor 1, and then no guard
            // has settled it, so that nothing of the host's refers to it; all that do the same here are atomic.
            let byte =
                unsafe { AtomicU8::from_ptr(start.as_ptr().add(element * layout.size() + leaf.offset as usize)) };
            if byte.load(Ordering::Relaxed) > 1 {
                byte.store(1, Ordering::Relaxed);
            }
        }
    }
}

/// A copy of the bytes in the host's memory; too little memory is an error.
pub(crate) fn copied(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| host_lacks(bytes.len()))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// The machine's memory in bytes; `None` where it is unknown.
pub(crate) fn total_memory() -> Option<u64> {
    kibibytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

/// How many bytes this process can still have, `None` where it is unknown: those that are free on the machine, and
/// those of its address space that a limit leaves.
pub(crate) fn free_memory() -> Option<u64> {
    let free = kibibytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    Some(free.min(free_addresses().unwrap_or(u64::MAX)))
}

fn free_addresses() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let used = kibibytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(used))
}

/// The number of bytes in the line `name` of a table, which gives it in KiB.
fn kibibytes(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
