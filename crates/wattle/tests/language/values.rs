//! Tuples, arrays, variables, assignment.
use wattle::prelude::*;

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

#[device_fn]
fn turned(pair: (u32, u32)) -> (u32, u32) {
    (pair.1, pair.0)
}

#[kernel]
fn variables(acc: &Acc, mut n: u32, out: Shared<u32>) {
    n += acc.thread_in_grid();
    let x = n;
    let x = x + 1;
    {
        let x = x * 100;
        out[0] = x;
    }
    out[1] = x;
    let mut y = x;
    let z = y;
    y += 1;
    y -= 3;
    y *= 7;
    y /= 2;
    y %= 100;
    y <<= 3;
    y >>= 1;
    y |= 64;
    y &= 0xfe;
    y ^= 5;
    out[2] = y;
    out[3] = z;
    out[4] = 8;
    out[4] += 1;
    out[4] -= 3;
    out[4] *= 7;
    out[4] /= 2;
    out[4] %= 100;
    out[4] <<= 3;
    out[4] >>= 1;
    out[4] |= 64;
    out[4] &= 0xfe;
    out[4] ^= 5;
    let _ = n;
    let (a, mut b) = (n, n + 1);
    b += a;
    let typed: u32 = 5;
    let (_, (c, [d, e])) = (1, (typed, [b, 9]));
    out[5] = b * 1000 + c * 100 + d * 10 + e;
    n = 3;
    out[6] = n;
    let mut swap = (1, 2);
    swap = (swap.1, swap.0);
    out[7] = swap.0 * 10 + swap.1;
    swap = turned(swap);
    out[8] = swap.0 * 10 + swap.1;
}

#[test]
fn variables_and_assignment() {
    let step = |mut y: u32| {
        y += 1;
        y -= 3;
        y *= 7;
        y /= 2;
        y %= 100;
        y <<= 3;
        y >>= 1;
        y |= 64;
        y &= 0xfe;
        y ^ 5
    };
    let b = 9 + 10;
    let expected = [1000, 10, step(10), 10, step(8), b * 1000 + 500 + b * 10 + 9, 3, 21, 12];
    expect!(one(), expected, |_device, out| variables(9, &out));
}

#[kernel]
fn arrays<const N: usize>(acc: &Acc, at: u32, out: Shared<u32>) {
    let mut a = [acc.thread_in_grid(); N];
    for i in 0..N as u32 {
        a[i] = i * i;
    }
    let copy = a;
    a[at] = 1000;
    a[at] += 1;
    out[0] = a[at];
    out[1] = copy[at];
    let few = [10, 20, 30];
    out[2] = few[at % 3] + few[1];
    let mut b = [1, 2, 3];
    b = [b[2], b[0], b[1]];
    out[3] = b[0] * 100 + b[1] * 10 + b[2];
    let mut c = b;
    c[0] = 9;
    out[4] = b[0] * 10 + c[0];
    let [first, second] = [5, 6];
    out[5] = first * 10 + second;
    let chosen = if at > 2 { [1, 2] } else { [3, 4] };
    out[6] = chosen[0] * 10 + chosen[at - at + 1];
    let mut pairs = ([1, 2], 7u8);
    let kept = pairs;
    pairs = ([3, pairs.0[0]], 8);
    out[7] = pairs.0[0] * 100 + pairs.0[1] * 10 + kept.0[1] + pairs.1 as u32 - kept.1 as u32;
}

#[test]
fn arrays_are_values() {
    expect!(one(), [1001, 9, 30, 312, 39, 56, 12, 313], |_device, out| arrays::<8>(3, &out));
}

#[kernel]
fn beyond_an_array(acc: &Acc, at: u32, out: Shared<f32>) {
    let mut a = [1.5; 4];
    out[0] = 2.0;
    out[1] = a[at] + acc.thread_in_grid() as f32;
    a[at] = 9.0;
    out[2] = a[0] + a[1] + a[2] + a[3];
}
const BEYOND: u32 = line!() - 4;

#[test]
fn an_index_beyond_an_array_is_a_fault() {
    expect_fault!(
        [2.0, 0.0, 6.0],
        [format!("values.rs:{BEYOND}"), "index 4 of `an array of the kernel`, which has extent 4"],
        |out| beyond_an_array(4, &out)
    );
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
struct Complex {
    re: f32,
    im: f32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
struct Segment {
    from: Complex,
    to: Complex,
}

#[device_fn]
fn turn(z: &mut Complex) {
    *z = Complex { re: z.im, im: z.re };
}

#[device_fn]
fn next(state: &mut u32) -> u32 {
    *state = *state * 5 + 1;
    *state
}

/// Structs that are assigned what is made of their own fields.
#[kernel]
fn from_their_own_parts(acc: &Acc, given: Read<Complex>, out: Shared<f32>) {
    let mut w = given[acc.thread_in_grid()];
    w = Complex { re: w.re * w.re - w.im * w.im, im: 2.0 * w.re * w.im };
    out[0] = w.re;
    out[1] = w.im;
    turn(&mut w);
    out[2] = w.re;
    out[3] = w.im;
    w = if w.re > 100.0 { w } else { Complex { re: w.im, im: w.re } };
    out[4] = w.re;
    let mut segment = Segment { from: w, to: given[0] };
    segment = Segment { from: segment.to, to: segment.from };
    out[5] = segment.from.re;
    out[6] = segment.to.im;
    segment.to = Complex { re: segment.to.im, im: segment.to.re };
    out[7] = segment.to.im;
    segment = match segment.to.re > 0.0 {
        true => Segment { to: segment.from, ..segment },
        false => {
            let Segment { from, to } = segment;
            Segment { from: to, to: from }
        }
    };
    out[8] = segment.to.re;
    out[9] = segment.to.im;
}

#[test]
fn structs_are_assigned_as_a_whole() {
    let given = [Complex { re: 3.0, im: 5.0 }];
    // 3 + 5i squared is -16 + 30i; turned it is 30 - 16i, and once more -16 + 30i.
    let expected = [-16.0, 30.0, 30.0, -16.0, -16.0, 3.0, 30.0, -16.0, 3.0, 5.0];
    expect!(one(), expected, |device, out| from_their_own_parts(&device.from_slice(&given).unwrap(), &out));
}

/// Blocks that end in a variable give its value at that time.
#[kernel]
fn in_order(acc: &Acc, start: u32, out: Shared<u32>) {
    let mut u = start;
    out[0] = {
        u += 1;
        u
    } + {
        u += 1;
        u
    };
    let mut i = 0;
    let mut a = [0u32; 8];
    a[next(&mut i) % 8] = {
        i += 2;
        i
    };
    out[1] = a[3];
    let pair = (
        {
            u = 7;
            u
        },
        {
            u = 8;
            u
        },
    );
    out[2] = pair.0 * 10 + pair.1;
    out[3] = {
        u = 4;
        { u }
    } * {
        u = 3;
        u
    };
    let z = Complex {
        re: {
            u = 5;
            u
        } as f32,
        im: {
            u = 6;
            u
        } as f32,
    };
    out[4] = z.re as u32 * 10 + z.im as u32;
    let both = (u, next(&mut u));
    out[5] = both.0 * 100 + both.1;
    let mut t = (u, start);
    t = (
        {
            t.0 = 2;
            t.0
        },
        t.0 + t.1,
    );
    out[6] = t.0 * 10 + t.1;
    u = 1;
    u = u * 3 + {
        u = 10;
        u
    };
    out[7] = u + acc.thread_in_grid();
}

#[test]
fn what_is_read_first_is_not_changed_by_what_comes_later() {
    expect!(one(), [5, 2, 78, 12, 56, 600 + 31, 23, 13], |_device, out| in_order(1, &out));
}

/// The kind of each letter, and letters as numbers.
#[kernel]
fn letters(acc: &Acc, text: Read<u8>, out: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..text.len()) {
        let letter = text[i];
        out[i] = match letter {
            b'a'..=b'z' => (letter - b'a') as u32,
            b' ' | b'\n' => 100,
            _ if letter == b'\'' => b'\'' as u32,
            _ => 200,
        };
    }
}

#[test]
fn bytes_are_numbers() {
    expect!(one(), vec![0u32, 25, 100, 39, 200, 100], |device, out| {
        letters(&device.from_slice(b"az\n'A ").unwrap(), &out)
    });
}

/// Numbers of a generic type, and beside them variables whose type rustc infers.
#[kernel]
fn numbers_of_type<T: Float>(acc: &Acc, x: T, n: u32, out: Shared<T>) {
    out[0] = x * T::from_f64(0.1);
    out[1] = x + 2 as T;
    out[2] = -0.1 as T;
    let mut count = 1;
    count += n;
    let base = 2;
    let rest = base * n + 3 * count;
    out[3] = rest as T;
    out[4] = if n > 5 && 5 < n { T::ONE } else { T::ZERO };
    out[acc.linear_threads_in_grid() + 4] = T::from_f64(2.5);
}

#[test]
fn numbers_are_of_the_generic_type() {
    expect!(one(), vec![3.0f32 * 0.1, 5.0, -0.1, 38.0, 1.0, 2.5], |device, out| numbers_of_type(3.0, 7, &out));
    expect!(one(), vec![3.0f64 * 0.1, 5.0, -0.1, 38.0, 1.0, 2.5], |device, out| numbers_of_type(3.0, 7, &out));
}
