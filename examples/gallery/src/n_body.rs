//! Bodies that attract each other: structs as elements of buffers, and a tile of them in block shared memory.
//!
//! A body has 16 bytes, so that a GPU reads it with one load (CUDA's `float4`).

use wattle::prelude::*;

/// A body: where it is, and how heavy.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Body {
    /// Where it is.
    pub position: [f32; 3],
    /// How heavy it is.
    pub mass: f32,
}

/// The most bodies that a block holds in its shared memory at a time.
pub const TILE: usize = 64;

/// The pull of `other` on a body at `position`, per unit of its mass; of itself it is zero.
#[device_fn]
pub fn pull(position: [f32; 3], other: Body) -> [f32; 3] {
    let way = other.position - position;
    let squares = way * way;
    let distance = squares[0] + squares[1] + squares[2] + 0.01;
    let strength = other.mass / (distance * distance.sqrt());
    way * [strength; 3]
}

/// Moves each body by one step of time, a thread for each. Blocks have [`TILE`] threads at the most, and as many bodies are in
/// `from` as there are threads.
#[kernel]
pub fn step(acc: &Acc, from: Read<Body>, to: PerItem<Body>, speeds: PerItem<[f32; 3]>, time: f32) {
    let tile = acc.shared::<Body, TILE>();
    let mine = acc.thread_in_grid();
    let mut forces = [0.0f32; 3];
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    for first in (0..from.len()).step_by(threads) {
        tile[thread] = from[first + thread];
        acc.sync_block();
        for k in 0..threads {
            forces += pull(from[mine].position, tile[k]);
        }
        acc.sync_block();
    }
    for (i, (to, speed)) in acc.items((&mut to, &mut speeds)) {
        *speed = *speed + forces * [time; 3];
        *to = Body { position: from[i].position + *speed * [time; 3], ..from[i] };
    }
}

/// The same by a plain loop.
fn expected(bodies: &[Body], speeds: &mut [[f32; 3]], time: f32) -> Vec<Body> {
    let moved = bodies.iter().zip(speeds).map(|(body, speed)| {
        let mut forces = [0.0f32; 3];
        for other in bodies {
            let way: [f32; 3] = std::array::from_fn(|d| other.position[d] - body.position[d]);
            let distance = way[0] * way[0] + way[1] * way[1] + way[2] * way[2] + 0.01;
            let strength = other.mass / (distance * distance.sqrt());
            (0..3).for_each(|d| forces[d] += way[d] * strength);
        }
        (0..3).for_each(|d| speed[d] += forces[d] * time);
        Body { position: std::array::from_fn(|d| body.position[d] + speed[d] * time), mass: body.mass }
    });
    moved.collect()
}

/// Bodies that attract each other, in two steps of time.
#[scenario(sizes = Sizes { full: 1 << 9, small: 1 << 7, proof: 4 })]
pub fn n_body(device: &Device, n: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let threads = if n < 2 * TILE { 2 } else { TILE };
    let place = |i: usize| Body {
        position: [(i % 7) as f32, (i * i % 11) as f32, (i % 5) as f32 - 2.0],
        mass: 1.0 + (i % 3) as f32,
    };
    let mut bodies: Vec<_> = (0..n).map(place).collect();
    let mut plain = vec![[0.0; 3]; n];
    let mut from = device.from_slice(&bodies)?;
    let (mut to, mut speeds) = (device.alloc_zeroed::<Body>(n)?, device.alloc_zeroed::<[f32; 3]>(n)?);
    for _ in 0..2 {
        queue.launch(ThreadSpec::new(n / threads, threads), step(&from, &mut to, &mut speeds, 0.125))?;
        std::mem::swap(&mut from, &mut to);
        bodies = expected(&bodies, &mut plain, 0.125);
    }
    let found = from.read(&queue)?;

    let mut summary = Summary::new(format!("{n} bodies, two steps"));
    // The same operations in the same order.
    summary.check(found == bodies, "the bits are plain Rust's", || "they are not".into())?;
    Ok(summary)
}
