//! The effects of environment variables. Each test runs itself in a process with other ones, since they are read once.

use std::process::Command;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::tools::{Session, kernel, module, ok};
use soft_cuda::api::{self, contexts, devices, events, memory};
use soft_cuda::status::Status;

const CHILD: &str = "SOFT_CUDA_TEST_CHILD";

/// Runs a test in a process with these variables and returns its stderr; `None` if this is that process.
fn with(test: &str, variables: &[(&str, &str)]) -> Option<String> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let program = std::env::current_exe().expect("the test's own program");
    let output = Command::new(program)
        .args(["--exact", &format!("environment::{test}"), "--nocapture"])
        .env(CHILD, "1")
        .envs(variables.iter().copied())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    Some(said)
}

#[test]
fn devices_are_as_many_and_as_old_as_told() {
    let variables = [("SOFT_CUDA_DEVICES", "3"), ("SOFT_CUDA_SM", "80"), ("SOFT_CUDA_DRIVER", "11040")];
    if with("devices_are_as_many_and_as_old_as_told", &variables).is_some() {
        return;
    }
    let session = Session::new();
    let (mut count, mut major, mut minor, mut domains) = (0, 0, 0, 0);
    // SAFETY: the pointers are to local variables.
    unsafe {
        ok(devices::cuDeviceGetCount(&mut count));
        ok(devices::cuDeviceComputeCapability(&mut major, &mut minor, 2));
        ok(devices::cuDeviceGetAttribute(&mut domains, 126, 0));
    }
    assert_eq!((count, major, minor, domains), (3, 8, 0, 1));
    // CUDA 11.4 knows PTX 7.4.
    assert!(session.load(&module("7.4", "sm_80", "ret;")).is_ok());
    let status = |text: &str| session.load(text).map_err(|(status, _)| status);
    assert_eq!(status(&module("7.5", "sm_80", "ret;")), Err(Status::ERROR_UNSUPPORTED_PTX_VERSION));
    assert_eq!(status(&module("7.4", "sm_86", "ret;")), Err(Status::ERROR_INVALID_PTX));
}

#[test]
fn peers_reach_each_other_s_memory_once_enabled() {
    if with("peers_reach_each_other_s_memory_once_enabled", &[("SOFT_CUDA_DEVICES", "2")]).is_some() {
        return;
    }
    let first = Session::new();
    let at = first.device(&[0]);
    let run = |enable: bool| {
        let mut second = 0;
        // SAFETY: the pointer is to a local variable.
        unsafe {
            ok(contexts::cuCtxCreate_v2(&mut second, 0, 1));
            if enable {
                ok(contexts::cuCtxEnablePeerAccess(first.context, 0));
                assert_eq!(
                    contexts::cuCtxEnablePeerAccess(first.context, 0),
                    Status::ERROR_PEER_ACCESS_ALREADY_ENABLED
                );
            }
            let function = first.function(&kernel("st.global.u32 [%io], 6;"), "k");
            ok(first.launch(function, 1, 1, 0, &[at]));
            let status = first.wait();
            contexts::cuCtxDestroy_v2(second);
            status
        }
    };
    assert_eq!(run(false), Status::ERROR_ILLEGAL_ADDRESS);
    ok(run(true));
    assert_eq!(first.host(at, 1), [6]);
}

#[test]
fn memory_is_as_large_as_told() {
    if with("memory_is_as_large_as_told", &[("SOFT_CUDA_MEMORY", "1000")]).is_some() {
        return;
    }
    let _session = Session::new();
    let mut at = 0;
    // SAFETY: the pointer is to a local variable.
    unsafe {
        ok(memory::cuMemAlloc_v2(&mut at, 600));
        assert_eq!(memory::cuMemAlloc_v2(&mut at, 600), Status::ERROR_OUT_OF_MEMORY);
        ok(memory::cuMemFree_v2(at));
        ok(memory::cuMemAlloc_v2(&mut at, 1000));
    }
}

#[test]
fn initialization_fails_as_told() {
    if with("initialization_fails_as_told", &[("SOFT_CUDA_INIT_ERROR", "803")]).is_some() {
        return;
    }
    // SAFETY: the pointers are null, or none are asked for.
    unsafe {
        assert_eq!(devices::cuInit(0), Status::ERROR_SYSTEM_DRIVER_MISMATCH);
        assert_eq!(devices::cuDeviceGetCount(null_mut()), Status::ERROR_NOT_INITIALIZED);
        assert_eq!(memory::cuMemAlloc_v2(null_mut(), 1), Status::ERROR_NOT_INITIALIZED);
    }
}

#[test]
fn no_devices_are_an_error() {
    if with("no_devices_are_an_error", &[("SOFT_CUDA_DEVICES", "0")]).is_some() {
        return;
    }
    // SAFETY: nothing is asked for.
    assert_eq!(unsafe { devices::cuInit(0) }, Status::ERROR_NO_DEVICE);
}

#[test]
fn the_launch_that_is_told_fails() {
    if with("the_launch_that_is_told_fails", &[("SOFT_CUDA_LAUNCH_ERROR", "2:214")]).is_some() {
        return;
    }
    let session = Session::new();
    let at = session.device(&[0]);
    let function = session.function(&kernel("red.global.add.u32 [%io], 1;"), "k");
    ok(session.launch(function, 1, 1, 0, &[at]));
    ok(session.wait());
    assert_eq!(session.host(at, 1), [1]);
    ok(session.launch(function, 1, 1, 0, &[at]));
    assert_eq!(session.wait(), Status::ERROR_ECC_UNCORRECTABLE);
    let mut event = 0;
    // SAFETY: the pointer is to a local variable.
    assert_eq!(unsafe { events::cuEventCreate(&mut event, 0) }, Status::ERROR_ECC_UNCORRECTABLE);
    drop(session);
    // Another context works.
    assert_eq!(Session::new().run("st.global.u64 [%io], 4;", 1, 1, &[0]), Ok(vec![4]));
}

#[test]
fn registers_may_be_read_unwritten_where_that_is_told() {
    if with("registers_may_be_read_unwritten_where_that_is_told", &[("SOFT_CUDA_STRICT", "0")]).is_some() {
        return;
    }
    assert!(Session::new().run("add.u32 %w0, %w1, 1; st.global.u32 [%io], %w0;", 1, 1, &[0]).is_ok());
}

#[test]
fn turns_vary_with_the_seed() {
    // The body records the order in which threads reach a counter.
    let body =
        "mov.u32 %w0, %tid.x; atom.global.add.u32 %w1, [%io], 1; mad.wide.u32 %i0, %w0, 8, %io; cvt.u64.u32 %i1, %w1;
                st.global.u64 [%i0+8], %i1;";
    let orders = |session: &Session| -> Vec<Vec<u64>> {
        (0..8).map(|_| session.run(body, 1, 64, &[0; 65]).expect("it runs")).collect()
    };
    if with("turns_vary_with_the_seed", &[("SOFT_CUDA_SEED", "5")]).is_some() {
        let straight = orders(&Session::new());
        assert!(straight.iter().all(|order| order == &straight[0]), "without a seed they do not");
        return;
    }
    let varied = orders(&Session::new());
    assert!(varied.iter().any(|order| order != &varied[0]));
}

#[test]
fn calls_are_told() {
    match with("calls_are_told", &[("SOFT_CUDA_TRACE", "1")]) {
        Some(said) => assert!(said.contains("soft-cuda: cuInit -> 0") && said.contains("cuMemAlloc_v2 -> 1"), "{said}"),
        None => {
            let _session = Session::new();
            // SAFETY: null is refused.
            assert_eq!(unsafe { memory::cuMemAlloc_v2(null_mut(), 8) }, Status::ERROR_INVALID_VALUE);
        }
    }
}

#[test]
fn the_reason_of_a_fault_names_kernel_line_block_and_thread() {
    let Some(said) = with("the_reason_of_a_fault_names_kernel_line_block_and_thread", &[]) else {
        // The name of the source stands behind the kernel.
        let body = ".loc 1 7 5 mov.u32 %w0, %ctaid.x; setp.ne.u32 %p0, %w0, 2; @%p0 ret;\nst.global.u32 [0x4240], 7;
                    ret; } .file 1 \"k.cu\" .entry another() {";
        assert_eq!(Session::new().run(body, 3, 1, &[0]), Err(Status::ERROR_ILLEGAL_ADDRESS));
        let mut text = [0u8; 400];
        // SAFETY: the pointer is to that many bytes.
        let length = unsafe { api::soft_cuda_last_failure(text.as_mut_ptr().cast(), text.len()) };
        let text = String::from_utf8_lossy(&text[..length]);
        let expected = "4 bytes at 0x4240 are not allocated (kernel k, line 12 of its PTX, which is k.cu:7:5, block [2, 0, 0], \
                        thread [0, 0, 0])";
        assert_eq!(text, expected);
        return;
    };
    assert!(said.contains("soft-cuda: 4 bytes at 0x4240"), "{said}");
}

/// A module is not loaded before a kernel has ended, and no other call returns meanwhile.
#[test]
fn who_loads_may_keep_all_waiting() {
    if with("who_loads_may_keep_all_waiting", &[("SOFT_CUDA_LOAD_WAITS", "1")]).is_some() {
        return;
    }
    let session = Session::new();
    let waits = "$wait: ld.relaxed.sys.global.u32 %w0, [%io]; setp.eq.u32 %p0, %w0, 0; @%p0 bra $wait;";
    let function = session.function(&kernel(waits), "k");
    let (mut host, mut device) = (0, 0);
    // SAFETY: the pointers are to local variables; the allocation has 8 bytes.
    let flag = unsafe {
        ok(memory::cuMemHostAlloc(&mut host, 8, 2));
        ok(memory::cuMemHostGetDevicePointer_v2(&mut device, host as usize, 0));
        AtomicU32::from_ptr(host as *mut u32)
    };
    flag.store(0, Ordering::Release);
    ok(session.launch(function, 1, 1, 0, &[device]));
    let context = session.context;
    let (loads, asks) = (AtomicBool::new(false), AtomicBool::new(false));
    let stands_still = |done: &AtomicBool| {
        std::thread::sleep(Duration::from_millis(200));
        assert!(!done.load(Ordering::Acquire));
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: the context is there.
            ok(unsafe { contexts::cuCtxSetCurrent(context) });
            session.load(&kernel("ret;")).expect("it is loaded in the end");
            loads.store(true, Ordering::Release);
        });
        stands_still(&loads);
        scope.spawn(|| {
            let mut count = 0;
            // SAFETY: the pointer is to a local variable.
            ok(unsafe { devices::cuDeviceGetCount(&mut count) });
            asks.store(true, Ordering::Release);
        });
        stands_still(&asks);
        assert!(!loads.load(Ordering::Acquire));
        flag.store(1, Ordering::Release);
    });
    assert!(loads.into_inner() && asks.into_inner());
}

#[test]
fn calls_at_the_end_abort() {
    let variables = [("SOFT_CUDA_END_ABORTS", "1"), (CHILD, "1")];
    if std::env::var_os(CHILD).is_none() {
        let mut command = Command::new(std::env::current_exe().expect("the test's own program"));
        command.args(["--exact", "environment::calls_at_the_end_abort", "--nocapture"]).envs(variables);
        let output = command.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("when the process had begun to end"), "{said}");
        return;
    }
    // SAFETY: nothing is pointed to.
    ok(unsafe { devices::cuInit(0) });
    std::thread::spawn(|| {
        loop {
            let mut count = 0;
            // SAFETY: the pointer is to a local variable.
            let _ = unsafe { devices::cuDeviceGetCount(&mut count) };
        }
    });
    std::process::exit(0);
}
