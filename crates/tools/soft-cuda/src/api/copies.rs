//! The exported functions for copies and fills.

use std::ffi::c_void;

use super::must;
use crate::driver::context;
use crate::driver::status::{Done, Status};
use crate::driver::transfer::{self, Rows, Side, Where, bytes as copy_bytes, fill};

use Where::{Device, Either, Host};

/// The layout of `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the driver API's names")]
pub struct Copy2D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_type: u32,
    pub src_host: u64,
    pub src_device: u64,
    pub src_array: usize,
    pub src_pitch: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_type: u32,
    pub dst_host: u64,
    pub dst_device: u64,
    pub dst_array: usize,
    pub dst_pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// The layout of `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the driver API's names")]
pub struct Copy3D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: u32,
    pub src_host: u64,
    pub src_device: u64,
    pub src_array: usize,
    pub reserved0: usize,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_type: u32,
    pub dst_host: u64,
    pub dst_device: u64,
    pub dst_array: usize,
    pub reserved1: usize,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// One side of a 2D or 3D copy: memory type, addresses, offset of the first byte, pitch, and height of a plane.
struct Half {
    kind: u32,
    host: u64,
    device: u64,
    first: [usize; 3],
    pitch: usize,
    plane: usize,
}

impl Half {
    fn of(kind: u32, host: u64, device: u64, first: [usize; 3], [pitch, plane]: [usize; 2]) -> Half {
        Half { kind, host, device, first, pitch, plane }
    }

    /// The address of the first byte, the memory it is in, and the distances of rows and planes.
    fn place(&self, width: usize) -> Done<(u64, Where, [usize; 2])> {
        let (base, place) = match self.kind {
            1 => (self.host, Host),
            2 => (self.device, Device),
            4 => (self.device, Either),
            _ => return Err(Status::ERROR_INVALID_VALUE),
        };
        let [x, y, z] = self.first;
        // A pitch of 0 means that rows follow each other.
        let pitch = if self.pitch == 0 { x + width } else { self.pitch };
        if x + width > pitch {
            return Err(Status::ERROR_INVALID_VALUE);
        }
        let plane = pitch.checked_mul(self.plane).ok_or(Status::ERROR_INVALID_VALUE)?;
        Ok((base + (z * plane + y * pitch + x) as u64, place, [pitch, plane]))
    }
}

fn copy(to: &Half, from: &Half, extent: [usize; 3], on: Option<usize>) -> Done {
    let (stream, context) = context::resolve(on.unwrap_or(0))?;
    let [width, height, depth] = extent;
    if extent.contains(&0) {
        return Ok(());
    }
    let (to, to_where, to_distances) = to.place(width)?;
    let (from, from_where, from_distances) = from.place(width)?;
    let rows = Rows { width, count: [height, depth], to: to_distances, from: from_distances };
    let bytes = |distances| rows.extent(distances).ok_or(Status::ERROR_INVALID_VALUE);
    let to = Side::new(to, bytes(to_distances)?, to_where)?;
    let from = Side::new(from, bytes(from_distances)?, from_where)?;
    transfer::rows(&stream, &context, to, from, rows, on.is_none())
}

fn copy2(of: *const Copy2D, on: Option<usize>) -> Done {
    must(!of.is_null())?;
    // SAFETY: the caller of the exported function vouches for it.
    let c = unsafe { *of };
    let from = Half::of(c.src_type, c.src_host, c.src_device, [c.src_x, c.src_y, 0], [c.src_pitch, 0]);
    let to = Half::of(c.dst_type, c.dst_host, c.dst_device, [c.dst_x, c.dst_y, 0], [c.dst_pitch, 0]);
    copy(&to, &from, [c.width, c.height, 1], on)
}

fn copy3(of: *const Copy3D, on: Option<usize>) -> Done {
    must(!of.is_null())?;
    // SAFETY: the caller of the exported function vouches for it.
    let c = unsafe { *of };
    let plane = |height: usize| if height == 0 { c.height } else { height };
    let from =
        Half::of(c.src_type, c.src_host, c.src_device, [c.src_x, c.src_y, c.src_z], [c.src_pitch, plane(c.src_height)]);
    let to =
        Half::of(c.dst_type, c.dst_host, c.dst_device, [c.dst_x, c.dst_y, c.dst_z], [c.dst_pitch, plane(c.dst_height)]);
    copy(&to, &from, [c.width, c.height, c.depth], on)
}

exports! {
    cuMemcpy(to: u64, from: u64, bytes: usize) => copy_bytes((to, Either), (from, Either), bytes, None);
    cuMemcpyAsync(to: u64, from: u64, bytes: usize, on: usize) =>
        copy_bytes((to, Either), (from, Either), bytes, Some(on));
    cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) =>
        copy_bytes((to, Device), (from as u64, Host), bytes, None);
    cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, on: usize) =>
        copy_bytes((to, Device), (from as u64, Host), bytes, Some(on));
    cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) =>
        copy_bytes((to as u64, Host), (from, Device), bytes, None);
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, on: usize) =>
        copy_bytes((to as u64, Host), (from, Device), bytes, Some(on));
    cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) => copy_bytes((to, Device), (from, Device), bytes, None);
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, on: usize) =>
        copy_bytes((to, Device), (from, Device), bytes, Some(on));
    cuMemcpyPeer(to: u64, _to_context: usize, from: u64, _from_context: usize, bytes: usize) =>
        copy_bytes((to, Device), (from, Device), bytes, None);
    cuMemcpyPeerAsync(to: u64, _to_context: usize, from: u64, _from_context: usize, bytes: usize, on: usize) =>
        copy_bytes((to, Device), (from, Device), bytes, Some(on));
    cuMemcpy2D_v2(of: *const Copy2D) => copy2(of, None);
    cuMemcpy2DUnaligned_v2(of: *const Copy2D) => copy2(of, None);
    cuMemcpy2DAsync_v2(of: *const Copy2D, on: usize) => copy2(of, Some(on));
    cuMemcpy3D_v2(of: *const Copy3D) => copy3(of, None);
    cuMemcpy3DAsync_v2(of: *const Copy3D, on: usize) => copy3(of, Some(on));
    cuMemsetD8_v2(at: u64, value: u8, count: usize) => fill(at, value.into(), 1, count, (1, 0), None);
    cuMemsetD8Async(at: u64, value: u8, count: usize, on: usize) => fill(at, value.into(), 1, count, (1, 0), Some(on));
    cuMemsetD16_v2(at: u64, value: u16, count: usize) => fill(at, value.into(), 2, count, (1, 0), None);
    cuMemsetD16Async(at: u64, value: u16, count: usize, on: usize) =>
        fill(at, value.into(), 2, count, (1, 0), Some(on));
    cuMemsetD32_v2(at: u64, value: u32, count: usize) => fill(at, value, 4, count, (1, 0), None);
    cuMemsetD32Async(at: u64, value: u32, count: usize, on: usize) => fill(at, value, 4, count, (1, 0), Some(on));
    cuMemsetD2D8_v2(at: u64, pitch: usize, value: u8, width: usize, height: usize) =>
        fill(at, value.into(), 1, width, (height, pitch), None);
    cuMemsetD2D8Async(at: u64, pitch: usize, value: u8, width: usize, height: usize, on: usize) =>
        fill(at, value.into(), 1, width, (height, pitch), Some(on));
    cuMemsetD2D16_v2(at: u64, pitch: usize, value: u16, width: usize, height: usize) =>
        fill(at, value.into(), 2, width, (height, pitch), None);
    cuMemsetD2D16Async(at: u64, pitch: usize, value: u16, width: usize, height: usize, on: usize) =>
        fill(at, value.into(), 2, width, (height, pitch), Some(on));
    cuMemsetD2D32_v2(at: u64, pitch: usize, value: u32, width: usize, height: usize) =>
        fill(at, value, 4, width, (height, pitch), None);
    cuMemsetD2D32Async(at: u64, pitch: usize, value: u32, width: usize, height: usize, on: usize) =>
        fill(at, value, 4, width, (height, pitch), Some(on));
}
