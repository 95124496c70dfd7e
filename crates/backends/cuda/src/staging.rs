//! Copies between the program's memory and device memory: in pieces, through two buffers of page-locked host memory, so
//! that the device copies one while the host copies the other.

use std::ptr::NonNull;
use std::time::Duration;

use crate::driver::{Address, Event, Pitch, Place, Said, Stream, copy_from_host, copy_rows, copy_to_host, new_host};
use crate::rows::Part;
use crate::wait;

/// The size of a piece in bytes.
pub(crate) const PIECE: usize = 4 << 20;

/// The stream and the buffers for copies. One thread at a time uses them.
pub(crate) struct Staging {
    pub(crate) stream: Stream,
    buffers: [Buffer; 2],
}

struct Buffer {
    start: NonNull<u8>,
    /// An event that is reached when nothing uses the buffer any more.
    free: Event,
}

// SAFETY: the memory is the buffer's own, and is never freed.
unsafe impl Send for Buffer {}

/// Waits until `is_done`. Copies end by themselves: they wait for no launch.
pub(crate) fn finish(mut is_done: impl FnMut() -> Said<bool>) -> Said {
    wait::until(Duration::MAX, &mut is_done).map(drop)
}

impl Staging {
    pub(crate) fn new() -> Said<Staging> {
        let stream = Stream::new()?;
        let buffer = || Ok(Buffer { start: new_host(PIECE)?.0, free: Event::new(false)? });
        Ok(Staging { stream, buffers: [buffer()?, buffer()?] })
    }

    /// Waits until all copies are done.
    pub(crate) fn finish(&self) -> Said {
        finish(|| self.stream.is_done())
    }

    /// Copies to device memory; the parts' `from` are offsets in `bytes`.
    ///
    /// # Safety
    /// The parts are within the memory that begins at `to`, and nothing else uses it.
    pub(crate) unsafe fn write(&self, to: Address, parts: impl Iterator<Item = Part>, bytes: &[u8]) -> Said {
        let mut batch = Batch::default();
        let mut number = 0;
        for part in parts {
            part.pieces(PIECE, &mut |piece| {
                if batch.bytes + piece.bytes() > PIECE {
                    // SAFETY: the caller's promise.
                    unsafe { self.send(number, &mut batch, to, bytes)? };
                    number += 1;
                }
                batch.add(piece);
                Ok(())
            })?;
        }
        // SAFETY: the caller's promise.
        unsafe { self.send(number, &mut batch, to, bytes)? };
        self.finish()
    }

    /// Copies the pieces of a batch through one of the buffers to the device.
    ///
    /// # Safety
    /// The device's memory from `to` on has the places of the pieces, and nothing else uses them until the copy has
    /// ended.
    unsafe fn send(&self, number: usize, batch: &mut Batch, to: Address, bytes: &[u8]) -> Said {
        let buffer = &self.buffers[number % 2];
        finish(|| buffer.free.is_done())?;
        let mut at = 0;
        for piece in batch.pieces.drain(..) {
            // The pieces follow each other in the program's memory.
            let (from, len) = (&bytes[piece.from..piece.from + piece.bytes()], piece.bytes());
            // SAFETY: the buffer has room for as much as a batch has, and nothing uses it; the caller's promise.
            unsafe {
                let start = buffer.start.add(at);
                start.copy_from_nonoverlapping(NonNull::from(from).cast(), len);
                let to = to + piece.to as u64;
                if piece.rows.rows * piece.rows.slices == 1 {
                    copy_from_host(to, start.as_ptr(), len, &self.stream)?;
                } else {
                    let ends = ((Place::Device(to), piece.to_pitch), (Place::Host(start), packed(&piece)));
                    copy_rows(ends.0, ends.1, piece.rows, &self.stream)?;
                }
            }
            at += len;
        }
        batch.bytes = 0;
        buffer.free.record(&self.stream)
    }

    /// Copies from device memory; the parts' `to` are offsets in `bytes`.
    ///
    /// # Safety
    /// The parts are within the memory that begins at `from`, and nothing writes it.
    pub(crate) unsafe fn read(&self, from: Address, parts: impl Iterator<Item = Part>, bytes: &mut [u8]) -> Said {
        let (mut batch, mut fetched) = (Batch::default(), Batch::default());
        let mut number = 0;
        for part in parts {
            part.pieces(PIECE, &mut |piece| {
                if batch.bytes + piece.bytes() > PIECE {
                    // SAFETY: the caller's promise.
                    unsafe { self.fetch(number, &batch, from)? };
                    self.take(number + 1, &mut fetched, bytes)?;
                    std::mem::swap(&mut batch, &mut fetched);
                    number += 1;
                }
                batch.add(piece);
                Ok(())
            })?;
        }
        // SAFETY: the caller's promise.
        unsafe { self.fetch(number, &batch, from)? };
        self.take(number + 1, &mut fetched, bytes)?;
        self.take(number, &mut batch, bytes)
    }

    /// Begins to copy the pieces of a batch to one of the buffers.
    ///
    /// # Safety
    /// The device's memory from `from` on has the places of the pieces, and nothing writes to them until the copy has
    /// ended.
    unsafe fn fetch(&self, number: usize, batch: &Batch, from: Address) -> Said {
        let buffer = &self.buffers[number % 2];
        finish(|| buffer.free.is_done())?;
        let mut at = 0;
        for piece in &batch.pieces {
            // SAFETY: as in `send`.
            unsafe {
                let start = buffer.start.add(at);
                let from = from + piece.from as u64;
                if piece.rows.rows * piece.rows.slices == 1 {
                    copy_to_host(start.as_ptr(), from, piece.bytes(), &self.stream)?;
                } else {
                    let ends = ((Place::Host(start), packed(piece)), (Place::Device(from), piece.from_pitch));
                    copy_rows(ends.0, ends.1, piece.rows, &self.stream)?;
                }
            }
            at += piece.bytes();
        }
        buffer.free.record(&self.stream)
    }

    /// Copies the pieces of a fetched batch from one of the buffers to `bytes`.
    fn take(&self, number: usize, batch: &mut Batch, bytes: &mut [u8]) -> Said {
        let buffer = &self.buffers[number % 2];
        if batch.pieces.is_empty() {
            return Ok(());
        }
        finish(|| buffer.free.is_done())?;
        let mut at = 0;
        for piece in batch.pieces.drain(..) {
            let (into, len) = (&mut bytes[piece.to..piece.to + piece.bytes()], piece.bytes());
            // SAFETY: the buffer has `at + len` bytes, and the copy to it is done.
            unsafe { buffer.start.add(at).copy_to_nonoverlapping(NonNull::from(into).cast(), len) };
            at += len;
        }
        batch.bytes = 0;
        Ok(())
    }
}

/// Pieces that go through a buffer together, and their size in bytes.
#[derive(Default)]
struct Batch {
    pieces: Vec<Part>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, piece: Part) {
        self.bytes += piece.bytes();
        self.pieces.push(piece);
    }
}

/// The layout of a piece in a buffer, where its rows follow each other.
fn packed(piece: &Part) -> Pitch {
    Pitch { row: piece.rows.width, rows_per_slice: piece.rows.rows }
}
