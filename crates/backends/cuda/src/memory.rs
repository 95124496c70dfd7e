//! Memory of a CUDA device, behind Wattle's memory interface.

use std::ptr::NonNull;
use std::sync::Arc;

use wattle_core::{Allocation, Error, ErrorKind, Memory, MemoryKind, Result, lock};
use wattle_gpu::cannot;

use crate::context::Context;
use crate::deferred_free::DeferredFree;
use crate::driver::{
    Address, Pattern, Place, Refusal, Said, Stream, copy, copy_peer, copy_rows, fill, free_memory, new_device,
    new_host, new_managed,
};
use crate::rows::{Part, parts};
use crate::staging::PIECE;

/// An allocation of a CUDA device.
pub(crate) struct CudaMemory {
    pub(crate) context: Arc<Context>,
    /// The address for kernels and copies.
    pub(crate) address: Address,
    /// The host address; `None` if the host cannot reach the memory.
    host: Option<NonNull<u8>>,
    kind: MemoryKind,
    bytes: usize,
}

// SAFETY: the pointer is to memory of its own. The clocks decide which thread accesses it when.
unsafe impl Send for CudaMemory {}
// SAFETY: as above.
unsafe impl Sync for CudaMemory {}

impl CudaMemory {
    pub(crate) fn new(context: &Arc<Context>, request: &Allocation) -> Result<CudaMemory> {
        context.usable()?;
        context.enter()?;
        context.free_deferred();
        let bytes = request.bytes();
        let (address, host) = context.allocate(request.kind, bytes)?;
        let kind = request.kind;
        let memory = CudaMemory { context: context.clone(), address, host, kind, bytes };
        match kind {
            // Memory that the host can see must be initialized by Rust's rules, whatever used it before.
            MemoryKind::HostMapped => {
                if let Some(start) = host {
                    // SAFETY: it has `bytes` bytes, and nothing else refers to it yet.
                    unsafe { start.write_bytes(0, bytes) };
                }
            }
            MemoryKind::Device if !request.zeroed => {}
            MemoryKind::Unified | MemoryKind::Device => memory.zero(bytes)?,
        }
        Ok(memory)
    }

    fn zero(&self, bytes: usize) -> Result<()> {
        let alone = self.context.alone();
        let staging = lock(&self.context.staging);
        let mut cleared = Ok(());
        if alone.is_some() {
            // SAFETY: nothing else refers to it yet.
            cleared = unsafe { fill(self.address, Pattern::Byte(0), (bytes, 1, 0), &staging.stream) };
        } else {
            // A fill is a launch of the driver's, and would wait for one that leaves it no room. Copies do not.
            let zeros = vec![0; PIECE.min(bytes)];
            for at in (0..bytes).step_by(PIECE) {
                let piece = Part::one((0, at, PIECE.min(bytes - at)));
                // SAFETY: as above.
                cleared = cleared.and_then(|()| unsafe { staging.write(self.address, [piece].into_iter(), &zeros) });
            }
        }
        self.context.check("clearing memory", cleared.and_then(|()| staging.finish()))
    }

    /// Returns the address at which the host accesses the memory without the device's help; `None` if it needs that.
    fn mapped(&self) -> Option<NonNull<u8>> {
        self.host.filter(|_| self.kind == MemoryKind::HostMapped)
    }

    /// Sets runs, each an offset and a length in bytes, to `value` repeated; `None` if the device cannot.
    pub(crate) fn fill(&self, mut runs: impl Iterator<Item = (usize, usize)>, value: &[u8]) -> Option<Result<()>> {
        let Some(pattern) = Pattern::of(value) else {
            let run = runs.next()?;
            return runs.next().is_none().then(|| self.fill_by_copies(run, value));
        };
        let work = || -> Result<()> {
            self.ready()?;
            let staging = lock(&self.context.staging);
            // SAFETY: runs are within their buffer, and the queue has recorded the use.
            let filled = unsafe { self.fill_on(runs, pattern, &staging.stream) };
            self.context.check("a fill", filled.and_then(|()| staging.finish()))
        };
        Some(work())
    }

    /// Submits fills of runs to a stream.
    ///
    /// # Safety
    /// The runs are within the memory, at multiples of the pattern's size, and nothing else uses them until the stream
    /// has executed the fills.
    pub(crate) unsafe fn fill_on(
        &self,
        runs: impl Iterator<Item = (usize, usize)>,
        pattern: Pattern,
        stream: &Stream,
    ) -> Said {
        let mut all = parts(runs.map(|(offset, len)| (offset, offset, len)));
        all.try_for_each(|Part { to, to_pitch, rows, .. }| {
            (0..rows.slices).try_for_each(|slice| {
                let to = self.address + (to + slice * to_pitch.row * to_pitch.rows_per_slice) as u64;
                // SAFETY: the caller's promise; elements are at multiples of their size.
                unsafe { fill(to, pattern, (rows.width, rows.rows, to_pitch.row), stream) }
            })
        })
    }

    /// Sets a run to a value that the driver has no fill for: copies the beginning from the host, the rest from that.
    fn fill_by_copies(&self, (offset, len): (usize, usize), value: &[u8]) -> Result<()> {
        let seed = value.repeat(PIECE.min(len) / value.len());
        self.ready()?;
        let (to, staging) = (self.address + offset as u64, lock(&self.context.staging));
        // SAFETY: the run is within its buffer, and the queue has recorded the use.
        let mut filled = unsafe { staging.write(to, parts(std::iter::once((0, 0, seed.len()))), &seed) };
        let mut done = seed.len();
        while done < len && filled.is_ok() {
            let piece = done.min(len - done);
            // SAFETY: as above; what is read was written before, and does not overlap.
            filled = unsafe { copy(to + done as u64, to, piece, &staging.stream) };
            done += piece;
        }
        self.context.check("a fill", filled.and_then(|()| staging.finish()))
    }

    /// Copies runs, each the offset where it is read, the offset where it is written, its length, from a CUDA device.
    ///
    /// # Safety
    /// The runs are within the memories, nothing writes those that are read, and nothing else uses those that are
    /// written.
    pub(crate) unsafe fn copy_runs(
        &self,
        from: &CudaMemory,
        runs: impl Iterator<Item = (usize, usize, usize)>,
    ) -> Result<()> {
        from.context.usable()?;
        self.ready()?;
        let is_same = Arc::ptr_eq(&self.context, &from.context);
        if !is_same {
            self.context.reach(&from.context);
        }
        let staging = lock(&self.context.staging);
        let copied = if is_same {
            // SAFETY: the caller's promise.
            unsafe { self.copy_on(from, runs, &staging.stream) }
        } else {
            parts(runs).try_for_each(|part| self.copy_from_peer(from, &part, &staging.stream))
        };
        self.context.check("a copy", copied.and_then(|()| staging.finish()))
    }

    /// Submits copies from memory of the same device to a stream.
    ///
    /// # Safety
    /// The requirements are those of [`copy_runs`](Self::copy_runs), and hold until the stream has executed the copies.
    pub(crate) unsafe fn copy_on(
        &self,
        from: &CudaMemory,
        runs: impl Iterator<Item = (usize, usize, usize)>,
        stream: &Stream,
    ) -> Said {
        parts(runs).try_for_each(|part| {
            let ends = (self.address + part.to as u64, from.address + part.from as u64);
            // SAFETY: the caller's promise.
            unsafe {
                if part.rows.rows * part.rows.slices == 1 {
                    return copy(ends.0, ends.1, part.rows.width, stream);
                }
                let (to, from) = (Place::Device(ends.0), Place::Device(ends.1));
                copy_rows((to, part.to_pitch), (from, part.from_pitch), part.rows, stream)
            }
        })
    }

    /// Copies a part of a copy from another device, row by row.
    fn copy_from_peer(&self, from: &CudaMemory, part: &Part, stream: &Stream) -> Said {
        part.each_row(|from_offset, offset, len| {
            let to = (self.address + offset as u64, self.context.primary);
            let from = (from.address + from_offset as u64, from.context.primary);
            // SAFETY: the caller of `copy_runs` has promised it.
            unsafe { copy_peer(to, from, len, stream) }
        })
    }

    /// Makes the device's context the thread's, if the device can be used.
    fn ready(&self) -> Result<()> {
        self.context.usable()?;
        self.context.enter()
    }
}

impl Context {
    /// Allocates memory; returns its device address, and its host address if it has one.
    fn allocate(&self, kind: MemoryKind, bytes: usize) -> Result<(Address, Option<NonNull<u8>>)> {
        let bytes = bytes.max(1);
        // Drivers differ in how they answer requests that exceed the device's limits.
        if kind == MemoryKind::Device && bytes as u64 > self.physical.properties.memory {
            return Err(self.out_of_memory(bytes, format!("it has {}", self.physical.properties.memory)));
        }
        let mut allocated = self.try_allocate(kind, bytes)?;
        if allocated.is_err_and(Refusal::is_out_of_memory) && self.await_deferred() {
            allocated = self.try_allocate(kind, bytes)?;
        }
        match allocated {
            Err(refusal) if refusal.is_out_of_memory() => Err(self.out_of_memory(bytes, self.free_bytes(kind))),
            other => self.check("allocating memory", other),
        }
    }

    /// Allocates memory of one kind; the outer error is that the device has no memory of that kind.
    fn try_allocate(&self, kind: MemoryKind, bytes: usize) -> Result<Said<(Address, Option<NonNull<u8>>)>> {
        Ok(match kind {
            MemoryKind::Device => new_device(bytes).map(|address| (address, None)),
            MemoryKind::Unified if self.physical.has_unified => new_managed(bytes)
                .map(|address| (address, NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize)))),
            MemoryKind::HostMapped if self.physical.has_host_mapped => {
                new_host(bytes).map(|(start, address)| (address, Some(start)))
            }
            MemoryKind::Unified => {
                let what = "allocate unified memory: the host could not touch it while kernels run";
                return Err(cannot(self.name(), what, "allocate with `alloc_host_mapped`, or with `alloc` and copy"));
            }
            MemoryKind::HostMapped => {
                let what = "reach memory of the host's";
                return Err(cannot(self.name(), what, "allocate with `alloc`, and copy"));
            }
        })
    }

    #[cold]
    fn out_of_memory(&self, bytes: usize, why: String) -> Error {
        ErrorKind::OutOfMemory { device: self.name().to_owned(), bytes: bytes as u64, why }.into()
    }

    /// How much memory is free, for an error message.
    fn free_bytes(&self, kind: MemoryKind) -> String {
        if kind == MemoryKind::HostMapped {
            return "the operating system gives no more that stays in its place".into();
        }
        let total = self.physical.properties.memory;
        let free = match free_memory() {
            Ok(free) => format!("{free} of its {total} are free, other programs' counted"),
            Err(_) => format!("it has {total}"),
        };
        match self.deferred_bytes() {
            0 => free,
            deferred => format!(
                "{free}; {deferred} bytes that nobody needs any more are given back when no launch is in flight on the \
                 device: wait for its queues"
            ),
        }
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        let memory = match (self.kind, self.host) {
            (MemoryKind::HostMapped, Some(start)) => DeferredFree::Host(start),
            (MemoryKind::HostMapped, None) | (MemoryKind::Device | MemoryKind::Unified, _) => {
                DeferredFree::Device(self.address, self.bytes)
            }
        };
        // SAFETY: it is this context's, and deferred once. Launches and copies own the buffers that they use until they
        // have ended; one that is not waited for any more keeps its buffers for ever.
        unsafe { self.context.free_later(memory) };
    }
}

// SAFETY: host-mapped and managed memory have the host's pointer for as long as they are allocated, were zeroed, and
// start at a multiple of 256, as all of the driver's allocations do. Only launches and copies of this device access
// them besides, when the clocks allow it; while a launch that was given up may still run, all access is refused.
unsafe impl Memory for CudaMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        let len = into.len();
        // SAFETY: the caller's promise.
        unsafe { self.read_runs(&mut std::iter::once((offset, len)), into) }
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.write_runs(&mut std::iter::once((offset, from.len())), from) }
    }

    unsafe fn read_runs(&self, runs: &mut dyn Iterator<Item = (usize, usize)>, into: &mut [u8]) -> Result<()> {
        self.ready()?;
        if let Some(start) = self.mapped() {
            let mut at = 0;
            for (offset, len) in runs {
                let into = NonNull::from(&mut into[at..at + len]).cast();
                // SAFETY: the caller's promise.
                unsafe { start.add(offset).copy_to_nonoverlapping(into, len) };
                at += len;
            }
            return self.context.alive();
        }
        let mut at = 0;
        let packed = runs.map(|(offset, len)| {
            at += len;
            (offset, at - len, len)
        });
        let staging = lock(&self.context.staging);
        // SAFETY: the caller's promise.
        let read = unsafe { staging.read(self.address, parts(packed), into) };
        self.context.check("a copy to the host", read)
    }

    unsafe fn write_runs(&self, runs: &mut dyn Iterator<Item = (usize, usize)>, from: &[u8]) -> Result<()> {
        self.ready()?;
        if let Some(start) = self.mapped() {
            let mut at = 0;
            for (offset, len) in runs {
                let from = NonNull::from(&from[at..at + len]).cast();
                // SAFETY: the caller's promise.
                unsafe { start.add(offset).copy_from_nonoverlapping(from, len) };
                at += len;
            }
            return self.context.alive();
        }
        let mut at = 0;
        let packed = runs.map(|(offset, len)| {
            at += len;
            (at - len, offset, len)
        });
        let staging = lock(&self.context.staging);
        // SAFETY: the caller's promise.
        let written = unsafe { staging.write(self.address, parts(packed), from) };
        self.context.check("a copy from the host", written)
    }

    unsafe fn copy_from(&self, offset: usize, from: &dyn Memory, from_offset: usize, len: usize) -> Option<Result<()>> {
        let from = from.as_any().downcast_ref::<CudaMemory>()?;
        // SAFETY: the caller's promise.
        Some(unsafe { self.copy_runs(from, std::iter::once((from_offset, offset, len))) })
    }

    fn usable(&self) -> Result<()> {
        self.context.usable()
    }

    fn host_pointer(&self) -> Option<NonNull<u8>> {
        self.host
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
