//! Copies and fills.

use std::sync::Arc;

use super::allocate::{self, Kind, MEMORY};
use super::context::{self, Context, Work};
use super::status::{Done, Status};
use super::stream::Stream;
use crate::machine::memory::{Region, copy};

/// One side of a copy.
#[derive(Clone)]
pub struct Side {
    /// The address for the host.
    at: usize,
    /// Whether it is host memory that the driver does not know: copies are done with it before they return.
    pageable: bool,
    /// Keeps the allocation while the copy is pending.
    _keep: Option<Region>,
}

/// The memory that one side of a copy may be in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// Memory of the host.
    Host,
    /// Memory that a device reaches.
    Device,
    /// Host or device memory, whichever the address belongs to.
    Either,
}

impl Side {
    /// The side at an address, with `bytes` bytes.
    ///
    /// # Errors
    /// The address is invalid, is of the other kind of memory, or has fewer bytes.
    pub fn new(address: u64, bytes: u64, place: Where) -> Done<Side> {
        if let Some(region) = MEMORY.find(address, bytes) {
            if place == Where::Host && region.device.is_some() {
                return Err(Status::ERROR_INVALID_VALUE);
            }
            let at = region.host + (address - region.address) as usize;
            return Ok(Side { at, pageable: false, _keep: Some(region) });
        }
        // Addresses above the host's are devices' addresses; and a known allocation that is too short is a mistake.
        if place == Where::Device || address >> 48 != 0 || address == 0 || allocate::find(address).is_some() {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        Ok(Side { at: address as usize, pageable: true, _keep: None })
    }

    /// The address for the host.
    pub fn host(&self) -> usize {
        self.at
    }
}

/// The rows of a copy: sizes in bytes, and distances of rows and of planes on both sides.
#[derive(Clone, Copy)]
pub struct Rows {
    /// The size of a row in bytes.
    pub width: usize,
    /// The number of rows per plane, and of planes.
    pub count: [usize; 2],
    /// The distances of rows and of planes at the destination, in bytes.
    pub to: [usize; 2],
    /// The distances of rows and of planes at the source, in bytes.
    pub from: [usize; 2],
}

impl Rows {
    /// A single row of `width` bytes.
    pub fn one(width: usize) -> Rows {
        Rows { width, count: [1, 1], to: [0; 2], from: [0; 2] }
    }

    /// The length in bytes from the first byte to the last one, at these distances; `None` if it overflows.
    pub fn extent(&self, distances: [usize; 2]) -> Option<u64> {
        let rows = distances[0].checked_mul(self.count[0].checked_sub(1)?)?;
        let planes = distances[1].checked_mul(self.count[1].checked_sub(1)?)?;
        u64::try_from(rows.checked_add(planes)?.checked_add(self.width)?).ok()
    }
}

fn copy_rows(to: &Side, from: &Side, rows: Rows) {
    for plane in 0..rows.count[1] {
        for row in 0..rows.count[0] {
            let to = to.at + plane * rows.to[1] + row * rows.to[0];
            let from = from.at + plane * rows.from[1] + row * rows.from[0];
            // SAFETY: both sides were found to have all rows, and are kept; or they are memory that the caller of the
            // driver vouches for.
            unsafe { copy(to, from, rows.width) };
        }
    }
}

/// Copies rows on a stream. As in the driver's documentation, pageable host memory that is read is read before this
/// returns, and pageable host memory that is written is written when this returns.
///
/// # Errors
/// The context fails while this waits.
pub fn rows(stream: &Arc<Stream>, context: &Arc<Context>, to: Side, mut from: Side, rows: Rows, wait: bool) -> Done {
    if rows.width == 0 || rows.count.contains(&0) {
        return Ok(());
    }
    let mut rows = rows;
    let mut staged: Option<Box<[u64]>> = None;
    if from.pageable && !wait {
        let bytes = rows.width * rows.count[0] * rows.count[1];
        let mut stage = vec![0u64; bytes.div_ceil(8)].into_boxed_slice();
        let distances = [rows.width, rows.width * rows.count[0]];
        let at = stage.as_mut_ptr().expose_provenance();
        let side = Side { at, pageable: false, _keep: None };
        copy_rows(&side, &from, Rows { to: distances, ..rows });
        rows.from = distances;
        from = side;
        staged = Some(stage);
    }
    let wait = wait || to.pageable;
    let work: Work = Box::new(move |_| {
        copy_rows(&to, &from, rows);
        drop(staged);
        Ok(())
    });
    let done = context.enqueue(stream, work);
    if wait {
        done.wait();
        context.healthy()?;
    }
    Ok(())
}

/// Copies bytes between two addresses: on a stream, or on the default stream, where the call waits.
///
/// # Errors
/// It fails where [`Side::new`] or [`rows`] does.
pub fn bytes(to: (u64, Where), from: (u64, Where), width: usize, on: Option<usize>) -> Done {
    let (stream, context) = context::resolve(on.unwrap_or(0))?;
    if width == 0 {
        return Ok(());
    }
    let to = Side::new(to.0, width as u64, to.1)?;
    let from = Side::new(from.0, width as u64, from.1)?;
    rows(&stream, &context, to, from, Rows::one(width), on.is_none())
}

/// Fills `count` items of `size` bytes in each of `height` rows.
///
/// # Errors
/// The memory is not a device's, is not aligned to the items, or the stream does not exist.
pub fn fill(at: u64, value: u32, size: usize, count: usize, lines: (usize, usize), on: Option<usize>) -> Done {
    let (stream, context) = context::resolve(on.unwrap_or(0))?;
    let (height, pitch) = lines;
    if count == 0 || height == 0 {
        return Ok(());
    }
    if !at.is_multiple_of(size as u64) || height > 1 && (pitch % size != 0 || pitch < count * size) {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let shape = Rows { width: count * size, count: [height, 1], to: [pitch, 0], from: [0; 2] };
    let extent = shape.extent(shape.to).ok_or(Status::ERROR_INVALID_VALUE)?;
    let to = Side::new(at, extent, Where::Device)?;
    let item = value.to_le_bytes();
    let row: Vec<u8> = item[..size].iter().copied().cycle().take(shape.width).collect();
    let work: Work = Box::new(move |_| {
        let from = Side { at: row.as_ptr().expose_provenance(), pageable: false, _keep: None };
        copy_rows(&to, &from, shape);
        drop(row);
        Ok(())
    });
    let done = context.enqueue(&stream, work);
    if on.is_none() {
        done.wait();
        context.healthy()?;
    }
    Ok(())
}

/// Frees memory when a stream has done the work before that.
///
/// # Errors
/// No device memory begins at the address, or the stream does not exist.
pub fn free_in_order(address: u64, on: usize) -> Done {
    let (stream, context) = context::resolve(on)?;
    match allocate::find(address) {
        Some(found) if found.address == address && found.kind == Kind::Device => {}
        _ => return Err(Status::ERROR_INVALID_VALUE),
    }
    let free: Work = Box::new(move |_| {
        allocate::release(address);
        Ok(())
    });
    context.enqueue_after(&stream, Vec::new(), true, free);
    Ok(())
}
