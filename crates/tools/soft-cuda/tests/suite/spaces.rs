//! Memory of the device, of the host and of both: which side reaches it, and how it is copied.

use std::ffi::c_void;

use crate::tools::{Session, kernel, ok};
use soft_cuda::api::{copies, memory};
use soft_cuda::status::Status;

#[test]
fn device_memory_is_out_of_the_host_s_reach_and_host_memory_out_of_the_device_s() {
    let session = Session::new();
    let at = session.device(&[5]);
    assert_ne!(at >> 48, 0, "no address of the host");
    let own = Box::new(3u64);
    let function = session.function(&kernel("ld.global.u64 %i0, [%io];"), "k");
    ok(session.launch(function, 1, 1, 0, &[std::ptr::from_ref(&*own) as u64]));
    assert_eq!(session.wait(), Status::ERROR_ILLEGAL_ADDRESS);
}

#[test]
fn new_memory_holds_a_pattern_and_freed_memory_is_gone() {
    let session = Session::new();
    let mut at = 0;
    // SAFETY: the pointer is to a local variable.
    unsafe {
        ok(memory::cuMemAlloc_v2(&mut at, 64));
        assert_eq!(session.host(at, 1), [0xA5A5_A5A5_A5A5_A5A5]);
        let (mut free, mut total) = (0, 0);
        ok(memory::cuMemGetInfo_v2(&mut free, &mut total));
        assert!(free < total && total == 1 << 30);
        ok(memory::cuMemFree_v2(at));
        assert_eq!(memory::cuMemFree_v2(at), Status::ERROR_INVALID_VALUE);
        assert_eq!(memory::cuMemAlloc_v2(&mut at, (1 << 30) + 1), Status::ERROR_OUT_OF_MEMORY);
        assert_eq!(memory::cuMemAlloc_v2(&mut at, 0), Status::ERROR_INVALID_VALUE);
    }
}

#[test]
fn managed_memory_is_both_sides_at_one_address() {
    let session = Session::new();
    let function =
        session.function(&kernel("ld.global.u64 %i0, [%io]; add.u64 %i0, %i0, 1; st.global.u64 [%io], %i0;"), "k");
    let mut at = 0;
    let (mut kind, mut managed) = (0u32, 0u32);
    // SAFETY: the pointers are to live memory; the host touches the memory while no kernel runs.
    unsafe {
        ok(memory::cuMemAllocManaged(&mut at, 8, 1));
        (at as *mut u64).write(41);
        ok(session.launch(function, 1, 1, 0, &[at]));
        ok(session.wait());
        assert_eq!((at as *const u64).read(), 42);
        ok(memory::cuPointerGetAttribute((&raw mut kind).cast(), 2, at));
        ok(memory::cuPointerGetAttribute((&raw mut managed).cast(), 8, at));
        ok(memory::cuMemFree_v2(at));
    }
    assert_eq!((kind, managed), (2, 1));
}

#[test]
fn copies_check_their_extents() {
    let session = Session::new();
    let at = session.device(&[1, 2, 3, 4]);
    let mut out = [0u64; 5];
    // SAFETY: the pointers are to memory of that size.
    unsafe {
        let to: *mut c_void = out.as_mut_ptr().cast();
        assert_eq!(copies::cuMemcpyDtoH_v2(to, at, 40), Status::ERROR_INVALID_VALUE);
        assert_eq!(copies::cuMemcpyDtoH_v2(to, at + 24, 16), Status::ERROR_INVALID_VALUE);
        assert_eq!(copies::cuMemcpyDtoH_v2(at as *mut c_void, at, 8), Status::ERROR_INVALID_VALUE);
        ok(copies::cuMemcpy(to as u64, at + 8, 16));
        assert_eq!(out, [2, 3, 0, 0, 0]);
        ok(copies::cuMemcpyDtoD_v2(at, at + 16, 16));
        assert_eq!(session.host(at, 4), [3, 4, 3, 4]);
        ok(copies::cuMemsetD8_v2(at, 0xFF, 3));
        ok(copies::cuMemsetD32_v2(at + 8, 0x1234_5678, 2));
        ok(copies::cuMemsetD16_v2(at + 24, 0xBEEF, 1));
        assert_eq!(session.host(at, 4), [0xFF_FFFF, 0x1234_5678_1234_5678, 3, 0xBEEF]);
        assert_eq!(copies::cuMemsetD32_v2(at + 2, 0, 1), Status::ERROR_INVALID_VALUE);
    }
}

#[test]
fn rectangles_and_boxes_are_copied_by_their_pitches() {
    let session = Session::new();
    let at = session.device(&(0..16).collect::<Vec<u64>>());
    let mut out = [99u64; 6];
    let mut rectangle = copies::Copy2D {
        src_x: 8,
        src_y: 1,
        src_type: 2,
        src_host: 0,
        src_device: at,
        src_array: 0,
        src_pitch: 32,
        dst_x: 0,
        dst_y: 0,
        dst_type: 1,
        dst_host: out.as_mut_ptr() as u64,
        dst_device: 0,
        dst_array: 0,
        dst_pitch: 24,
        width: 16,
        height: 2,
    };
    // Planes of 4 rows of 2 words: column 1 of the first 2 rows of both planes is copied.
    let mut cells = [0u64; 4];
    let cuboid = copies::Copy3D {
        src_x: 8,
        src_y: 0,
        src_z: 0,
        src_lod: 0,
        src_type: 2,
        src_host: 0,
        src_device: at,
        src_array: 0,
        reserved0: 0,
        src_pitch: 16,
        src_height: 4,
        dst_x: 0,
        dst_y: 0,
        dst_z: 0,
        dst_lod: 0,
        dst_type: 1,
        dst_host: cells.as_mut_ptr() as u64,
        dst_device: 0,
        dst_array: 0,
        reserved1: 0,
        dst_pitch: 8,
        dst_height: 2,
        width: 8,
        height: 2,
        depth: 2,
    };
    // SAFETY: the descriptions are of live memory.
    unsafe {
        ok(copies::cuMemcpy2D_v2(&rectangle));
        ok(copies::cuMemcpy3D_v2(&cuboid));
        rectangle.height = 4;
        assert_eq!(copies::cuMemcpy2D_v2(&rectangle), Status::ERROR_INVALID_VALUE, "beyond the buffer");
    }
    assert_eq!(out, [5, 6, 99, 9, 10, 99]);
    assert_eq!(cells, [1, 3, 9, 11]);
}
