//! The driver's functions: faults, streams, events, modules, limits.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut, without_provenance};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::tools::{Session, kernel, ok};
use soft_cuda::api::launches::{Attribute, LaunchConfig};
use soft_cuda::api::{self, contexts, copies, devices, events, launches, memory, modules, streams};
use soft_cuda::status::Status;

fn fault(body: &str) -> Status {
    Session::new().run(body, 1, 1, &[0; 4]).expect_err(body)
}

#[test]
fn wrong_accesses_end_the_context() {
    assert_eq!(fault("ld.global.u32 %w0, [%io+32];"), Status::ERROR_ILLEGAL_ADDRESS);
    assert_eq!(fault("st.global.u64 [%io+-8], 1;"), Status::ERROR_ILLEGAL_ADDRESS);
    assert_eq!(fault("ld.global.u32 %w0, [0];"), Status::ERROR_ILLEGAL_ADDRESS);
    assert_eq!(fault("ld.global.u32 %w0, [%io+2];"), Status::ERROR_MISALIGNED_ADDRESS);
    assert_eq!(fault("ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%io+8];"), Status::ERROR_MISALIGNED_ADDRESS);
    assert_eq!(fault(".shared .b8 s[4];---mov.u32 %w0, s; st.shared.u32 [%w0+4], 1;"), Status::ERROR_ILLEGAL_ADDRESS);
    assert_eq!(fault("trap;"), Status::ERROR_LAUNCH_FAILED);
}

#[test]
fn registers_that_were_never_written_are_not_read() {
    assert_eq!(fault("add.u32 %w0, %w1, 1;"), Status::ERROR_LAUNCH_FAILED);
    // The register is written on one path only, and the other path is taken.
    let body = "ld.global.u32 %w0, [%io]; setp.eq.u32 %p0, %w0, WANT; @%p0 mov.b32 %w1, 5; st.global.u32 [%io], %w1;";
    assert_eq!(fault(&body.replace("WANT", "9")), Status::ERROR_LAUNCH_FAILED);
    assert_eq!(Session::new().run(&body.replace("WANT", "0"), 1, 1, &[0]), Ok(vec![5]));
}

#[test]
fn a_fault_stays_with_its_context_and_leaves_others_alone() {
    let broken = Session::new();
    let function = broken.function(&kernel("trap;"), "k");
    let at = broken.device(&[0]);
    ok(broken.launch(function, 1, 1, 0, &[at]));
    assert_eq!(broken.wait(), Status::ERROR_LAUNCH_FAILED);
    let mut other = 0;
    let mut word = 0u64;
    // SAFETY: the pointers are to local variables.
    unsafe {
        assert_eq!(memory::cuMemAlloc_v2(&mut other, 8), Status::ERROR_LAUNCH_FAILED);
        let to = std::ptr::from_mut(&mut word).cast();
        assert_eq!(copies::cuMemcpyDtoH_v2(to, at, 8), Status::ERROR_LAUNCH_FAILED);
    }
    assert_eq!(broken.launch(function, 1, 1, 0, &[at]), Status::ERROR_LAUNCH_FAILED);
    assert_eq!(Session::new().run("st.global.u64 [%io], 4;", 1, 1, &[0]), Ok(vec![4]));
}

#[test]
fn a_barrier_that_nobody_completes_is_a_fault() {
    let body = "mov.u32 %w0, %tid.x; setp.eq.u32 %p0, %w0, 0; @%p0 bar.sync 1; @!%p0 bar.sync 2;";
    assert_eq!(Session::new().run(body, 1, 2, &[0]), Err(Status::ERROR_LAUNCH_FAILED));
}

/// A kernel that adds 1 to `[io]`, and waits until `[io+8]` is not 0.
const WAITER: &str = "red.relaxed.sys.global.add.u32 [%io], 1; $wait: ld.relaxed.sys.global.u32 %w0, [%io+8];
                      setp.eq.u32 %p0, %w0, 0; @%p0 bra $wait; st.relaxed.sys.global.u32 [%io+16], %w0;";

#[test]
fn copies_and_kernels_of_other_streams_go_on_while_a_kernel_spins() {
    let session = Session::new();
    let function = session.function(&kernel(WAITER), "k");
    let at = session.device(&[0, 0, 0]);
    let (spins, helps) = (session.stream(), session.stream());
    ok(session.launch(function, 1, 1, spins, &[at]));
    // SAFETY: the pointers are to live memory; pageable memory is read and written before the calls return.
    unsafe {
        let mut started = 0u32;
        while started == 0 {
            ok(copies::cuMemcpyDtoHAsync_v2((&raw mut started).cast(), at, 4, helps));
            ok(streams::cuStreamSynchronize(helps));
        }
        assert_eq!(streams::cuStreamQuery(spins), Status::ERROR_NOT_READY);
        let answer = 7u32;
        ok(copies::cuMemcpyHtoDAsync_v2(at + 8, (&raw const answer).cast(), 4, helps));
        ok(streams::cuStreamSynchronize(spins));
        ok(streams::cuStreamQuery(spins));
    }
    assert_eq!(session.host(at, 3), [1, 7, 7]);
}

#[test]
fn host_memory_is_shared_with_running_kernels() {
    let session = Session::new();
    let function = session.function(&kernel(WAITER), "k");
    let mut host = 0;
    let mut device = 0;
    // SAFETY: the pointers are to local variables; the allocation has 24 bytes.
    unsafe {
        ok(memory::cuMemHostAlloc(&mut host, 24, 2));
        ok(memory::cuMemHostGetDevicePointer_v2(&mut device, host as usize, 0));
        (host as *mut [u64; 3]).write([0; 3]);
        ok(session.launch(function, 1, 1, 0, &[device]));
        let started = AtomicU32::from_ptr(host as *mut u32);
        while started.load(Ordering::Acquire) == 0 {
            std::thread::sleep(Duration::from_micros(50));
        }
        AtomicU32::from_ptr((host + 8) as *mut u32).store(9, Ordering::Release);
        ok(session.wait());
        assert_eq!(AtomicU32::from_ptr((host + 16) as *mut u32).load(Ordering::Acquire), 9);
        ok(memory::cuMemFreeHost(host as usize));
        assert_eq!(memory::cuMemFreeHost(host as usize), Status::ERROR_INVALID_VALUE);
    }
}

#[test]
fn resident_blocks_wait_for_each_other() {
    // There are 32 places: each block counts itself, and waits until all blocks have.
    let body = "red.relaxed.gpu.global.add.u32 [%io], 1; $wait: ld.acquire.gpu.global.u32 %w0, [%io];
                setp.lt.u32 %p0, %w0, 32; @%p0 bra $wait; red.relaxed.gpu.global.add.u32 [%io+8], 1;";
    assert_eq!(Session::new().run(body, 32, 1, &[0, 0]), Ok(vec![32, 32]));
    // Blocks start in the order of their indices: each waits for the one before it.
    let body = "mov.u32 %w0, %ctaid.x; $wait: ld.acquire.gpu.global.u32 %w1, [%io]; setp.ne.u32 %p0, %w0, %w1;
                @%p0 bra $wait; add.u32 %w1, %w1, 1; st.release.gpu.global.u32 [%io], %w1;";
    assert_eq!(Session::new().run(body, 300, 1, &[0]), Ok(vec![300]));
}

#[test]
fn pageable_memory_is_read_before_an_asynchronous_copy_returns() {
    let session = Session::new();
    let function = session.function(&kernel(WAITER), "k");
    let flags = session.device(&[0, 0, 0]);
    let at = session.device(&[0]);
    let (spins, helps) = (session.stream(), session.stream());
    ok(session.launch(function, 1, 1, spins, &[flags]));
    let mut word = 5u64;
    // SAFETY: the pointers are to live memory.
    unsafe {
        ok(copies::cuMemcpyHtoDAsync_v2(at, (&raw const word).cast(), 8, spins));
        word = 6;
        ok(copies::cuMemsetD32Async(flags + 8, word as u32, 1, helps));
        ok(streams::cuStreamSynchronize(spins));
    }
    assert_eq!(session.host(at, 1), [5]);
}

#[test]
fn the_default_stream_waits_for_streams_that_are_not_independent() {
    let session = Session::new();
    let function = session.function(&kernel(WAITER), "k");
    let at = session.device(&[0, 0, 0]);
    let other = session.device(&[0]);
    let helps = session.stream();
    let mut blocking = 0;
    // SAFETY: the pointers are to live memory.
    unsafe {
        ok(streams::cuStreamCreate(&mut blocking, 0));
        ok(session.launch(function, 1, 1, blocking, &[at]));
        ok(copies::cuMemsetD32Async(other, 3, 1, 0));
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(streams::cuStreamQuery(0), Status::ERROR_NOT_READY);
        ok(copies::cuMemsetD32Async(at + 8, 1, 1, helps));
        ok(streams::cuStreamSynchronize(0));
        ok(streams::cuStreamQuery(blocking));
        ok(streams::cuStreamDestroy_v2(blocking));
        assert_eq!(streams::cuStreamSynchronize(blocking), Status::ERROR_INVALID_HANDLE);
    }
}

#[test]
fn events_order_streams_and_tell_times() {
    let session = Session::new();
    let function = session.function(&kernel(WAITER), "k");
    let at = session.device(&[0, 0, 0]);
    let other = session.device(&[0]);
    let (spins, waits, helps) = (session.stream(), session.stream(), session.stream());
    let (mut before, mut after, mut untimed) = (0, 0, 0);
    let mut time = -1.0;
    // SAFETY: the pointers are to live memory.
    unsafe {
        ok(events::cuEventCreate(&mut before, 0));
        ok(events::cuEventCreate(&mut after, 0));
        ok(events::cuEventCreate(&mut untimed, 2));
        ok(events::cuEventQuery(after));
        ok(events::cuEventRecord(before, spins));
        ok(session.launch(function, 1, 1, spins, &[at]));
        ok(events::cuEventRecord(after, spins));
        ok(streams::cuStreamWaitEvent(waits, after, 0));
        ok(copies::cuMemsetD32Async(other, 3, 1, waits));
        assert_eq!(events::cuEventQuery(after), Status::ERROR_NOT_READY);
        assert_eq!(events::cuEventElapsedTime(&mut time, before, after), Status::ERROR_NOT_READY);
        assert_eq!(streams::cuStreamQuery(waits), Status::ERROR_NOT_READY);
        ok(copies::cuMemsetD32Async(at + 8, 1, 1, helps));
        ok(streams::cuStreamSynchronize(waits));
        ok(events::cuEventQuery(after));
        ok(events::cuEventSynchronize(after));
        ok(events::cuEventElapsedTime_v2(&mut time, before, after));
        assert!(time >= 0.0);
        ok(events::cuEventRecord(untimed, spins));
        ok(events::cuEventSynchronize(untimed));
        assert_eq!(events::cuEventElapsedTime(&mut time, untimed, after), Status::ERROR_INVALID_HANDLE);
        ok(events::cuEventDestroy_v2(after));
        assert_eq!(events::cuEventQuery(after), Status::ERROR_INVALID_HANDLE);
    }
    assert_eq!(session.host(other, 1), [3]);
}

unsafe extern "C" fn count(data: *mut c_void) {
    // SAFETY: the tests pass a counter that outlives the stream's work.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

unsafe extern "C" fn count_status(_stream: usize, status: Status, data: *mut c_void) {
    // SAFETY: as above.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(status.0, Ordering::SeqCst);
}

#[test]
fn the_host_is_called_in_order() {
    let session = Session::new();
    let function = session.function(&kernel("trap;"), "k");
    let at = session.device(&[0]);
    let stream = session.stream();
    let counter = AtomicU32::new(0);
    let data = (&raw const counter).cast_mut().cast();
    // SAFETY: the counter lives until the stream is done.
    unsafe {
        ok(streams::cuLaunchHostFunc(stream, Some(count), data));
        ok(streams::cuStreamAddCallback(stream, Some(count_status), data, 0));
        ok(streams::cuStreamSynchronize(stream));
        assert_eq!(counter.load(Ordering::SeqCst), 1);
        ok(session.launch(function, 1, 1, stream, &[at]));
        // The callback gets the fault, unless the context has failed already.
        let _ = streams::cuStreamAddCallback(stream, Some(count_status), data, 0);
        assert_eq!(session.wait(), Status::ERROR_LAUNCH_FAILED);
    }
    let counted = counter.load(Ordering::SeqCst);
    assert!(counted == 1 || counted == 1 + Status::ERROR_LAUNCH_FAILED.0, "{counted}");
}

#[test]
fn launches_are_held_to_the_limits() {
    let session = Session::new();
    let at = session.device(&[0]);
    let text = kernel("ret;").replace("(.param .u64 buffer)\n", "(.param .u64 buffer)\n.maxntid 64, 2, 1\n");
    let limited = session.function(&text, "k");
    assert_eq!(session.launch(limited, 1, 129, 0, &[at]), Status::ERROR_INVALID_VALUE);
    ok(session.launch(limited, 1, 128, 0, &[at]));
    let function = session.function(&kernel("ret;"), "k");
    for (grid, block) in [(0, 1), (1, 0), (1, 1025), (1 << 31, 1)] {
        assert_eq!(session.launch(function, grid, block, 0, &[at]), Status::ERROR_INVALID_VALUE, "{grid} {block}");
    }
    let params = [(&raw const at).cast()];
    let launch = |dynamic, cooperative: bool, grid| {
        // SAFETY: there is a pointer for the one parameter.
        unsafe {
            if cooperative {
                launches::cuLaunchCooperativeKernel(function, grid, 1, 1, 32, 1, 1, dynamic, 0, params.as_ptr())
            } else {
                launches::cuLaunchKernel(function, grid, 1, 1, 32, 1, 1, dynamic, 0, params.as_ptr(), null())
            }
        }
    };
    ok(launch(48 << 10, false, 1));
    assert_eq!(launch((48 << 10) + 1, false, 1), Status::ERROR_INVALID_VALUE);
    // SAFETY: the function is there.
    unsafe {
        ok(modules::cuFuncSetAttribute(function, 8, 227 << 10));
        assert_eq!(modules::cuFuncSetAttribute(function, 8, (227 << 10) + 1), Status::ERROR_INVALID_VALUE);
    }
    ok(launch(227 << 10, false, 100));
    ok(launch(0, true, 32));
    assert_eq!(launch(0, true, 33), Status::ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_eq!(launch(227 << 10, true, 9), Status::ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    ok(session.wait());
}

#[test]
fn attributes_of_launches_are_checked_and_parameters_may_be_packed() {
    let session = Session::new();
    let at = session.device(&[0]);
    let function = session.function(&kernel("st.global.u32 [%io], 8;"), "k");
    let attribute = |id, value: u64| Attribute { id, pad: [0; 4], value: [value, 0, 0, 0, 0, 0, 0, 0] };
    let launch = |attributes: &[Attribute]| {
        let config = LaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            dynamic: 0,
            stream: 0,
            attributes: attributes.as_ptr(),
            count: attributes.len() as u32,
        };
        let size = 8usize;
        let extra: [*const c_void; 5] =
            [without_provenance(1), (&raw const at).cast(), without_provenance(2), (&raw const size).cast(), null()];
        // SAFETY: all pointers are to live memory.
        unsafe { launches::cuLaunchKernelEx(&config, function, null(), extra.as_ptr()) }
    };
    // SAFETY: the name ends with a zero.
    let calls = || unsafe { api::soft_cuda_calls(c"cuLaunchKernelEx".as_ptr()) };
    let before = calls();
    ok(launch(&[attribute(10, 1), attribute(9, 0x0100), attribute(2, 1), attribute(8, 0)]));
    ok(session.wait());
    assert_eq!(calls() - before, 1);
    assert_eq!(session.host(at, 1), [8]);
    for wrong in [attribute(10, 2), attribute(9, 0x0400), attribute(99, 0), attribute(8, 3)] {
        assert_eq!(launch(&[wrong]), Status::ERROR_INVALID_VALUE, "{}", wrong.id);
    }
}

#[test]
fn linked_images_load_and_others_do_not() {
    let _session = Session::new();
    let text = CString::new(kernel("st.global.u32 [%io], 8;")).expect("no zeros");
    let (mut link, mut image, mut bytes, mut module, mut function) = (0, null_mut(), 0, 0, 0);
    // SAFETY: the pointers are to live memory.
    unsafe {
        ok(modules::cuLinkCreate_v2(0, null(), null_mut(), &mut link));
        let length = text.as_bytes_with_nul().len();
        let add =
            |link| modules::cuLinkAddData_v2(link, 1, text.as_ptr().cast(), length, null(), 0, null(), null_mut());
        ok(add(link));
        ok(modules::cuLinkComplete(link, &mut image, &mut bytes));
        let image = std::slice::from_raw_parts(image.cast::<u8>(), bytes).to_vec();
        ok(modules::cuLinkDestroy(link));
        ok(modules::cuModuleLoadData(&mut module, image.as_ptr().cast()));
        ok(modules::cuModuleGetFunction(&mut function, module, c"k".as_ptr()));
        let none = modules::cuModuleGetFunction(&mut function, module, c"none".as_ptr());
        assert_eq!(none, Status::ERROR_NOT_FOUND);
        ok(modules::cuModuleUnload(module));
        assert_eq!(modules::cuModuleGetFunction(&mut function, module, c"k".as_ptr()), Status::ERROR_INVALID_HANDLE);
        let mut broken = image.clone();
        broken[5] ^= 1;
        let status = modules::cuModuleLoadData(&mut module, broken.as_ptr().cast());
        assert_eq!(status, Status::ERROR_INVALID_IMAGE);
        // The module is linked for sm_100, which this device is not.
        let (names, mut values) = ([9], [100usize]);
        ok(modules::cuLinkCreate_v2(1, names.as_ptr(), values.as_mut_ptr(), &mut link));
        ok(add(link));
        let mut other = null_mut();
        ok(modules::cuLinkComplete(link, &mut other, &mut bytes));
        assert_eq!(modules::cuModuleLoadData(&mut module, other), Status::ERROR_NO_BINARY_FOR_GPU);
        ok(modules::cuLinkDestroy(link));
    }
}

#[test]
fn variables_of_modules_have_addresses() {
    let session = Session::new();
    let text = kernel(".global .u64 counter = 7;---ret;");
    let module = session.load(&text).expect("it loads");
    let (mut at, mut bytes) = (0, 0);
    // SAFETY: the pointers are to local variables.
    ok(unsafe { modules::cuModuleGetGlobal_v2(&mut at, &mut bytes, module, c"counter".as_ptr()) });
    assert_eq!((session.host(at, 1), bytes), (vec![7], 8));
}

#[test]
fn devices_tell_what_they_are() {
    let _session = Session::new();
    let attribute = |which| {
        let mut value = -1;
        // SAFETY: the pointer is to a local variable.
        ok(unsafe { devices::cuDeviceGetAttribute(&mut value, which, 0) });
        value
    };
    assert_eq!((attribute(75), attribute(76), attribute(126), attribute(95), attribute(18)), (9, 0, 4, 1, 0));
    assert_eq!((attribute(16), attribute(97), attribute(89)), (8, 227 << 10, 1));
    let (mut count, mut device, mut version, mut name) = (0, 0, 0, null());
    // SAFETY: the pointers are to local variables.
    unsafe {
        ok(devices::cuDeviceGetCount(&mut count));
        assert_eq!(count, 1);
        assert_eq!(devices::cuDeviceGet(&mut device, 1), Status::ERROR_INVALID_DEVICE);
        ok(devices::cuDriverGetVersion(&mut version));
        assert_eq!(version, 12090);
        ok(devices::cuGetErrorName(700, &mut name));
        assert_eq!(std::ffi::CStr::from_ptr(name), c"CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(devices::cuGetErrorName(12345, &mut name), Status::ERROR_INVALID_VALUE);
        assert!(name.is_null());
    }
}

#[test]
fn contexts_are_a_stack_of_the_thread() {
    let outer = Session::new();
    let inner = Session::new();
    let (mut now, mut popped) = (0, 0);
    // SAFETY: the pointers are to local variables.
    unsafe {
        ok(contexts::cuCtxGetCurrent(&mut now));
        assert_eq!(now, inner.context);
        ok(contexts::cuCtxPopCurrent_v2(&mut popped));
        assert_eq!(popped, inner.context);
        ok(contexts::cuCtxGetCurrent(&mut now));
        assert_eq!(now, outer.context);
        let elsewhere = std::thread::spawn(|| {
            let mut at = 0;
            memory::cuMemAlloc_v2(&mut at, 8)
        });
        assert_eq!(elsewhere.join().expect("no panic"), Status::ERROR_INVALID_CONTEXT);
        let handle = inner.context;
        drop(inner);
        assert_eq!(contexts::cuCtxSetCurrent(handle), Status::ERROR_INVALID_CONTEXT);
        let mut at = 0;
        ok(memory::cuMemAlloc_v2(&mut at, 8));
    }
}
