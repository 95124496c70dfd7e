//! Operators, conversions and mathematical functions on all types.
use wattle::prelude::*;

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

/// `+ - * min max`, comparisons.
#[kernel]
fn common<T: Number>(acc: &Acc, x: T, y: T, out: Shared<T>, facts: Shared<u32>) {
    out[0] = x + y;
    out[1] = x - y;
    out[2] = x * y;
    out[3] = x.min(y);
    out[4] = x.max(y);
    out[5] = x.clamp(y, y + T::ONE);
    out[6] = T::ZERO - T::ONE;
    out[7] = x / y;
    facts[0] = (x == y) as u32;
    facts[1] = (x != y) as u32;
    facts[2] = (x < y) as u32;
    facts[3] = (x <= y) as u32;
    facts[4] = (x > y) as u32;
    facts[5] = (x >= y) as u32;
    facts[6] = acc.linear_threads_in_grid();
}

/// What only integers have.
macro_rules! integers {
    ($name:ident $t:ty) => {
        #[kernel]
        fn $name(acc: &Acc, x: $t, y: $t, count: u32, out: Shared<$t>, counts: Shared<u32>) {
            let all = acc.linear_thread_in_grid() == 0;
            out[0] = x % y;
            out[1] = x & y;
            out[2] = x | y;
            out[3] = x ^ y;
            out[4] = x << count;
            out[5] = x >> count;
            out[6] = !x;
            counts[0] = x.count_ones();
            counts[1] = x.leading_zeros();
            counts[2] = x.trailing_zeros();
            counts[3] = all as u32;
        }
    };
}

#[kernel]
fn signed<T: Signed>(acc: &Acc, x: T, out: Shared<T>) {
    out[0] = -x;
    out[1] = x.abs();
    out[acc.linear_threads_in_grid() + 1] = -x.abs();
}

macro_rules! every_integer {
    ($($test:ident $t:ident)+) => {$(
        #[test]
        fn $test() {
            integers!(integers $t);
            for (x, y) in [(7, 3), ($t::MAX, 2), ($t::MIN, $t::MAX), ($t::MAX, $t::MAX), ($t::MIN, 1)] {
                let common_expected = [
                    x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y), x.min(y), x.max(y),
                    x.max(y).min(y.wrapping_add(1)), (0 as $t).wrapping_sub(1), x.wrapping_div(y),
                ];
                let facts = [(x == y) as u32, (x != y) as u32, (x < y) as u32, (x <= y) as u32, (x > y) as u32, (x >= y) as u32, 1];
                expect!(one(), common_expected, |device, out| common(x, y, &out, &device.alloc::<u32>(8).unwrap()));
                expect!(one(), facts, |device, out| common(x, y, &device.alloc::<$t>(8).unwrap(), &out));
                for count in [0, 1, 5, 8, 31, 32, 33, 63, 64, 200] {
                    let expected = [
                        x.wrapping_rem(y), x & y, x | y, x ^ y, x.wrapping_shl(count), x.wrapping_shr(count), !x,
                    ];
                    expect!(one(), expected, |device, out| integers(x, y, count, &out, &device.alloc::<u32>(4).unwrap()));
                }
                let counts = [x.count_ones(), x.leading_zeros(), x.trailing_zeros(), 1];
                expect!(one(), counts, |device, out| integers(x, y, 0, &device.alloc::<$t>(7).unwrap(), &out));
            }
        }
    )+};
}
every_integer!(u8_works u8 i8_works i8 u16_works u16 i16_works i16 u32_works u32 i32_works i32 u64_works u64 i64_works i64);

#[test]
fn signs() {
    for x in [5, -5, 0, i32::MIN] {
        expect!(one(), [x.wrapping_neg(), x.wrapping_abs(), x.wrapping_abs().wrapping_neg()], |_device, out| signed(
            x, &out
        ));
    }
    for x in [5.5, -5.5, f64::INFINITY] {
        expect!(one(), [-x, x.abs(), -x.abs()], |_device, out| signed(x, &out));
    }
    expect!(one(), [-128i8, -128, -128], |_device, out| signed(i8::MIN, &out));
}

#[test]
fn floats() {
    for (x, y) in [(1.5f32, 0.25), (-0.1, 0.2), (f32::MAX, f32::MAX), (1.0, 0.0), (3.0, f32::NEG_INFINITY)] {
        let expected = [x + y, x - y, x * y, x.min(y), x.max(y), x.max(y).min(y + 1.0), -1.0, x / y];
        expect!(one(), expected, |device, out| common(x, y, &out, &device.alloc::<u32>(8).unwrap()));
    }
    let facts = [0, 1, 0, 0, 0, 0, 1];
    expect!(one(), facts, |device, out| common(f64::NAN, 1.0, &device.alloc::<f64>(8).unwrap(), &out));
}

#[kernel]
fn mathematics<T: Float>(acc: &Acc, x: T, y: T, exact: Shared<T>, near: Shared<T>, facts: Shared<u32>) {
    exact[0] = x.sqrt();
    exact[1] = x.floor();
    exact[2] = x.ceil();
    exact[3] = x.round();
    exact[4] = x.fma(y, x);
    exact[5] = T::from_bits(x.to_bits());
    near[0] = x.exp();
    near[1] = x.ln();
    near[2] = x.sin();
    near[3] = x.cos();
    near[4] = x.tanh();
    near[5] = x.pow(y);
    near[6] = x.rsqrt();
    facts[0] = x.is_nan() as u32;
    facts[1] = (x / T::ZERO - x / T::ZERO).is_nan() as u32 + acc.thread_in_grid();
}

#[test]
fn mathematical_functions() {
    let (x, y) = (2.5f32, 0.75);
    let exact = [x.sqrt(), x.floor(), x.ceil(), x.round(), x.mul_add(y, x), x];
    expect!(one(), exact, |device, out| mathematics(
        x,
        y,
        &out,
        &device.alloc::<f32>(8).unwrap(),
        &device.alloc::<u32>(2).unwrap()
    ));
    let near = [x.exp(), x.ln(), x.sin(), x.cos(), x.tanh(), x.powf(y), 1.0 / x.sqrt()];
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let (out, rest, facts) =
            (device.alloc::<f32>(7).unwrap(), device.alloc::<f32>(6).unwrap(), device.alloc(2).unwrap());
        queue.launch(one(), mathematics(x, y, &rest, &out, &facts)).unwrap();
        for (found, expected) in out.read(&queue).unwrap().into_iter().zip(near) {
            assert!((found - expected).abs() <= 4.0 * f32::EPSILON * expected.abs(), "{found} {expected}");
        }
        assert_eq!(facts.read(&queue).unwrap(), [0, 1]);
    }
}

#[kernel]
fn casts(acc: &Acc, f: f32, i: i64, out: Shared<i64>) {
    out[0] = f as u8 as i64;
    out[1] = f as i8 as i64;
    out[2] = f as u16 as i64;
    out[3] = f as i16 as i64;
    out[4] = f as u32 as i64;
    out[5] = f as i32 as i64;
    out[6] = f as u64 as i64;
    out[7] = f as i64;
    out[8] = i as u8 as i64;
    out[9] = i as i8 as i64;
    out[10] = i as u16 as i64;
    out[11] = i as i16 as i64;
    out[12] = i as u32 as i64;
    out[13] = i as i32 as i64;
    out[14] = i as u64 as f64 as i64;
    out[15] = i as f32 as f64 as i64;
    out[16] = (i > 0) as i64 + acc.thread_in_grid() as i64;
    out[17] = f32::from_bits(i as u32).to_bits() as i64;
}

#[test]
fn conversions() {
    for f in [0.0f32, 1.9, -1.9, 300.5, -300.5, 1e12, -1e12, 1e30, -1e30, f32::NAN, f32::INFINITY] {
        for i in [0i64, 1, -1, 200, 70_000, i64::MAX, i64::MIN] {
            let expected = [
                f as u8 as i64,
                f as i8 as i64,
                f as u16 as i64,
                f as i16 as i64,
                f as u32 as i64,
                f as i32 as i64,
                f as u64 as i64,
                f as i64,
                i as u8 as i64,
                i as i8 as i64,
                i as u16 as i64,
                i as i16 as i64,
                i as u32 as i64,
                i as i32 as i64,
                i as u64 as f64 as i64,
                i as f32 as f64 as i64,
                (i > 0) as i64,
                i as u32 as i64,
            ];
            expect!(one(), expected, |_device, out| casts(f, i, &out));
        }
    }
}

#[kernel]
fn divide(acc: &Acc, x: i32, y: i32, out: Shared<i32>) {
    let there = acc.thread_in_grid() as i32;
    out[0] = 5;
    out[1] = x / y + there;
    out[2] = 7;
}
const DIVIDE_LINE: u32 = line!() - 3;

#[kernel]
fn remainder(acc: &Acc, x: u8, out: Shared<u8>) {
    let zero = acc.thread_in_grid() as u8;
    out[0] = 1 + x % zero;
    out[1] %= zero;
    out[2] = 9;
}

#[test]
fn division_by_zero_gives_zero_and_a_fault_with_its_line() {
    expect_fault!([5, 0, 7], [format!("arithmetic.rs:{DIVIDE_LINE}"), "division"], |out| divide(3, 0, &out));
    expect_fault!([1, 0, 9], ["division"], |out| remainder(3, &out));
    expect!(one(), [5, i32::MIN, 7], |_device, out| divide(i32::MIN, -1, &out));
}

#[kernel]
fn logic(acc: &Acc, p: bool, q: bool, out: Shared<u32>) {
    let none = acc.thread_in_grid();
    out[0] = (p && q) as u32;
    out[1] = (p || q) as u32;
    out[2] = (p & q) as u32;
    out[3] = (p | q) as u32;
    out[4] = (p ^ q) as u32;
    out[5] = !p as u32;
    out[6] = (p == q) as u32 + none;
}

#[test]
fn logic_of_bool() {
    for (p, q) in [(false, false), (false, true), (true, false), (true, true)] {
        let expected = [p && q, p || q, p & q, p | q, p ^ q, !p, p == q].map(u32::from);
        expect!(one(), expected, |_device, out| logic(p, q, &out));
    }
}

mod constants {
    pub const STEP: u32 = 17;
    pub const LEAST: i64 = -5;
}
use constants::LEAST;
/// A size.
const SIZE: usize = 3;

#[kernel]
fn names<T: Number, const N: usize, const M: u32, const YES: bool>(acc: &Acc, zero: T, out: Shared<i64>) {
    out[0] = constants::STEP as i64;
    out[1] = LEAST;
    out[2] = i32::MIN as i64;
    out[3] = i64::MAX;
    out[4] = N as u32 as i64 + (N as i64) + SIZE as i64;
    out[5] = M as i64;
    out[6] = if YES { 1 } else { 2 };
    out[7] = (T::ZERO == zero) as i64 + (f32::MAX > f32::EPSILON) as i64;
    out[8] = -0x7f_i64 + 0b11 + 1_000 + acc.thread_in_grid() as i64;
    out[9] = (u8::MAX as u32 + u16::MAX as u32) as i64;
    out[10] = std::f32::consts::PI as i64;
}

#[test]
fn constants_by_path() {
    let expected = [17, -5, i32::MIN as i64, i64::MAX, 13, 9, 1, 2, 876, 65790, 3];
    expect!(one(), expected, |_device, out| names::<u16, 5, 9, true>(0, &out));
}

/// Names of the standard library for what kernels write with signs or by another name.
#[kernel]
fn other_names(acc: &Acc, n: u32, m: i32, x: f32, whole: Shared<u32>, signed: Shared<i32>, floats: Shared<f32>) {
    whole[0] = n.wrapping_add(u32::MAX);
    whole[1] = n.wrapping_sub(9);
    whole[2] = n.wrapping_mul(0x8000_0001);
    signed[0] = m.wrapping_mul(i32::MAX);
    signed[1] = m.signum();
    signed[2] = (m - m).signum();
    signed[3] = (-m).signum();
    signed[4] = i32::MIN.signum();
    floats[0] = x.mul_add(x, -1.0);
    floats[1] = (x * -0.0).signum();
    debug_assert_eq!(whole[0], n - 1);
    debug_assert_ne!(acc.linear_threads_in_grid(), 0);
}

#[test]
fn other_names_of_arithmetic() {
    let (n, m, x) = (7u32, -5i32, 1.0f32 + f32::EPSILON);
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let whole = device.from_slice(&[0u32; 3]).unwrap();
        let (signed, floats) = (device.from_slice(&[0i32; 5]).unwrap(), device.from_slice(&[0f32; 2]).unwrap());
        match queue.launch(one(), other_names(n, m, x, &whole, &signed, &floats)) {
            Err(error) if crate::support::lacks(&device, &error) => continue,
            launched => launched.unwrap(),
        }
        let on = device.name();
        let wrapped = [n.wrapping_add(u32::MAX), n.wrapping_sub(9), n.wrapping_mul(0x8000_0001)];
        assert_eq!(whole.read(&queue).unwrap(), wrapped, "on {on}");
        assert_eq!(signed.read(&queue).unwrap(), [m.wrapping_mul(i32::MAX), -1, 0, 1, -1], "on {on}");
        assert_eq!(floats.read(&queue).unwrap(), [x.mul_add(x, -1.0), -1.0], "on {on}");
    }
}
