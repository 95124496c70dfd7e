//! Divisions of integers by constants are those of Rust, whatever a device makes of them.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("u8 by constants", |device| u8s::agrees(device)),
    ("u16 by constants", |device| u16s::agrees(device)),
    ("u32 by constants", |device| u32s::agrees(device)),
    ("u64 by constants", |device| u64s::agrees(device)),
    ("i32 by constants", |device| i32s::agrees(device)),
];

macro_rules! divisions {
    ($module:ident $ty:ident $($divisor:literal)+) => {
        mod $module {
            use super::*;

            const DIVISORS: &[$ty] = &[$($divisor),+];

            /// All quotients and remainders of a number, in one.
            #[kernel]
            fn divided(acc: &Acc, x: Read<$ty>, out: PerItem<$ty>) {
                for (i, out) in acc.items(&mut out) {
                    let (x, mut all) = (x[i], 0);
                    $(
                        all = (all * 31 + x / $divisor) * 31 + x % $divisor;
                    )+
                    *out = all;
                }
            }

            /// The numbers around the multiples of each divisor, and random ones.
            fn dividends() -> Vec<$ty> {
                let mut all: Vec<$ty> = vec![0, 1, $ty::MAX, $ty::MAX - 1, $ty::MIN];
                for &divisor in DIVISORS {
                    for times in [1, 2, $ty::MAX / divisor / 2, $ty::MAX / divisor] {
                        let multiple = divisor.wrapping_mul(times);
                        all.extend([multiple.wrapping_sub(1), multiple, multiple.wrapping_add(1)]);
                    }
                }
                let spread = (0..100u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                all.extend(spread.map(|number| (number >> 7) as $ty));
                all
            }

            pub fn agrees(device: &Device) -> Outcome {
                let queue = device.queue()?;
                let dividends = dividends();
                let x = device.from_slice(&dividends)?;
                let mut out = device.alloc::<$ty>(dividends.len())?;
                queue.launch(FrameSpec::new(4, 8), divided(&x, &mut out))?;
                for (x, found) in dividends.into_iter().zip(out.read(&queue)?) {
                    let with = |all: $ty, divisor: &$ty| {
                        let all = all.wrapping_mul(31).wrapping_add(x.wrapping_div(*divisor));
                        all.wrapping_mul(31).wrapping_add(x.wrapping_rem(*divisor))
                    };
                    assert_eq!(found, DIVISORS.iter().fold(0, with), "{x}");
                }
                Ok(())
            }
        }
    };
}

divisions!(u8s u8 1 2 3 7 10 64 128 200 255);
divisions!(u16s u16 1 2 3 7 10 641 4096 65535);
divisions!(u32s u32 1 2 3 5 7 9 10 11 25 28 64 125 641 1000 65535 0x7fff_ffff 0x8000_0000 0x8000_0001 0xffff_ffff);
divisions!(u64s u64 1 3 7 10 1000 1024 6_700_417 10_000_000_000 0x7fff_ffff_ffff_ffff 0x8000_0000_0000_0000 0xffff_ffff_ffff_ffff);
divisions!(i32s i32 1 2 3 7 10 64 0x7fff_ffff);
