//! Arrays of arrays: read, written, copied and handed to device functions by element and by row.

use wattle::prelude::*;

use crate::harness::{Case, Outcome, refused_unless_lacking, says};

pub const CASES: &[Case] = &[
    ("arrays of arrays", arrays_of_arrays),
    ("an index beyond a row, and beyond the rows", beyond_rows),
    ("negative arrays", negative),
];

#[device_fn]
fn row_sum<T: Number, const N: usize>(row: [T; N]) -> T {
    let mut sum = T::ZERO;
    for i in 0..row.len() {
        sum += row[i];
    }
    sum
}

#[device_fn]
fn clear<const N: usize, const M: usize>(grid: &mut [[u32; M]; N], row: u32) -> [u32; M] {
    let before = grid[row];
    grid[row] = [0; M];
    before
}

#[device_fn]
fn identity() -> [[f32; 2]; 2] {
    [[1.0, 0.0], [0.0, 1.0]]
}

#[kernel]
fn nested(acc: &Acc, n: u32, out: Shared<u32>) {
    let mut a = [[acc.thread_in_grid(); 4]; 8];
    for i in 0..a.len() {
        for j in 0..a[i].len() {
            a[i][j] = i * 10 + j;
        }
    }
    a[n % 8][n % 4] += 100;
    a[2][3] -= 1;
    out[0] = a[n % 8][n % 4];
    out[1] = row_sum(a[n % 8]) + row_sum(a[2]);
    // A row is a value.
    let mut row = a[1];
    row[0] = 1000;
    a[3] = row;
    out[2] = a[1][0] + a[3][0] + a[3][1];
    (a[0], a[1]) = (a[1], a[0]);
    out[3] = a[0][1] * 100 + a[1][1];
    let before = clear(&mut a, n % 8);
    out[4] = row_sum(before) * 1000 + row_sum(a[n % 8]);
    let b = [[1, 2, 3], [4, 5, 6]];
    out[5] = b[1][2] * 10 + b[n % 2][n % 3];
    let mut cube = [[[0; 2]; 3]; 2];
    cube[n % 2][n % 3][1] = 7;
    cube[1][2][n % 2] += 5;
    let mut sum = 0;
    for i in 0..2 {
        for j in 0..3 {
            for k in 0..2 {
                sum = sum * 3 + cube[i][j][k];
            }
        }
    }
    out[6] = sum;
    let one = identity();
    out[7] = one[n % 2][n % 2] as u32 + one[0][1] as u32;
    // The indices are worked out once, from left to right.
    let mut at = 0;
    a[{
        at += 1;
        at
    }][{
        at += 1;
        at
    }] += at * 100;
    out[8] = a[1][2] + at;
    let mut pair = ([[1, 2], [3, 4]], n);
    pair.0[1][0] = 30;
    pair.0[0] = [10, 20];
    out[9] = pair.0[0][1] + pair.0[1][0] + pair.0[n % 2][1];
}

fn nested_in_rust(n: usize) -> [u32; 10] {
    let mut out = [0; 10];
    let mut a: [[u32; 4]; 8] = std::array::from_fn(|i| std::array::from_fn(|j| (i * 10 + j) as u32));
    a[n % 8][n % 4] += 100;
    a[2][3] -= 1;
    out[0] = a[n % 8][n % 4];
    out[1] = a[n % 8].iter().sum::<u32>() + a[2].iter().sum::<u32>();
    let mut row = a[1];
    row[0] = 1000;
    a[3] = row;
    out[2] = a[1][0] + a[3][0] + a[3][1];
    (a[0], a[1]) = (a[1], a[0]);
    out[3] = a[0][1] * 100 + a[1][1];
    out[4] = a[n % 8].iter().sum::<u32>() * 1000;
    a[n % 8] = [0; 4];
    let b = [[1, 2, 3], [4, 5, 6]];
    out[5] = b[1][2] * 10 + b[n % 2][n % 3];
    let mut cube = [[[0u8; 2]; 3]; 2];
    cube[n % 2][n % 3][1] = 7;
    cube[1][2][n % 2] += 5;
    out[6] = cube.iter().flatten().flatten().fold(0u32, |sum, x| sum * 3 + *x as u32);
    out[7] = 1;
    out[8] = a[1][2] + 2;
    out[9] = 20 + 30 + [20, 4][n % 2];
    out
}

fn arrays_of_arrays(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for n in [0, 1, 2, 3, 4, 5, 6, 7, 11] {
        let out = device.alloc_zeroed::<u32>(10)?;
        queue.launch(ThreadSpec::new(1, 1), nested(n, &out))?;
        assert_eq!(out.read(&queue)?, nested_in_rust(n as usize), "for {n}");
    }
    Ok(())
}

#[kernel]
fn beyond(acc: &Acc, i: u32, j: u32, out: Shared<u32>) {
    let mut a = [[5; 4]; 8];
    a[i][j] = 9;
    out[0] = a[i][j];
    out[1] = a[i / 2][j / 2];
    let mut sum = 0;
    for x in 0..8 {
        for y in 0..4 {
            sum += a[x][y];
        }
    }
    out[2] = sum;
    let mut row = a[i];
    row[0] += 1;
    out[3] = row[0] + acc.thread_in_grid();
}

fn beyond_rows(device: &Device) -> Outcome {
    for (i, j, what, expected) in [
        (8, 1, "index 8 of `an array of the kernel`, which has extent 8", [0, 5, 160, 1]),
        (7, 4, "index 4 of `an array of the kernel`, which has extent 4", [0, 5, 160, 6]),
        (0, 5, "index 5 of `an array of the kernel`, which has extent 4", [0, 5, 160, 6]),
        (u32::MAX / 4 + 1, 0, "index 1073741824 of `an array of the kernel`, which has extent 8", [0, 0, 160, 1]),
    ] {
        let queue = device.queue()?;
        let out = device.alloc_zeroed::<u32>(4)?;
        let error = refused_unless_lacking(device, queue.launch(ThreadSpec::new(1, 1), beyond(i, j, &out)))?;
        says(&error, &[what, "arrays.rs"]);
        assert_eq!(out.read(&device.queue()?)?, expected, "for {i}, {j}");
    }
    Ok(())
}

#[device_fn]
fn negated<T: Signed>(pair: [T; 2], x: T) -> [T; 2] {
    let negative = -pair;
    [negative[0], -x]
}

#[kernel]
fn negates(
    acc: &Acc,
    of: Read<[f32; 4]>,
    ints: Read<[[i32; 2]; 2]>,
    out: Shared<[f32; 4]>,
    out_ints: Shared<[[i32; 2]; 2]>,
) {
    let a = of[0];
    out[0] = -a;
    out[1] = -of[0] * [2.0; 4] + -a;
    let pair = negated([a[0], 1.0], a[1]);
    out[2] = -[pair[0], -pair[1], 3.0, -0.5];
    out_ints[0] = -ints[0];
    let both = negated([ints[0][0][1], 7], ints[0][1][0]);
    out_ints[1] = [both, -both];
}

#[kernel(contract)]
fn negates_contracted(acc: &Acc, of: Read<[f32; 4]>, out: Shared<[f32; 4]>) {
    out[0] = -of[0];
}

fn negative(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let of = device.from_slice(&[[0.0f32, -1.5, f32::INFINITY, 2.0]])?;
    let ints = device.from_slice(&[[[1, -2], [i32::MIN, 0]]])?;
    let (out, out_ints) = (device.alloc_zeroed::<[f32; 4]>(3)?, device.alloc_zeroed::<[[i32; 2]; 2]>(2)?);
    queue.launch(ThreadSpec::new(1, 1), negates(&of, &ints, &out, &out_ints))?;
    let bits = |all: Vec<[f32; 4]>| all.into_iter().map(|row| row.map(f32::to_bits)).collect::<Vec<_>>();
    let negative = [-0.0f32, 1.5, f32::NEG_INFINITY, -2.0];
    let expected = [negative, [-0.0, 4.5, f32::NEG_INFINITY, -6.0], [0.0, 1.5, -3.0, 0.5]];
    assert_eq!(bits(out.read(&queue)?), bits(expected.to_vec()));
    assert_eq!(out_ints.read(&queue)?, [[[-1, 2], [i32::MIN, 0]], [[2, i32::MIN], [-2, i32::MIN]]]);
    queue.launch(ThreadSpec::new(1, 1), negates_contracted(&of, &out))?;
    assert_eq!(bits(out.read(&queue)?)[0], negative.map(f32::to_bits));
    Ok(())
}
