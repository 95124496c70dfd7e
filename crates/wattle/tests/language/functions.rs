//! Device functions, modules, generics, kernels in odd places, lines.
use wattle::prelude::*;

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

/// Functions of a module.
mod shapes {
    use wattle::prelude::*;

    /// Each of the two.
    #[device_fn]
    pub fn swap(pair: (u32, f32)) -> (f32, u32) {
        (pair.1, pair.0)
    }

    pub mod inner {
        use wattle::prelude::*;
        #[device_fn]
        pub(crate) fn square<T: Number>(x: T) -> T {
            x * x
        }
        #[device_fn]
        pub fn fourth<T: Number>(x: T) -> T {
            square(square(x))
        }
    }
    pub use inner::fourth;
}
use shapes::inner::square as squared;
use shapes::{fourth, inner};

#[device_fn]
#[must_use]
#[inline]
fn collatz(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
        if steps > 1000 {
            return 0;
        }
    }
    steps
}

#[device_fn]
fn sign(x: i32) -> i32 {
    if x < 0 {
        return -1;
    }
    match x {
        0 => return 0,
        _ => {}
    }
    for i in 0..3 {
        if i == x {
            return 10 + i;
        }
    }
    1
}

#[device_fn]
fn always_returns(x: u32) -> u32 {
    let mut i = x;
    loop {
        i += 1;
        if i % 10 == 0 {
            return i;
        }
    }
}

#[device_fn]
fn reversed<T: Number, const N: usize>(a: [T; N]) -> [T; N] {
    let mut b = a;
    for i in 0..N as u32 {
        b[i] = a[N as u32 - 1 - i];
    }
    b
}

#[device_fn]
fn note(acc: &Acc, log: Shared<u32>, count: Atomic<u32>, what: u32) {
    if what == 99 {
        return;
    }
    let at = count.fetch_add(0, 1);
    log[at] = what + acc.thread_in_grid();
}

#[device_fn]
fn total<T: Int>(x: Read<T>) -> T {
    let mut sum = T::ZERO;
    for i in 0..x.len() {
        sum += x[i];
    }
    sum
}

#[device_fn]
fn where_clause<T>(x: T) -> T
where
    T: Float,
{
    x.sqrt()
}

#[kernel]
fn calls(acc: &Acc, x: Read<u32>, log: Shared<u32>, count: Atomic<u32>, out: Shared<u32>) {
    let (f, n) = shapes::swap((3, 2.5));
    out[0] = n + f as u32;
    out[1] = squared(5) + inner::square(2u32) + crate::functions::shapes::fourth(2);
    out[2] = fourth(1.5f32) as u32;
    out[3] = collatz(27);
    out[4] = (sign(-5) + 100 * sign(0) + sign(2) * 1000 + sign(50) * 100_000) as u32;
    let turned = reversed::<u32, 3>([1, 2, 3]);
    out[5] = turned[0] * 100 + turned[1] * 10 + turned[2];
    out[6] = reversed([1.0, 4.0])[0] as u32;
    note(acc, log, count, 7);
    note(acc, log, count, 99);
    note(acc, log, count, 8);
    out[7] = log[0] * 10 + log[1];
    out[8] = total(x) + always_returns(13);
    out[9] = where_clause::<f64>(16.0) as u32;
    // A variable may have the function's name.
    let fourth = 3;
    out[10] = fourth;
}

#[test]
fn device_functions() {
    let expected = [5, 25 + 4 + 16, 5, 111, (-1 + 12_000 + 100_000) as u32, 321, 4, 78, 6 + 20, 4, 3];
    expect!(one(), expected, |device, out| calls(
        &device.from_slice(&[1u32, 2, 3]).unwrap(),
        &device.alloc_zeroed::<u32>(4).unwrap(),
        &device.alloc_zeroed::<u32>(1).unwrap(),
        &out
    ));
}

macro_rules! filler {
    ($name:ident, $value:expr, $t:ty) => {
        #[kernel]
        fn $name(acc: &Acc, more: $t, out: Shared<$t>) {
            let base = $value;
            for i in acc.indices(THREADS_IN_GRID, 0..out.len()) {
                out[i] = base + more;
            }
        }
    };
}
filler!(fill_three, 3, u32);
filler!(fill_half, 0.5, f64);

mod nested {
    use wattle::prelude::*;
    #[kernel]
    pub fn fill(acc: &Acc, out: PerItem<u8>) {
        for (i, item) in acc.items(&mut out) {
            *item = i as u8;
        }
    }
}

#[test]
fn kernels_from_macros_and_in_modules_and_functions() {
    #[kernel]
    fn within(acc: &Acc, out: PerItem<i16>) {
        for (i, item) in acc.items(&mut out) {
            *item -= i as i16;
        }
    }
    expect!(one(), [5; 4], |_device, out| fill_three(2, &out));
    expect!(one(), [1.0; 4], |_device, out| fill_half(0.5, &out));
    expect!(one(), [0, 1, 2], |_device, out| nested::fill(&mut out));
    expect!(one(), [0, -1, -2], |_device, out| within(&mut out));
}

#[kernel]
fn asserts(acc: &Acc, n: u32, out: Shared<u32>) {
    out[0] = 1;
    assert!(n < 3 + acc.thread_in_grid(), "n is small");
    out[1] = 2;
    assert_eq!(n, 2);
    assert_ne!(n, 1);
}
const ASSERT_LINE: u32 = line!() - 5;

#[kernel]
fn faults(acc: &Acc, n: u32, x: Read<u32>, out: Shared<u32>) {
    let mut sum = acc.thread_in_grid();
    for i in 0..n {
        sum += 1 + x[i];
    }
    out[0] = sum;
}
const FAULT_LINE: u32 = line!() - 4;

#[kernel]
fn stores(acc: &Acc, n: u32, out: Shared<u32>) {
    if acc.thread_in_grid() == 0 {
        out[0] = 1;
        out[n] = 2;
    }
}
const STORE_LINE: u32 = line!() - 3;

#[test]
fn faults_name_the_line() {
    expect!(one(), [1, 2], |_device, out| asserts(2, &out));
    expect_fault!([1, 2], [format!("functions.rs:{ASSERT_LINE}"), "n is small"], |out| asserts(3, &out));
    expect_fault!([1, 2], ["n == 2"], |out| asserts(0, &out));
    expect_fault!([1, 2], ["n == 2"], |out| asserts(1, &out));
    expect_fault!([1, 0], [format!("functions.rs:{STORE_LINE}"), "out", "2"], |out| stores(2, &out));
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let (x, out) = (device.from_slice(&[1u32, 2]).unwrap(), device.alloc_zeroed::<u32>(1).unwrap());
        let error = queue.launch(one(), faults(3, &x, &out)).unwrap_err().to_string();
        assert!(error.contains(&format!("functions.rs:{FAULT_LINE}")), "{error}");
    }
}

/// Documented, and public.
pub mod public {
    use wattle::prelude::*;

    /// Adds.
    #[device_fn]
    pub fn plus(a: u32, b: u32) -> u32 {
        a + b
    }

    /// Adds one.
    #[kernel]
    pub fn plus_one(acc: &Acc, out: PerItem<u32>) {
        for (_, item) in acc.items(&mut out) {
            *item = plus(*item, 1);
        }
    }
}

#[test]
fn public_kernels() {
    expect!(one(), [1; 3], |_device, out| public::plus_one(&mut out));
}
