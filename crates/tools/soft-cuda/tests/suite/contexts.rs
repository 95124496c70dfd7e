//! Primary contexts, memory of other kinds, occupancy, and queries that programs make.

use std::ptr::null;

use crate::tools::{Session, kernel, ok};
use soft_cuda::api::{contexts, copies, devices, memory, modules, streams};
use soft_cuda::status::Status;

/// Primary contexts belong to the process: this is the one test of this binary that uses them.
#[test]
fn a_primary_context_lives_while_it_is_used() {
    let (mut first, mut second, mut flags, mut active, mut at) = (0, 0, 0, 0, 0);
    // SAFETY: the pointers are to local variables.
    unsafe {
        ok(devices::cuInit(0));
        ok(contexts::cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
        assert_eq!(active, 0);
        ok(contexts::cuDevicePrimaryCtxSetFlags_v2(0, 4));
        ok(contexts::cuDevicePrimaryCtxRetain(&mut first, 0));
        ok(contexts::cuDevicePrimaryCtxRetain(&mut second, 0));
        assert_eq!(first, second);
        ok(contexts::cuCtxSetCurrent(first));
        ok(contexts::cuCtxGetFlags(&mut flags));
        assert_eq!(flags, 4);
        ok(contexts::cuDevicePrimaryCtxRelease_v2(0));
        ok(memory::cuMemAlloc_v2(&mut at, 8));
        ok(contexts::cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
        assert_eq!(active, 1);
        ok(contexts::cuDevicePrimaryCtxReset_v2(0));
        ok(contexts::cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
        assert_eq!(active, 0);
        ok(contexts::cuDevicePrimaryCtxRetain(&mut second, 0));
        assert_ne!(first, second);
        ok(contexts::cuDevicePrimaryCtxRelease_v2(0));
        assert_eq!(contexts::cuDevicePrimaryCtxRelease_v2(0), Status::ERROR_INVALID_CONTEXT);
        assert_eq!(contexts::cuCtxSetCurrent(second), Status::ERROR_INVALID_CONTEXT);
        let mut none = 0;
        assert_eq!(contexts::cuDevicePrimaryCtxRetain(&mut none, 1), Status::ERROR_INVALID_DEVICE);
    }
}

#[test]
fn a_destroyed_context_is_told_to_threads_that_had_it() {
    let session = Session::new();
    let handle = session.context;
    let (tell, told) = std::sync::mpsc::channel();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        // SAFETY: the context is still live, and the pointer is to a local variable.
        unsafe {
            ok(contexts::cuCtxSetCurrent(handle));
            ready.send(()).expect("the test waits");
            told.recv().expect("the test tells");
            let mut at = 0;
            memory::cuMemAlloc_v2(&mut at, 8)
        }
    });
    is_ready.recv().expect("the thread is there");
    drop(session);
    tell.send(()).expect("the thread waits");
    assert_eq!(thread.join().expect("no panic"), Status::ERROR_CONTEXT_IS_DESTROYED);
}

#[test]
fn registered_memory_of_the_host_is_mapped_until_it_is_not() {
    let session = Session::new();
    let function = session.function(&kernel("st.global.u64 [%io], 77;"), "k");
    let own = Box::leak(Box::new([0u64; 4]));
    let host = own.as_mut_ptr() as usize;
    // SAFETY: the memory lives on; the host reads it while no kernel runs.
    unsafe {
        ok(memory::cuMemHostRegister_v2(host, 32, 0));
        let again = memory::cuMemHostRegister_v2(host + 8, 8, 0);
        assert_eq!(again, Status::ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        ok(session.launch(function, 1, 1, 0, &[host as u64 + 8]));
        ok(session.wait());
        assert_eq!((host as *const [u64; 4]).read(), [0, 77, 0, 0]);
        ok(memory::cuMemHostUnregister(host));
        assert_eq!(memory::cuMemHostUnregister(host), Status::ERROR_HOST_MEMORY_NOT_REGISTERED);
        ok(session.launch(function, 1, 1, 0, &[host as u64]));
        assert_eq!(session.wait(), Status::ERROR_ILLEGAL_ADDRESS);
    }
}

#[test]
fn memory_is_freed_in_the_order_of_the_stream() {
    let session = Session::new();
    let stream = session.stream();
    let function = session.function(&kernel("red.global.add.u32 [%io], 1;"), "k");
    let mut at = 0;
    // SAFETY: the pointer is to a local variable.
    unsafe {
        ok(memory::cuMemAllocAsync(&mut at, 8, stream));
        ok(session.launch(function, 1, 1, stream, &[at]));
        ok(memory::cuMemFreeAsync(at, stream));
        ok(streams::cuStreamSynchronize(stream));
        assert_eq!(memory::cuMemFree_v2(at), Status::ERROR_INVALID_VALUE);
        ok(session.launch(function, 1, 1, stream, &[at]));
        assert_eq!(session.wait(), Status::ERROR_ILLEGAL_ADDRESS);
    }
}

#[test]
fn streams_write_words_and_fill_rectangles() {
    let session = Session::new();
    let stream = session.stream();
    let (mut at, mut pitch) = (0, 0);
    let words = session.device(&[0; 6]);
    // SAFETY: the pointers are to local variables.
    unsafe {
        ok(streams::cuStreamWriteValue32_v2(stream, words + 4, 9, 0));
        assert_eq!(streams::cuStreamWriteValue32_v2(stream, words + 2, 9, 0), Status::ERROR_INVALID_VALUE);
        ok(copies::cuMemsetD2D32Async(words + 16, 16, 5, 2, 2, stream));
        ok(copies::cuMemsetD2D8_v2(words + 8, 1, 0xFF, 1, 3));
        ok(streams::cuStreamSynchronize(stream));
        assert_eq!(session.host(words, 6), [9 << 32, 0xFF_FFFF, 0x5_0000_0005, 0, 0x5_0000_0005, 0]);
        assert_eq!(copies::cuMemsetD2D32_v2(words, 16, 0, 4, 4), Status::ERROR_INVALID_VALUE, "beyond the buffer");
        ok(memory::cuMemAllocPitch_v2(&mut at, &mut pitch, 100, 3, 4));
        assert_eq!(pitch, 512);
        let (mut base, mut bytes) = (0, 0);
        ok(memory::cuMemGetAddressRange_v2(&mut base, &mut bytes, at + 700));
        assert_eq!((base, bytes), (at, 1536));
    }
}

#[test]
fn occupancy_is_what_is_resident() {
    let session = Session::new();
    let function = session.function(&kernel(".shared .b8 s[1024];---ret;"), "k");
    let blocks = |threads, dynamic| {
        let mut blocks = -1;
        // SAFETY: the pointer is to a local variable.
        ok(unsafe { modules::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, dynamic) });
        blocks
    };
    // The limits are places, threads (2048) and shared memory (228 KiB, of which each block takes 1 KiB more).
    assert_eq!([blocks(32, 0), blocks(1024, 0), blocks(513, 0), blocks(1025, 0)], [4, 2, 3, 0]);
    assert_eq!([blocks(32, 100 << 10), blocks(32, 226 << 10), blocks(32, 227 << 10)], [2, 1, 0]);
    let (mut grid, mut block, mut shared, mut threads) = (0, 0, 0, 0);
    // SAFETY: the pointers are to local variables.
    unsafe {
        ok(modules::cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, 0, 0));
        ok(modules::cuFuncGetAttribute(&mut shared, 1, function));
        ok(modules::cuFuncGetAttribute(&mut threads, 0, function));
        assert_eq!(modules::cuFuncGetAttribute(&mut threads, 77, function), Status::ERROR_INVALID_VALUE);
    }
    assert_eq!((grid * block, shared, threads), (2048 * 8, 1024, 1024));
}

#[test]
fn managed_memory_takes_hints() {
    let _session = Session::new();
    let mut at = 0;
    // SAFETY: the pointer is to a local variable.
    unsafe {
        ok(memory::cuMemAllocManaged(&mut at, 64, 1));
        ok(memory::cuMemPrefetchAsync(at, 64, 0, 0));
        assert_eq!(memory::cuMemPrefetchAsync(at, 65, 0, 0), Status::ERROR_INVALID_VALUE);
        ok(memory::cuMemAdvise(at, 64, 1, 0));
        assert_eq!(memory::cuMemAllocManaged(&mut at, 64, 0), Status::ERROR_INVALID_VALUE);
    }
}

#[test]
fn null_pointers_and_wrong_handles_are_errors() {
    let _session = Session::new();
    // SAFETY: wrong arguments are refused before they are used.
    unsafe {
        assert_eq!(contexts::cuCtxGetDevice(std::ptr::null_mut()), Status::ERROR_INVALID_VALUE);
        assert_eq!(streams::cuStreamSynchronize(12345), Status::ERROR_INVALID_HANDLE);
        assert_eq!(streams::cuStreamDestroy_v2(0), Status::ERROR_INVALID_HANDLE);
        assert_eq!(modules::cuModuleUnload(7), Status::ERROR_INVALID_HANDLE);
        let mut module = 0;
        assert_eq!(modules::cuModuleLoadData(&mut module, null()), Status::ERROR_INVALID_VALUE);
        assert_eq!(contexts::cuCtxDestroy_v2(7), Status::ERROR_INVALID_CONTEXT);
        let mut limit = 0;
        ok(contexts::cuCtxGetLimit(&mut limit, 0));
        assert_eq!(contexts::cuCtxSetLimit(99, 1), Status::ERROR_UNSUPPORTED_LIMIT);
    }
}
