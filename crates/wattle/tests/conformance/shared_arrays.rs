//! Arrays of several dimensions in the block's shared memory.

use wattle::prelude::*;
use wattle::{ErrorKind, FaultKind};

use crate::harness::{Case, Outcome, refused_unless_lacking};
use crate::structs::Body;

pub const CASES: &[Case] = &[
    ("tiles of two dimensions", tiles),
    ("shared memory of three and four dimensions", cubes),
    ("structs and arrays in tiles", elements),
    ("an index beyond a tile, by dimension", beyond),
];

/// A transposition through a tile whose rows are one element longer than they need be, as against bank conflicts.
#[kernel]
fn transpose(acc: &Acc<2>, from: Read<u32, 2>, to: Shared<u32, 2>) {
    let tile = acc.shared_nd::<u32, 4, 5>();
    let [y, x] = acc.thread_in_block();
    let [block_y, block_x] = acc.block_in_grid();
    let [rows, columns] = from.extent();
    let (row, column) = (block_y * 4 + y, block_x * 4 + x);
    if row < rows && column < columns {
        tile[[y, x]] = from[[row, column]];
        tile[[y, x]] += 1;
    }
    acc.sync_block();
    let (row, column) = (block_x * 4 + y, block_y * 4 + x);
    if row < columns && column < rows {
        to[[row, column]] = tile[[x, y]] * 100 + tile.len() + tile.extent()[1];
    }
}

fn tiles(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (rows, columns) = (6usize, 9usize);
    let all: Vec<u32> = (0..(rows * columns) as u32).collect();
    let mut from = device.alloc_nd::<u32, 2>([rows, columns])?;
    from.write(&queue, &all)?;
    let to = device.alloc_nd::<u32, 2>([columns, rows])?;
    queue.launch(ThreadSpec::new([2, 3], [4, 4]), transpose(&from, &to))?;
    let element = |at: usize| (all[at % rows * columns + at / rows] + 1) * 100 + 20 + 5;
    assert_eq!(to.read(&queue)?, (0..rows * columns).map(element).collect::<Vec<_>>());
    Ok(())
}

#[device_fn]
fn corner<T: Element>(cube: Shared<T, 3>, x: u32) -> T {
    cube[[1, 2, x]]
}

#[kernel]
fn deep<const N: usize>(acc: &Acc, out: Shared<u32>) {
    let cube = acc.shared_nd::<u32, 2, 3, N>();
    let most = acc.shared_nd::<u32, 2, 2, 2, 3>();
    for i in 0..2 {
        for j in 0..3 {
            for k in 0..N as u32 {
                cube[[i, j, k]] = i * 100 + j * 10 + k;
                most[[i, 1, i, j]] = i * 10 + j;
            }
        }
    }
    let mut sum = 0;
    for i in 0..2 {
        for j in 0..3 {
            sum += cube[[i, j, i]] * 1000 + most[[i, 1, i, j]];
        }
    }
    out[0] = sum;
    out[1] = corner(cube, 3);
    out[2] = cube.len() * 100 + most.len();
}

fn cubes(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(3)?;
    queue.launch(ThreadSpec::new(1, 1), deep::<4>(&out))?;
    let parts = (0..2u32).flat_map(|i| (0..3u32).map(move |j| (i * 100 + j * 10 + i) * 1000 + i * 10 + j));
    assert_eq!(out.read(&queue)?, [parts.sum(), 123, 2424]);
    Ok(())
}

#[kernel]
fn in_tiles(acc: &Acc<2>, out: Shared<f32, 2>) {
    let bodies = acc.shared_nd::<Body, 3, 2>();
    let pairs = acc.shared_nd::<[u32; 2], 3, 2>();
    let [y, x] = acc.thread_in_block();
    let place = (y * 2 + x) as f32;
    bodies[[y, x]] = Body { position: [place, place + 0.5, 0.0], mass: 1.0 };
    bodies[[y, x]].position[2] = place * 4.0;
    pairs[[y, x]] = [x, y * 100];
    acc.sync_block();
    let (other_y, other_x) = (2 - y, 1 - x);
    let Body { position, mass } = bodies[[other_y, other_x]];
    let [small, large] = pairs[[other_y, other_x]];
    out[[y, x]] = position[0] + position[1] * 10.0 + position[2] * 100.0 + mass * 10000.0 + (small + large) as f32;
}

fn elements(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_nd::<f32, 2>([3, 2])?;
    queue.launch(ThreadSpec::new([1, 1], [3, 2]), in_tiles(&out))?;
    let element = |at: u32| {
        let (y, x) = (2 - at / 2, 1 - at % 2);
        let place = (y * 2 + x) as f32;
        place + (place + 0.5) * 10.0 + place * 400.0 + 10000.0 + (x + y * 100) as f32
    };
    assert_eq!(out.read(&queue)?, (0..6).map(element).collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn indexes(acc: &Acc, y: u32, x: u32, out: Shared<u32>) {
    let tile = acc.shared_nd::<u32, 3, 5>();
    for row in 0..3 {
        for column in 0..5 {
            tile[[row, column]] = 7;
        }
    }
    tile[[y, x]] = 9;
    out[0] = tile[[y, x]];
    let mut sum = 0;
    for row in 0..3 {
        for column in 0..5 {
            sum += tile[[row, column]];
        }
    }
    out[1] = sum;
}

fn beyond(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let one = ThreadSpec::new(1, 1);
    let out = device.alloc_zeroed::<u32>(2)?;
    queue.launch(one, indexes(2, 4, &out))?;
    assert_eq!(out.read(&queue)?, [9, 14 * 7 + 9]);
    for [y, x] in [[0, 5], [3, 0], [1, u32::MAX], [u32::MAX, 1]] {
        let launched = queue.launch(one, indexes(y, x, &out)).and_then(|()| queue.wait());
        let error = refused_unless_lacking(device, launched)?;
        let ErrorKind::Fault(fault) = error.kind() else { panic!("not a fault: {error}") };
        let FaultKind::OutOfBounds { view, index, extent } = &fault.what else { panic!("another fault: {error}") };
        assert_eq!([view, index, extent], ["tile", &format!("[{y}, {x}]"), "[3, 5]"], "{error}");
        assert_eq!(out.read(&queue)?, [0, 15 * 7], "nothing else is written");
    }
    Ok(())
}
