//! Kernels whose frames are larger than a thread's stack, where nothing is optimized.

use wattle::prelude::*;

#[device_fn]
fn f0(a: [u32; 4096], i: u32) -> [u32; 4096] {
    let mut b = a;
    b[i] += 1;
    b
}

macro_rules! chain {
    ($($name:ident calls $next:ident),*) => {
        $(
            #[device_fn]
            fn $name(a: [u32; 4096], i: u32) -> [u32; 4096] {
                let b = $next(a, i);
                let mut c = b;
                c[i + 1] = a[i];
                c
            }
        )*
    };
}

chain! { f1 calls f0, f2 calls f1, f3 calls f2, f4 calls f3, f5 calls f4, f6 calls f5, f7 calls f6, f8 calls f7, f9 calls f8, f10 calls f9, f11 calls f10, f12 calls f11, f13 calls f12, f14 calls f13, f15 calls f14, f16 calls f15, f17 calls f16, f18 calls f17, f19 calls f18, f20 calls f19, f21 calls f20, f22 calls f21, f23 calls f22, f24 calls f23, f25 calls f24, f26 calls f25, f27 calls f26, f28 calls f27, f29 calls f28, f30 calls f29, f31 calls f30 }

#[kernel]
fn deep(acc: &Acc, out: Shared<u32>) {
    let mut a = [0u32; 4096];
    a[0] = out[0];
    let b = f31(a, out[1]);
    out[acc.thread_in_grid()] = b[1] + b[0];
}

/// Building it and running it go deeper than the 2 MiB of a test's thread.
#[test]
fn arrays_that_go_through_many_functions_overflow_no_stack() {
    let launched = |name: &str| {
        let device = Device::select(name).expect("a device of this build");
        let queue = device.queue()?;
        let out = device.from_slice(&[5u32, 0, 0])?;
        queue.launch(ThreadSpec::new(1, 1), deep(&out))?;
        out.read(&queue)
    };
    for name in ["host", "host-serial"] {
        assert_eq!(launched(name).unwrap_or_else(|error| panic!("{name}: {error}")), [11, 0, 0], "{name}");
    }
    let refused = launched("simulated").unwrap_err().to_string();
    assert!(refused.contains("an interpreted thread can have"), "{refused}");
}
