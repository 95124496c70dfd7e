//! Constants that are structs, tables of them, and literals of the floats of 16 bits.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] =
    &[("constants that are structs", structs), ("tables of structs", tables), ("literals of f16 and bf16", literals)];

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Body {
    position: [f32; 3],
    mass: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Pair {
    first: Body,
    count: u32,
}

const ORIGIN: Body = Body { position: [0.0, 1.0, 2.0], mass: 3.0 };
const PAIR: Pair = Pair { first: Body { mass: 4.0, ..ORIGIN }, count: 5 };
const TABLE: [Body; 3] = [ORIGIN, Body { mass: 7.0, ..ORIGIN }, Body { position: [9.0; 3], mass: 8.0 }];

impl Body {
    const FAR: Body = Body { position: [1e6; 3], mass: 1.0 };
}

#[device_fn]
fn weight(body: Body, factor: f32) -> f32 {
    body.mass * factor
}

#[kernel]
fn of_constants(acc: &Acc, out: Shared<f32>, bodies: Shared<Body>, counts: Shared<u32>) {
    const LOCAL: Body = Body { position: [5.0; 3], mass: 6.0 };
    let thread = acc.linear_thread_in_grid();
    let mut body = ORIGIN;
    body.position[1] += LOCAL.position[2];
    bodies[thread] = body;
    bodies[1] = PAIR.first;
    bodies[2] = Body { mass: 0.5, ..LOCAL };
    bodies[3] = Body::FAR;
    out[0] = ORIGIN.mass + PAIR.first.mass;
    out[1] = ORIGIN.position[2];
    out[2] = weight(ORIGIN, 2.0);
    counts[0] = PAIR.count;
}

fn structs(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<f32>(3)?);
    let (bodies, counts) = (device.from_slice(&[ORIGIN; 4])?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(1, 1), of_constants(&out, &bodies, &counts))?;
    assert_eq!(out.read(&queue)?, [7.0, 2.0, 6.0]);
    assert_eq!(counts.read(&queue)?, [5]);
    let wanted =
        [Body { position: [0.0, 6.0, 2.0], mass: 3.0 }, PAIR.first, Body { position: [5.0; 3], mass: 0.5 }, Body::FAR];
    assert_eq!(bodies.read(&queue)?, wanted);
    Ok(())
}

#[kernel]
fn of_table(acc: &Acc, which: Read<u32>, out: PerItem<Body>, masses: Shared<f32>) {
    for (i, body) in acc.items(&mut out) {
        *body = TABLE[which[i]];
        masses[i] = TABLE[which[i]].mass + TABLE[1].position[2];
    }
}

fn tables(device: &Device) -> Outcome {
    let (queue, masses) = (device.queue()?, device.alloc_zeroed::<f32>(4)?);
    let (which, mut out) = (device.from_slice(&[2u32, 0, 1, 2])?, device.from_slice(&[ORIGIN; 4])?);
    queue.launch(FrameSpec::new(2, 2), of_table(&which, &mut out, &masses))?;
    assert_eq!(out.read(&queue)?, [2, 0, 1, 2].map(|n: usize| TABLE[n]));
    assert_eq!(masses.read(&queue)?, [10.0, 5.0, 9.0, 10.0]);
    Ok(())
}

#[kernel]
fn of_halves(acc: &Acc, x: f16, y: bf16, out: Shared<f32>) {
    out[acc.linear_thread_in_grid()] = (x * 0.5) as f32;
    out[1] = (1.0 - y) as f32;
    out[2] = if x > 2.5 { 1.0 } else { -1.0 };
    let z: f16 = 0.1;
    out[3] = z as f32 + 0.25;
    let w = x.fma(2.0, 0.5).max(0.0);
    out[4] = w as f32;
}

fn literals(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<f32>(5)?);
    queue.launch(ThreadSpec::new(1, 1), of_halves(f16::from_f32(3.0), bf16::from_f32(0.25), &out))?;
    assert_eq!(out.read(&queue)?, [1.5, 0.75, 1.0, f16::from_f32(0.1).to_f32() + 0.25, 6.5]);
    Ok(())
}
