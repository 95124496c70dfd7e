//! What a queue does besides launches: copies above all.

use std::sync::Arc;

use super::event::{Event, EventState};
use super::lent::{HostSource, HostTarget};
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

/// A copy to a part of a buffer, or from one.
pub enum Transfer {
    /// The part is written.
    Write {
        /// The bytes that are written, as many as the part has.
        from: TransferSource,
        /// The part of a buffer.
        to: RawPart,
    },
    /// The part is read into memory of the host's program, which waits until the copy is done.
    Read {
        /// The part of a buffer.
        from: RawPart,
        /// The memory, of as many bytes.
        to: HostTarget,
    },
}

/// The bytes that a copy writes to a part of a buffer.
pub enum TransferSource {
    /// The bytes of a part of a buffer.
    Buffer(RawPart),
    /// Bytes that the copy owns.
    Bytes(Vec<u8>),
    /// The bytes of one value, repeated.
    Fill(Vec<u8>),
    /// Memory of the host's program, which waits until the copy is done.
    Host(HostSource),
}

/// A part of a buffer whose type of elements is known at run time.
#[derive(Clone)]
pub struct RawPart {
    /// The buffer.
    pub buffer: Arc<RawBuffer>,
    region: Region,
}

impl RawPart {
    pub(crate) fn new(buffer: Arc<RawBuffer>, region: Region) -> RawPart {
        RawPart { buffer, region }
    }

    /// Offset and length of each run of consecutive elements, in bytes.
    pub fn runs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let size = self.buffer.layout.size();
        runs(&self.buffer, &self.region).map(move |(offset, length)| (offset * size, length * size))
    }

    /// The length of all runs together, in bytes.
    fn bytes(&self) -> usize {
        self.region.extent().iter().map(|&extent| extent as usize).product::<usize>() * self.buffer.layout.size()
    }
}

impl Transfer {
    /// Does the copy, through the memories' own `read` and `write`.
    ///
    /// # Errors
    /// A device cannot do the copy.
    pub fn run(self) -> Result<()> {
        match &self {
            Transfer::Read { from, to } => to.write(|bytes| from.read(bytes)),
            Transfer::Write { from: TransferSource::Host(from), to } => from.read(|bytes| to.write(bytes)),
            Transfer::Write { from: TransferSource::Bytes(from), to } => to.write(from),
            Transfer::Write { from: TransferSource::Fill(value), to } => to.fill(value),
            Transfer::Write { from: TransferSource::Buffer(from), to } => to.copy(from),
        }
    }
}

impl RawPart {
    fn read(&self, into: &mut [u8]) -> Result<()> {
        // SAFETY: runs are within their buffer, of whole elements, and the queue has recorded the use.
        unsafe { memory::read_elements(&*self.buffer.memory, self.buffer.layout, &mut self.runs(), into) }
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        // SAFETY: as above.
        unsafe { self.buffer.memory.write_runs(&mut self.runs(), bytes) }
    }

    fn copy(&self, from: &RawPart) -> Result<()> {
        let (source, target) = (&from.buffer, &self.buffer);
        paired(from.runs(), self.runs()).try_for_each(|(from_offset, offset, len)| {
            // SAFETY: runs are within their buffers, and the queue has recorded both uses.
            let copied = unsafe { target.memory.copy_from(offset, &*source.memory, from_offset, len) };
            copied.unwrap_or_else(|| {
                let mut staged = memory::zeros::<u8>(len)?;
                let run = &mut std::iter::once((from_offset, len));
                // SAFETY: as above; each run is of whole elements.
                unsafe {
                    memory::read_elements(&*source.memory, source.layout, run, &mut staged)?;
                    target.memory.write(offset, &staged)
                }
            })
        })
    }

    /// Writes the value as often as it fits, by pieces: a buffer is filled without a second one as large.
    fn fill(&self, value: &[u8]) -> Result<()> {
        const MOST: usize = 1 << 20;
        let size = value.len().max(1);
        let bytes = self.bytes();
        let piece = value.repeat(bytes.min(MOST) / size);
        if bytes <= piece.len() {
            return self.write(&piece);
        }
        for (offset, length) in self.runs() {
            for at in (0..length).step_by(piece.len().max(1)) {
                let piece = &piece[..piece.len().min(length - at)];
                // SAFETY: the piece is within a run, which is within the buffer, and the queue has recorded the use.
                unsafe { self.buffer.memory.write(offset + at, piece)? };
            }
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::paired;

    #[test]
    fn runs_are_paired() {
        let pieces = |from: &[(usize, usize)], to: &[(usize, usize)]| -> Vec<_> {
            paired(from.iter().copied(), to.iter().copied()).collect()
        };
        assert_eq!(pieces(&[(3, 5)], &[(7, 5)]), [(3, 7, 5)]);
        assert_eq!(
            pieces(&[(0, 4), (10, 4), (20, 4)], &[(0, 6), (100, 6)]),
            [(0, 0, 4), (10, 4, 2), (12, 100, 2), (20, 102, 4)]
        );
        assert_eq!(pieces(&[], &[]), []);
    }
}
