//! Powers, and the functions of integers that can fail: what the standard library's give, or 0 and a fault.

use std::fmt::Debug;

use wattle::FaultKind;
use wattle::prelude::*;

use crate::harness::{Case, Outcome, Stop};
use crate::random::Random;

macro_rules! cases {
    ($($t:ident)+) => {
        pub const CASES: &[Case] = &[
            $((concat!("powers and euclidean division of ", stringify!($t)), |device| total::<$t>(device)),)+
            $((concat!("results beyond ", stringify!($t)), |device| beyond::<$t>(device)),)+
            ("quotients of u32 rounded up", rounded_up::<u32>),
            ("quotients of u64 rounded up", rounded_up::<u64>),
            ("powers by constants", constants),
            ("divisors of zero", zeros),
            ("what the remainder of arrays is", arrays),
        ];
    };
}
cases!(u8 i8 u16 i16 u32 i32 u64 i64);

/// What the standard library has for an integer type.
trait Known: Int + Debug {
    fn total(x: Self, y: Self, n: u32) -> [Self; 4];
    fn checked(x: Self, y: Self, n: u32) -> [Option<Self>; 5];
}

macro_rules! known {
    ($($t:ident)+) => {$(
        impl Known for $t {
            fn total(x: $t, y: $t, n: u32) -> [$t; 4] {
                [x.wrapping_pow(n), x.wrapping_div_euclid(y), x.wrapping_rem_euclid(y), x.saturating_mul(y)]
            }
            fn checked(x: $t, y: $t, n: u32) -> [Option<$t>; 5] {
                [x.checked_add(y), x.checked_sub(y), x.checked_mul(y), x.checked_neg(), x.checked_pow(n)]
            }
        }
    )+};
}
known!(u8 i8 u16 i16 u32 i32 u64 i64);

#[kernel]
fn of_totals<T: Int>(acc: &Acc, xs: Read<T>, ys: Read<T>, ns: Read<u32>, out: Shared<T>, counts: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..xs.extent()) {
        let (x, y, n) = (xs[i], ys[i], ns[i]);
        out[4 * i] = x.pow(n);
        out[4 * i + 1] = x.div_euclid(y);
        out[4 * i + 2] = x.rem_euclid(y);
        out[4 * i + 3] = x.saturating_mul(y);
        counts[3 * i] = x.count_zeros();
        counts[3 * i + 1] = x.leading_ones();
        counts[3 * i + 2] = x.trailing_ones();
    }
}

#[kernel]
fn of_checked<T: Int>(acc: &Acc, x: T, y: T, n: u32, which: u32, out: Shared<T>) {
    if acc.linear_thread_in_grid() == 0 {
        match which {
            0 => out[0] = x.checked_add(y),
            1 => out[0] = x.checked_sub(y),
            2 => out[0] = x.checked_mul(y),
            3 => out[0] = x.checked_neg(),
            _ => out[0] = x.checked_pow(n),
        }
    }
}

/// Pairs of the edges of a type, small numbers and any others; the second one is not 0.
fn pairs<T: Known>(count: usize) -> Vec<(T, T, u32)> {
    let (bits, mut random) = (T::TYPE.bits(), Random(T::TYPE.bits().into()));
    let edges = [0, 1, 2, 3, 7, 10, u64::MAX, u64::MAX - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, 1 << (bits / 2)];
    let edges: Vec<T> = edges.map(T::from_raw).to_vec();
    let mut all: Vec<(T, T, u32)> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y, 0))).collect();
    all.extend((0..count).map(|_| {
        let mut any = || T::from_raw(random.next() >> random.below(64));
        (any(), any(), 0)
    }));
    for (at, (_, _, n)) in all.iter_mut().enumerate() {
        *n = [0, 1, 2, 3, 5, 7, 31, 63, 64, u32::MAX][at % 10];
    }
    all.retain(|(_, y, _)| *y != T::ZERO);
    all
}

fn total<T: Known>(device: &Device) -> Outcome {
    let all = pairs::<T>(200);
    let column = |of: fn(&(T, T, u32)) -> T| device.from_slice(&all.iter().map(of).collect::<Vec<T>>());
    let (x, y) = (column(|all| all.0)?, column(|all| all.1)?);
    let n = device.from_slice(&all.iter().map(|all| all.2).collect::<Vec<u32>>())?;
    let (out, counts) = (device.alloc_zeroed::<T>(4 * all.len())?, device.alloc_zeroed::<u32>(3 * all.len())?);
    let queue = device.queue()?;
    queue.launch(FrameSpec::new(4, 32), of_totals(&x, &y, &n, &out, &counts))?;
    let (out, counts) = (out.read(&queue)?, counts.read(&queue)?);
    for (at, &(x, y, n)) in all.iter().enumerate() {
        assert_eq!(out[4 * at..][..4], T::total(x, y, n), "of {x:?}, {y:?} and {n}");
        let ones = |x: T| (!x.to_raw()) << (64 - T::TYPE.bits()) >> (64 - T::TYPE.bits());
        let zeros_above = ones(x).leading_zeros() - (64 - T::TYPE.bits());
        let wanted = [ones(x).count_ones(), zeros_above, ones(x).trailing_zeros().min(T::TYPE.bits())];
        assert_eq!(counts[3 * at..][..3], wanted, "of {x:?}");
    }
    Ok(())
}

fn beyond<T: Known>(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<T>(1)?);
    let mut all = pairs::<T>(0);
    // One of each few, so that software devices end; a prime number, so that all exponents come.
    all = all.into_iter().step_by(7).collect();
    let names = ["checked_add", "checked_sub", "checked_mul", "checked_neg", "checked_pow"];
    for (x, y, n) in all {
        for (which, wanted) in T::checked(x, y, n).into_iter().enumerate() {
            let done = queue.launch(ThreadSpec::new(1, 1), of_checked(x, y, n, which as u32, &out));
            let found = done.and_then(|_| out.read(&queue));
            match (found, wanted) {
                (Ok(found), Some(wanted)) => assert_eq!(found, [wanted], "{} of {x:?}, {y:?}, {n}", names[which]),
                (Err(error), None) => {
                    let text = format!("{}: the result is beyond the range of the type", names[which]);
                    match error.kind() {
                        wattle::ErrorKind::Fault(fault) => {
                            assert_eq!(fault.what, FaultKind::Assertion(text), "{error}");
                        }
                        _ => return Err(Stop::from(error)),
                    }
                    let zero = out.read(&queue)?;
                    assert_eq!(zero, [T::ZERO], "{} of {x:?}, {y:?}, {n}", names[which]);
                }
                (Err(error), Some(_)) => return Err(Stop::from(error)),
                (Ok(found), None) => panic!("{} of {x:?}, {y:?}, {n} is {found:?}", names[which]),
            }
        }
    }
    Ok(())
}

#[kernel]
fn up<T: Word>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: PerItem<T>) {
    for (i, item) in acc.items(&mut out) {
        *item = xs[i].div_ceil(ys[i]) + xs[i].is_power_of_two() as T;
    }
}

fn rounded_up<T: Word + Known + TryFrom<u64, Error: Debug>>(device: &Device) -> Outcome
where
    u64: From<T>,
{
    let all = pairs::<T>(200);
    let column = |of: fn(&(T, T, u32)) -> T| device.from_slice(&all.iter().map(of).collect::<Vec<T>>());
    let (x, y) = (column(|all| all.0)?, column(|all| all.1)?);
    let (queue, mut out) = (device.queue()?, device.alloc::<T>(all.len())?);
    queue.launch(FrameSpec::new(4, 32), up(&x, &y, &mut out))?;
    for (found, (x, y, _)) in out.read(&queue)?.into_iter().zip(&all) {
        let (long, by) = (u64::from(*x), u64::from(*y));
        let wanted = long.div_ceil(by).wrapping_add(long.is_power_of_two() as u64);
        assert_eq!(found.to_raw(), T::from_raw(wanted).to_raw(), "of {x:?} by {y:?}");
    }
    Ok(())
}

#[kernel]
fn by_constants(acc: &Acc, x: i32, y: f32, out: Shared<i32>, floats: Shared<f32>) {
    out[acc.linear_thread_in_grid()] = x.pow(0);
    out[1] = x.pow(1);
    out[2] = x.pow(7);
    out[3] = (x + 1).pow(2).checked_pow(2);
    out[4] = 3i32.pow(4);
    floats[0] = y.pow(2.0);
    floats[1] = y.powf(2.0);
    floats[2] = y % 0.75;
    floats[3] = -y.rem_euclid(0.75);
    floats[4] = y.div_euclid(-0.75);
}

fn constants(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<i32>(5)?);
    let floats = device.alloc_zeroed::<f32>(5)?;
    queue.launch(ThreadSpec::new(1, 1), by_constants(-5, -2.0, &out, &floats))?;
    assert_eq!(out.read(&queue)?, [1, -5, -78125, 256, 81]);
    assert_eq!(floats.read(&queue)?, [4.0, 4.0, -0.5, -0.25, 3.0]);
    Ok(())
}

#[kernel]
fn by_zero(acc: &Acc, x: i32, zero: i32, which: u32, out: Shared<i32>) {
    let zero = zero + acc.linear_thread_in_grid() as i32;
    match which {
        0 => out[0] = x.div_euclid(zero),
        1 => out[0] = x.rem_euclid(zero),
        _ => out[0] = (x as u32).div_ceil(zero as u32) as i32,
    }
}

fn zeros(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for which in 0..3 {
        let out = device.from_slice(&[7])?;
        let done = queue.launch(ThreadSpec::new(1, 1), by_zero(-5, 0, which, &out));
        let Err(error) = done.and_then(|_| queue.wait()) else { panic!("{which} by zero") };
        match error.kind() {
            wattle::ErrorKind::Fault(fault) => assert_eq!(fault.what, FaultKind::DivisionByZero),
            _ => return Err(Stop::from(error)),
        }
        assert_eq!(out.read(&queue)?, [0]);
    }
    Ok(())
}

#[kernel]
fn of_arrays(acc: &Acc, x: [f32; 2], out: Shared<f32>) {
    let mut rest = x % [2.0f32, 0.75];
    rest %= [1.5f32, 10.0];
    out[acc.linear_thread_in_grid()] = rest[0];
    out[1] = rest[1];
}

fn arrays(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<f32>(2)?);
    queue.launch(ThreadSpec::new(1, 1), of_arrays([7.75, -2.0], &out))?;
    assert_eq!(out.read(&queue)?, [0.25, -0.5]);
    Ok(())
}
