//! Rust as people write it: patterns, `break` with a value, parts of tuples, `&mut` parameters, macros, many parameters.
//!
//! The bodies of [`twice!`] are compiled as kernels and as plain Rust; both must leave the same.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};
use crate::twice::twice;

pub const CASES: &[Case] = &[
    ("patterns of `match`", patterns_match),
    ("`if let`, `while let`, `let … else`, `matches!`", patterns_let),
    ("patterns with `..`", patterns_rest),
    ("`break` with a value", breaks),
    ("assignment to parts and to several places", assignments),
    ("`&mut` parameters", exclusive_parameters),
    ("kernels of macros", from_macros),
    ("32 parameters", parameters),
    ("methods of numbers on items", items_as_numbers),
];

const LIMIT: u32 = 42;

twice! {
    patterns_match match_kernel match_plain(n, out) 10 {
        out[0] = match n {
            0 => 10,
            1 | 2 => 20,
            x @ (3 | 4) if x % 2 == 0 => x * 100,
            x if x == 7 || (x > 7 && x / (x - 6) == 2) => 70 + x,
            LIMIT => 420,
            5..=8 => 50,
            9.. if n < 50 => 90,
            small @ ..50 => small,
            _ => 1,
        };
        out[1] = match (n % 3, n % 2 == 0) {
            (0, true) => 1,
            (0, false) => 2,
            (one @ 1, _) => one + 2,
            (_, even) if even => 4,
            (rest, _) => rest + 3,
        };
        out[2] = match [n % 2, n % 5] {
            [0, 0] => 1,
            [a, 1..=2] => a + 10,
            [_, b] => b + 20,
        };
        // The arms are exhaustive without `_`.
        out[3] = match n > 4 {
            true => 1,
            false => 2,
        };
        out[4] = match n {
            0..=99 => 1,
            100..=u32::MAX => 2,
        };
        out[5] = match (n as i32 % 5 - 2, n as f32) {
            (-1..=0, 0.0) => 2,
            (i32::MIN..=-2, _) => 3,
            (0 | 1, _) => 4,
            _ => 5,
        };
        // An arm may leave, and a guard may read memory.
        out[6] = match n {
            1 => {
                out[7] = 77;
                return;
            }
            m if out[0] == 20 => m + 1,
            mut m => {
                m /= 3;
                m
            }
        };
        match n {
            0 => {}
            2 | 3 => out[8] = 8,
            _ if n > 8 => out[8] = 9,
            _ => (),
        }
        let mut sum = n;
        out[9] = sum + match { sum += 1; sum } {
            5 => sum,
            m => { sum = 3; m }
        } + sum;
    }

    patterns_let let_kernel let_plain(n, out) 8 {
        if let 3 = n {
            out[0] = 1;
        }
        out[1] = if let (0 | 1, half) = (n % 4, n / 2) { half + 1 } else { 5 };
        out[2] = if let 0..=4 = n {
            1
        } else if let 100.. = n {
            2
        } else {
            3
        };
        let mut left = n % 10;
        while let 1..=8 = left {
            out[3] += left;
            if left == 4 {
                break;
            }
            left -= 1;
        }
        out[4] = left;
        out[5] = matches!(n, 2 | 7..=9) as u32 + if matches!(n % 8, x if x > 5) { 10 } else { 0 };
        let (0..=9, tens) = (n % 100, n / 10) else {
            out[6] = 6;
            return;
        };
        out[7] = tens;
    }

    patterns_rest rest_kernel rest_plain(n, out) 6 {
        let [first, .., last] = [n, n + 1, n + 2, n + 3];
        out[0] = first * 10 + last;
        let (.., third) = (n, 1u32, n * 3);
        let (one, ..) = (n % 7, n, 3u32);
        out[1] = third * 10 + one;
        out[2] = match (n % 4, n % 3, n) {
            (0, ..) => 1,
            (1, 2, ..) => 2,
            (_, k, ..) => k + 10,
        };
        out[3] = match [n % 2, n % 3, n % 5] {
            [1, ..] => 5,
            [.., 2] => 6,
            [_, 1, ..] => 7,
            _ => 8,
        };
        out[4] = if let [0, .., k] = [n % 3, 9, n] { k } else { 1 };
        let [..] = [n; 2];
        let (..) = (n, n);
        let (mut a, (b, ..), ..) = (n, (n + 1, n), 2u32);
        a += b;
        out[5] = a;
    }

    breaks break_kernel break_plain(n, out) 6 {
        let mut k = 0;
        out[0] = loop {
            k += 1;
            if k > n % 20 {
                break k;
            }
            if k == 7 {
                break 700;
            }
        };
        let (square, root) = 'outer: loop {
            let mut j = 0;
            loop {
                if j * j > n % 50 {
                    break 'outer (j * j, j);
                }
                if j == 6 {
                    break;
                }
                j += 1;
            }
            break (36, 6);
        };
        out[1] = square * 100 + root;
        out[2] = 'found: {
            for i in 2..10 {
                if n % i == 0 {
                    break 'found i;
                }
            }
            0
        };
        'unless: {
            if n < 3 {
                break 'unless;
            }
            out[3] = 3;
            if n > 9 {
                break 'unless;
            }
            out[3] = 9;
        }
        // A loop in a loop's value, and a loop that is only left from within.
        out[4] = loop {
            let inner = loop {
                k += 3;
                if k % 4 == 0 {
                    break k;
                }
            };
            if inner > 20 {
                break inner + loop { break 1; };
            }
        };
        let odd: u32 = if n % 2 == 0 { 2 } else { 'never: loop { loop { break; } if n > 0 { break 'never 1; } } };
        out[5] = odd;
    }

    assignments assign_kernel assign_plain(n, out) 12 {
        let mut v = (n, (2u32, 3.5f32));
        v.0 += 1;
        v.1.0 = v.0 * 2;
        v.1.1 *= 2.0;
        v.1 = (v.1.0 + 1, v.1.1 + 0.5);
        out[0] = v.0;
        out[1] = v.1.0 + v.1.1 as u32;
        let (mut a, mut b) = (n, 7u32);
        (a, b) = (b, a);
        out[2] = a * 10;
        out[3] = b;
        (a, _) = (a + b, b);
        (out[4], (v.0, out[5])) = (a, (9, v.0));
        out[6] = v.0;
        // The value comes first, then the places from left to right.
        let mut i = 7;
        (out[i], i, out[{ i += 1; i }]) = ({ i += 1; i }, 9, i * 2);
        [a, b] = [b, a + i];
        out[11] = a + b;
        _ = a;
    }
}

#[device_fn]
fn bump(x: &mut u32, by: u32) -> u32 {
    *x += by;
    if *x > 100 {
        *x = 100;
        return 1;
    }
    by
}

#[device_fn]
fn bump_twice<T: Number>(pair: &mut (T, u32), one: T) {
    pair.0 += one;
    bump(&mut pair.1, 1);
    bump(&mut pair.1, 1);
}

#[device_fn]
fn sort<const N: usize>(a: &mut [u32; N]) {
    for i in 0..a.len() {
        for j in i + 1..a.len() {
            if a[j] < a[i] {
                (a[i], a[j]) = (a[j], a[i]);
            }
        }
    }
}

#[device_fn]
fn sort_and_count<const N: usize>(a: &mut [u32; N], calls: &mut u32) {
    sort(a);
    *calls += 1;
}

#[device_fn]
fn next(state: &mut u32) -> u32 {
    *state = *state * 1_664_525 + 1_013_904_223;
    *state >> 16
}

#[kernel]
fn exclusive(acc: &Acc, n: u32, out: Shared<u32>) {
    let mut x = n + acc.thread_in_grid();
    out[0] = bump(&mut x, 5) + x;
    out[1] = x;
    let mut pair = (1.5f32, n);
    bump_twice(&mut pair, 0.5);
    out[2] = pair.0 as u32 * 1000 + pair.1;
    bump(&mut pair.1, 3);
    out[3] = pair.1;
    let mut a = [n % 7, 5, n % 3, 4, n % 11];
    let (before, mut calls) = (a, 0);
    sort_and_count(&mut a, &mut calls);
    out[4] = a[0] + a[1] * 100 + a[2] * 10_000 + a[3] * 1_000_000 + a[4] * 100_000_000 + before[0] * 0;
    out[5] = calls;
    let mut seed = n;
    out[6] = next(&mut seed) ^ (next(&mut seed) << 8);
    // What was read before the call is what it was.
    out[7] = seed + next(&mut seed) + seed;
}

fn exclusive_parameters(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for n in [0u32, 3, 96, 97, 98, 120] {
        let out = device.alloc_zeroed::<u32>(8)?;
        queue.launch(ThreadSpec::new(1, 1), exclusive(n, &out))?;
        let bump = |x: &mut u32, by: u32| {
            *x += by;
            if *x > 100 {
                *x = 100;
                return 1;
            }
            by
        };
        let next = |state: &mut u32| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *state >> 16
        };
        let (mut x, mut pair, mut seed) = (n, n, n);
        let mut expected = [0; 8];
        expected[0] = bump(&mut x, 5) + x;
        expected[1] = x;
        bump(&mut pair, 1);
        bump(&mut pair, 1);
        expected[2] = 2000 + pair;
        bump(&mut pair, 3);
        expected[3] = pair;
        let mut a = [n % 7, 5, n % 3, 4, n % 11];
        a.sort();
        expected[4] = a.iter().rev().fold(0, |sum: u32, x| sum.wrapping_mul(100).wrapping_add(*x));
        expected[5] = 1;
        expected[6] = next(&mut seed) ^ (next(&mut seed) << 8);
        expected[7] = seed.wrapping_add(next(&mut seed)).wrapping_add(seed);
        assert_eq!(out.read(&queue)?, expected, "for {n}");
    }
    Ok(())
}

/// A kernel of pieces: a name, types, an operator, patterns, expressions, a view, a device function and literals.
macro_rules! pieces {
    ($name:ident, $t:ty, $op:tt, $value:expr, $least:pat, $call:expr, $view:ident, $range:expr, $len:expr, $d:literal) => {
        #[kernel]
        fn $name(acc: &Acc<$d>, n: $t, $view: Shared<$t>) {
            let value = $value;
            for i in $range {
                // The macro's own variables, and the user's of the same name.
                let n2 = n $op value;
                $view[i] = match n2 {
                    $least => -$value,
                    x if x > $value * 2 => $call(x),
                    x => x,
                } as $t;
            }
            let mut array = [$value; $len];
            array[1] += -$value;
            let (mut a, mut b) = ($value, n);
            (a, b) = (b, a);
            $call(a);
            $view[$len] = array[0] + array[1] + a $op b;
            bump_any(&mut a, $value);
            $view[$len + 1] = a.max($value) + acc.thread_in_grid() as $t;
        }
    };
}

#[device_fn]
fn bump_any<T: Number>(x: &mut T, by: T) {
    *x = *x + by;
}

#[device_fn]
fn halved(x: i32) -> i32 {
    x / 2
}

pieces!(pieces_add, i32, +, 3 + 1, 0..=4, halved, place, 0..3, 3, 1);
pieces!(pieces_mul, i32, *, 2, 1 | 2, self::halved, out, (0..3u32).rev(), 3, 1);

fn from_macros(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for n in [0, 1, 3, 20] {
        let out = device.alloc_zeroed::<i32>(5)?;
        let of = |n2: i32, value: i32, least: bool| match n2 {
            _ if least => -value,
            x if x > value * 2 => x / 2,
            x => x,
        };
        queue.launch(ThreadSpec::new(1, 1), pieces_add(n, &out))?;
        let each = of(n + 4, 4, (0..=4).contains(&(n + 4)));
        assert_eq!(out.read(&queue)?, [each, each, each, 4 + n + 4, (n + 4).max(4)]);
        queue.launch(ThreadSpec::new(1, 1), pieces_mul(n, &out))?;
        let each = of(n * 2, 2, matches!(n * 2, 1 | 2));
        assert_eq!(out.read(&queue)?, [each, each, each, 2 + n * 2, (n + 2).max(2)]);
    }
    Ok(())
}

#[kernel]
fn many(
    acc: &Acc,
    x: Read<u32>,
    y: PerItem<u32>,
    a0: u32,
    a1: u32,
    a2: u32,
    a3: u32,
    a4: u32,
    a5: u32,
    a6: u32,
    a7: u32,
    a8: u32,
    a9: u32,
    b0: u32,
    b1: u32,
    b2: u32,
    b3: u32,
    b4: u32,
    b5: u32,
    b6: u32,
    b7: u32,
    b8: u32,
    b9: u32,
    c0: u32,
    c1: u32,
    c2: u32,
    c3: u32,
    c4: u32,
    c5: u32,
    c6: u32,
    c7: f32,
    c8: i32,
    z: Shared<u32>,
) {
    for (i, y) in acc.items(&mut y) {
        let a = a0 + a1 * 2 + a2 * 3 + a3 * 4 + a4 * 5 + a5 * 6 + a6 * 7 + a7 * 8 + a8 * 9 + a9 * 10;
        let b = b0 + b1 * 2 + b2 * 3 + b3 * 4 + b4 * 5 + b5 * 6 + b6 * 7 + b7 * 8 + b8 * 9 + b9 * 10;
        let c = c0 + c1 * 2 + c2 * 3 + c3 * 4 + c4 * 5 + c5 * 6 + c6 * 7 + c7 as u32 * 8 + c8 as u32 * 9;
        *y = x[i] + a + b * 1000 + c * 1_000_000;
        z[i] = c8 as u32;
    }
}

fn parameters(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, z) = (device.from_slice(&[1u32, 2, 3])?, device.alloc_zeroed::<u32>(3)?);
    let mut y = device.alloc_zeroed::<u32>(3)?;
    queue.launch(
        FrameSpec::new(3, 1),
        many(&x, &mut y, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1.0, 1, &z),
    )?;
    let all = 65 + 56 * 1000 + 47 * 1_000_000;
    assert_eq!((y.read(&queue)?, z.read(&queue)?), (vec![1 + all, 2 + all, 3 + all], vec![1; 3]));
    Ok(())
}

/// An item is a reference to its element, and methods of numbers take what it refers to.
#[kernel]
fn on_items(acc: &Acc, roots: PerItem<f32>, bits: PerItem<u32>) {
    for (_, (root, bits)) in acc.items((&mut roots, &mut bits)) {
        *root = root.sqrt() + root.min(2.0);
        *bits = bits.count_ones() + bits.max(3);
    }
}

fn items_as_numbers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (mut roots, mut bits) = (device.from_slice(&[9.0f32, 1.0])?, device.from_slice(&[7u32, 1])?);
    queue.launch(FrameSpec::cover(2, 2), on_items(&mut roots, &mut bits))?;
    assert_eq!(roots.read(&queue)?, [5.0, 2.0]);
    assert_eq!(bits.read(&queue)?, [10, 4]);
    Ok(())
}
