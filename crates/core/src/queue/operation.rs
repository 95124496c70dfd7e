//! What a queue does besides launches: copies above all.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::event::{Event, EventState};
use crate::buffer::{RawBuffer, runs};
use crate::clock::Region;
use crate::error::Result;
use crate::memory;

/// What a queue does besides launches.
pub enum Operation {
    /// Copies between parts of buffers.
    Copy(Transfer),
    /// A function of the host's.
    Task(Box<dyn FnOnce() -> Result<()> + Send>),
    /// A point that the host and other queues wait for.
    Record(Arc<EventState>),
    /// Waits for a point of another queue.
    WaitFor(Event),
}

/// A copy: what is read, what is written, and in which runs.
pub struct Transfer {
    /// The end that is read.
    pub from: TransferEnd,
    /// The end that is written.
    pub to: TransferEnd,
}

/// One end of a copy.
pub enum TransferEnd {
    /// A part of a buffer.
    Buffer(Arc<RawBuffer>, Runs),
    /// Bytes of the host, as many as the other end has.
    Bytes(Vec<u8>),
    /// The bytes of one value, repeated over the other end.
    Fill(Vec<u8>),
    /// Memory of the host's program, which waits until the copy is done.
    Host(HostBytes),
}

/// Memory of the host's program, lent to a copy that it waits for.
pub struct HostBytes {
    start: NonNull<u8>,
    len: usize,
    /// Set when the copy is done; a queue that an error has stopped skips it.
    done: Arc<AtomicBool>,
}

// SAFETY: the thread that makes one lends the memory to the thread that does the copy.
unsafe impl Send for HostBytes {}

impl HostBytes {
    /// The flag that is set when the copy is done.
    pub(crate) fn done(&self) -> Arc<AtomicBool> {
        self.done.clone()
    }

    /// Lends `bytes`, to be read, or to be written if they were borrowed so.
    ///
    /// # Safety
    /// The bytes outlive the copy, and nothing else uses them until it is done.
    pub(crate) unsafe fn lend(bytes: *mut [u8]) -> Option<HostBytes> {
        NonNull::new(bytes.cast()).map(|start| HostBytes { start, len: bytes.len(), done: Arc::default() })
    }
}

/// The runs of consecutive elements that make up a part of a buffer.
#[derive(Clone, Copy)]
pub struct Runs(pub(crate) Region);

impl Runs {
    /// Offset and length of each run, in bytes.
    pub fn of<'r>(&'r self, buffer: &'r RawBuffer) -> impl Iterator<Item = (usize, usize)> + 'r {
        let size = buffer.layout.size();
        runs(buffer, &self.0).map(move |(offset, length)| (offset * size, length * size))
    }

    /// The length of all runs together, in bytes.
    pub fn bytes(&self, buffer: &RawBuffer) -> usize {
        self.0.extent().iter().map(|&extent| extent as usize).product::<usize>() * buffer.layout.size()
    }
}

impl Transfer {
    /// Does the copy, through the memories' own `read` and `write`.
    ///
    /// # Errors
    /// A device cannot do the copy.
    pub fn run(self) -> Result<()> {
        match (&self.from, &self.to) {
            (TransferEnd::Buffer(from, runs), TransferEnd::Host(to)) => {
                // SAFETY: the lender's promise; it has lent the bytes to be written.
                read_runs(from, runs, unsafe { std::slice::from_raw_parts_mut(to.start.as_ptr(), to.len) })?;
                to.done.store(true, Ordering::Release);
                Ok(())
            }
            (TransferEnd::Host(from), TransferEnd::Buffer(to, runs)) => {
                // SAFETY: the lender's promise.
                write_runs(to, runs, unsafe { std::slice::from_raw_parts(from.start.as_ptr(), from.len) })
            }
            (TransferEnd::Bytes(from), TransferEnd::Buffer(to, runs)) => write_runs(to, runs, from),
            (TransferEnd::Fill(value), TransferEnd::Buffer(to, runs)) => fill_runs(to, runs, value),
            (TransferEnd::Buffer(from, from_runs), TransferEnd::Buffer(to, to_runs)) => {
                paired(from_runs.of(from), to_runs.of(to)).try_for_each(|(from_offset, offset, len)| {
                    // SAFETY: runs are within their buffers, and the queue has recorded both uses.
                    let copied = unsafe { to.memory.copy_from(offset, &*from.memory, from_offset, len) };
                    copied.unwrap_or_else(|| {
                        let mut staged = memory::zeros::<u8>(len)?;
                        let run = &mut std::iter::once((from_offset, len));
                        // SAFETY: as above; each run is of whole elements.
                        unsafe {
                            memory::read_elements(&*from.memory, from.layout, run, &mut staged)?;
                            to.memory.write(offset, &staged)
                        }
                    })
                })
            }
            // The queue makes no other pairs of ends.
            _ => Ok(()),
        }
    }
}

/// The runs of two parts with as many bytes, cut into pieces that are runs of both: both offsets, and the length.
pub fn paired(
    from: impl Iterator<Item = (usize, usize)>,
    to: impl Iterator<Item = (usize, usize)>,
) -> impl Iterator<Item = (usize, usize, usize)> {
    let (mut from, mut to) = (from.peekable(), to.peekable());
    std::iter::from_fn(move || {
        let ((from_offset, from_len), (offset, to_len)) = (from.peek_mut()?, to.peek_mut()?);
        let len = (*from_len).min(*to_len);
        let piece = (*from_offset, *offset, len);
        (*from_offset, *from_len) = (*from_offset + len, *from_len - len);
        (*offset, *to_len) = (*offset + len, *to_len - len);
        let (from_done, to_done) = (*from_len == 0, *to_len == 0);
        if from_done {
            from.next();
        }
        if to_done {
            to.next();
        }
        Some(piece)
    })
}

/// Writes the value as often as it fits, by pieces: a buffer is filled without a second one as large.
fn fill_runs(to: &RawBuffer, runs: &Runs, value: &[u8]) -> Result<()> {
    const MOST: usize = 1 << 20;
    let size = value.len().max(1);
    let bytes = runs.bytes(to);
    let piece = value.repeat(bytes.min(MOST) / size);
    if bytes <= piece.len() {
        return write_runs(to, runs, &piece);
    }
    for (offset, length) in runs.of(to) {
        for at in (0..length).step_by(piece.len().max(1)) {
            let piece = &piece[..piece.len().min(length - at)];
            // SAFETY: the piece is within a run, which is within the buffer, and the queue has recorded the use.
            unsafe { to.memory.write(offset + at, piece)? };
        }
    }
    Ok(())
}

fn read_runs(from: &RawBuffer, runs: &Runs, into: &mut [u8]) -> Result<()> {
    // SAFETY: runs are within their buffer, of whole elements, and the queue has recorded the use.
    unsafe { memory::read_elements(&*from.memory, from.layout, &mut runs.of(from), into) }
}

fn write_runs(to: &RawBuffer, runs: &Runs, bytes: &[u8]) -> Result<()> {
    // SAFETY: as above.
    unsafe { to.memory.write_runs(&mut runs.of(to), bytes) }
}
