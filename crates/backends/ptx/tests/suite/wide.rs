//! Indices of 64 bits: where the launch permits it, the code of `#[kernel(wide)]` is that of `#[kernel]`.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ptx::PtxTarget;

/// The same kernels, with indices of either type.
macro_rules! kernels {
    ($module:ident, $($attribute:tt)*) => {
        mod $module {
            use wattle::prelude::*;

            #[$($attribute)*]
            pub fn triad(acc: &Acc, factor: f32, x: Read<f32>, out: PerItem<f32>) {
                for (i, out) in acc.items(&mut out) {
                    *out = factor * x[i] + *out;
                }
            }

            #[$($attribute)*]
            pub fn turn(acc: &Acc<2>, from: Read<u32, 2>, to: PerItem<u32, 2>) {
                for ([y, x], to) in acc.items(&mut to) {
                    *to = from[[x, y]];
                }
            }

            #[$($attribute)*]
            pub fn copies(acc: &Acc, from: Read<u32>, to: Shared<u32>, count: Atomic<u32>) {
                let n = from.len();
                for i in acc.indices(THREADS_IN_GRID, 0..n) {
                    to[i] = from[i];
                }
                for i in 0..n {
                    to[i] = 1;
                }
                let thread = acc.thread_in_grid();
                if thread < n {
                    to[thread] = (thread / 8 % 3) as u32;
                }
                count.fetch_add(thread.min(n), 1);
            }
        }
    };
}
kernels!(short, kernel);
kernels!(long, kernel(wide));

/// The code of a kernel without its places in the source.
fn code(kernel: &dyn wattle_core::Kernel) -> String {
    let text = wattle_ptx::build(&kernel.build().unwrap(), &PtxTarget::new(90)).unwrap().text();
    let is_code = |line: &&str| !line.trim_start().starts_with(".loc") && !line.contains("//");
    text.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_32_bits_hold_is_computed_with_32() {
    let device = Device::host();
    let words = || device.alloc::<u32>(1).unwrap();
    let plane = || device.alloc_nd::<u32, 2>([1, 1]).unwrap();
    let (x, mut out) = (device.alloc::<f32>(1).unwrap(), device.alloc::<f32>(1).unwrap());
    let [short, long] = [code(&short::triad(1.0, &x, &mut out)), code(&long::triad(1.0, &x, &mut out))];
    assert_eq!(short, long);
    let (from, mut to) = (plane(), plane());
    assert_eq!(code(&short::turn(&from, &mut to)), code(&long::turn(&from, &mut to)));
    let (from, to, count) = (words(), words(), words());
    assert_eq!(code(&short::copies(&from, &to, &count)), code(&long::copies(&from, &to, &count)));
}

#[test]
fn what_32_bits_do_not_hold_is_computed_with_64() {
    let device = Device::host();
    let (x, mut out) = (device.alloc::<f32>(1).unwrap(), device.alloc::<f32>(1).unwrap());
    let kernel = long::triad(1.0, &x, &mut out).for_long_launch().unwrap();
    let text = code(&kernel);
    assert!(text.contains("x_extent_0") && text.contains(".param .u64"), "{text}");
    for wanted in ["mul.lo.u64", "add.u64", "setp.ge.u64"] {
        assert!(text.contains(wanted), "no `{wanted}` in\n{text}");
    }
    assert!(!text.contains("mul.wide.u32"), "{text}");
    assert_eq!(short::triad(1.0, &x, &mut out).for_long_launch().map(|_| ()), None);
    let assembler = crate::tools::assembler();
    let Some(assembler) = assembler else { return };
    for version in [70, 90, 120] {
        let module = wattle_ptx::build(&kernel.build().unwrap(), &PtxTarget::new(version)).unwrap();
        crate::tools::assemble(&assembler, &module.text(), version);
    }
}
