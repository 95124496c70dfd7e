//! Structs as elements of views, arguments, variables, and parameters and results of device functions.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("structs are read, made and written", moved),
    ("fields of items are changed in place", fields_of_items),
    ("fields of shared elements by themselves", fields_of_shared),
    ("structs of all widths, nested", nested),
    ("structs as arguments, variables and results", values),
    ("structs in views of two dimensions", planes),
    ("copies and fills of structs", copied),
];

/// What CUDA calls a `float4`, with names.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Body {
    pub position: [f32; 3],
    pub mass: f32,
}

fn bodies(n: usize) -> Vec<Body> {
    let body = |i: usize| {
        let x = i as f32;
        Body { position: [x, 2.0 * x, -x], mass: 1.0 + (i % 7) as f32 }
    };
    (0..n).map(body).collect()
}

#[kernel]
fn shift(acc: &Acc, from: Read<Body>, by: [f32; 3], to: Shared<Body>) {
    for i in acc.indices(THREADS_IN_GRID, 0..from.len()) {
        let Body { mut position, mass } = from[i];
        for d in 0..3 {
            position[d] += by[d];
        }
        to[i] = Body { position, mass: mass * 2.0 };
    }
}

fn moved(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all = bodies(1000);
    let (from, to) = (device.from_slice(&all)?, device.alloc_zeroed::<Body>(1000)?);
    queue.launch(FrameSpec::cover(1000, 64), shift(&from, [1.0, 0.5, -2.0], &to))?;
    let moved = |body: &Body| {
        let [x, y, z] = body.position;
        Body { position: [x + 1.0, y + 0.5, z - 2.0], mass: body.mass * 2.0 }
    };
    assert_eq!(to.read(&queue)?, all.iter().map(moved).collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn fall(acc: &Acc, bodies: PerItem<Body>, speeds: Read<[f32; 3]>, step: f32) {
    for (i, body) in acc.items(&mut bodies) {
        let speed = speeds[i];
        for d in 0..3 {
            body.position[d] += speed[d] * step;
        }
        body.position[0] = body.position[0] + body.mass;
        body.mass += 1.0;
        if i % 2 == 0 {
            *body = Body { mass: 0.25, ..*body };
        }
    }
}

fn fields_of_items(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (all, speeds) = (bodies(777), (0..777).map(|i| [1.0, i as f32, -0.5]).collect::<Vec<[f32; 3]>>());
    let (mut found, speeds_there) = (device.from_slice(&all)?, device.from_slice(&speeds)?);
    queue.launch(FrameSpec::cover(777, 32), fall(&mut found, &speeds_there, 0.5))?;
    let expected = all.iter().zip(&speeds).enumerate().map(|(i, (body, speed))| {
        let mut position: [f32; 3] = std::array::from_fn(|d| body.position[d] + speed[d] * 0.5);
        position[0] += body.mass;
        Body { position, mass: if i % 2 == 0 { 0.25 } else { body.mass + 1.0 } }
    });
    assert_eq!(found.read(&queue)?, expected.collect::<Vec<_>>());
    Ok(())
}

/// Each field has a thread of its own: none may touch the others.
#[kernel]
fn apart(acc: &Acc, bodies: Shared<Body>) {
    for i in acc.indices(THREADS_IN_GRID, 0..bodies.len() * 4) {
        let body = i / 4;
        if i % 4 == 3 {
            bodies[body].mass += bodies[body].mass;
        } else {
            let d = i % 4;
            bodies[body].position[d] = bodies[body].position[d] * 3.0;
        }
    }
}

#[kernel]
fn constant_parts(acc: &Acc, bodies: Shared<Body>) {
    for i in acc.indices(THREADS_IN_GRID, 0..bodies.len() * 2) {
        if i % 2 == 0 {
            bodies[i / 2].position[1] = bodies[i / 2].position[0] + 1.0;
        } else {
            bodies[i / 2].position[2] = bodies[i / 2].mass;
        }
    }
}

fn fields_of_shared(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all = bodies(100);
    let found = device.from_slice(&all)?;
    queue.launch(FrameSpec::cover(200, 16), constant_parts(&found))?;
    let after = |body: &Body| Body { position: [body.position[0], body.position[0] + 1.0, body.mass], ..*body };
    let expected: Vec<_> = all.iter().map(after).collect();
    assert_eq!(found.read(&queue)?, expected);
    queue.launch(ThreadSpec::new(1, 1), apart(&found))?;
    let after = |body: &Body| Body { position: body.position.map(|x| x * 3.0), mass: body.mass * 2.0 };
    assert_eq!(found.read(&queue)?, expected.iter().map(after).collect::<Vec<_>>());
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Small {
    flags: [u8; 2],
    level: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Cell {
    key: u64,
    small: [Small; 2],
    weight: f64,
    count: i32,
    rest: u32,
}

#[kernel]
fn cells(acc: &Acc, cells: PerItem<Cell>, from: Read<Cell>) {
    for (i, cell) in acc.items(&mut cells) {
        let other = from[i];
        let small = other.small[1];
        cell.key = other.key * 3 + small.flags[0] as u64;
        cell.small[0].level = -small.level;
        cell.small[1].flags[1] = other.small[0].flags[1] + 1;
        let mut whole = cell.small;
        whole[1].level = 77;
        whole[i % 2].flags[0] = 5;
        cell.small = whole;
        cell.weight = other.weight / 2.0;
        cell.count -= from[i].count;
        let Cell { rest, .. } = other;
        cell.rest = rest ^ 1;
    }
}

fn nested(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let small = |i: u32| Small { flags: [i as u8, (i * 3) as u8], level: i as i16 - 20 };
    let cell = |i: u32| Cell {
        key: u64::from(i) << 33 | 5,
        small: [small(i), small(i + 9)],
        weight: f64::from(i) * 0.25,
        count: -(i as i32),
        rest: i * 7,
    };
    let from: Vec<_> = (0..50).map(cell).collect();
    let mut to = device.alloc_zeroed::<Cell>(50)?;
    let there = device.from_slice(&from)?;
    queue.launch(FrameSpec::cover(50, 8), cells(&mut to, &there))?;
    let expected = |(i, other): (usize, &Cell)| {
        let mut small = [Small { flags: [0; 2], level: 0 }; 2];
        small[0].level = -other.small[1].level;
        small[1].flags[1] = other.small[0].flags[1].wrapping_add(1);
        small[1].level = 77;
        small[i % 2].flags[0] = 5;
        let key = other.key.wrapping_mul(3) + u64::from(other.small[1].flags[0]);
        Cell { key, small, weight: other.weight / 2.0, count: -other.count, rest: other.rest ^ 1 }
    };
    assert_eq!(to.read(&queue)?, from.iter().enumerate().map(expected).collect::<Vec<_>>());
    Ok(())
}

#[device_fn]
fn middle(x: Body, y: Body) -> Body {
    if x.mass == 0.0 {
        return y;
    }
    let mut made = x;
    for d in 0..3 {
        made.position[d] = (x.position[d] + y.position[d]) * 0.5;
    }
    made.mass = x.mass + y.mass;
    made
}

#[device_fn]
fn heavier(body: &mut Body, by: f32) {
    body.mass += by;
    body.position[1] = by;
}

#[kernel]
fn means(acc: &Acc, from: Read<Body>, with: Body, out: PerItem<Body>, masses: PerItem<f32>) {
    for (i, (out, mass)) in acc.items((&mut out, &mut masses)) {
        let mut all = [from[i], with, Body { position: [0.0; 3], mass: 8.0 }];
        all[i % 3].mass += 0.5;
        all[2].position[i % 3] = 4.0;
        let mut sum = Body { position: [0.0, 0.0, 0.0], mass: 0.0 };
        for k in 0..3 {
            sum = middle(sum, all[k]);
        }
        heavier(&mut sum, 0.25);
        let found = match sum {
            Body { mass, .. } if mass > 100.0 => with,
            Body { position: [x, _, _], mass } => Body { position: [x; 3], mass },
        };
        *out = if i == 5 { sum } else { found };
        *mass = out.mass;
    }
}

fn values(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let from = bodies(64);
    let with = Body { position: [1.0, 2.0, 4.0], mass: 2.0 };
    let there = device.from_slice(&from)?;
    let (mut out, mut masses) = (device.alloc_zeroed::<Body>(64)?, device.alloc_zeroed::<f32>(64)?);
    queue.launch(FrameSpec::cover(64, 8), means(&there, with, &mut out, &mut masses))?;
    let middle = |x: Body, y: Body| {
        let position = std::array::from_fn(|d| (x.position[d] + y.position[d]) * 0.5);
        if x.mass == 0.0 { y } else { Body { position, mass: x.mass + y.mass } }
    };
    let expected = |(i, body): (usize, &Body)| {
        let mut all = [*body, with, Body { position: [0.0; 3], mass: 8.0 }];
        all[i % 3].mass += 0.5;
        all[2].position[i % 3] = 4.0;
        let mut sum = middle(middle(all[0], all[1]), all[2]);
        sum.mass += 0.25;
        sum.position[1] = 0.25;
        if i == 5 { sum } else { Body { position: [sum.position[0]; 3], ..sum } }
    };
    let expected: Vec<_> = from.iter().enumerate().map(expected).collect();
    assert_eq!(out.read(&queue)?, expected);
    assert_eq!(masses.read(&queue)?, expected.iter().map(|body| body.mass).collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn flip(acc: &Acc<2>, from: Read<Body, 2>, to: Shared<Body, 2>) {
    let [rows, columns] = from.extent();
    for [i, j] in acc.indices(THREADS_IN_GRID, [0, 0]..from.extent()) {
        to[[rows - 1 - i, columns - 1 - j]] = from[[i, j]];
        to[[rows - 1 - i, columns - 1 - j]].mass = (i * 100 + j) as f32;
    }
}

fn planes(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut from = device.alloc_nd::<Body, 2>([6, 9])?;
    from.write(&queue, &bodies(54))?;
    let to = device.alloc_zeroed_nd::<Body, 2>([4, 5])?;
    queue.launch(FrameSpec::cover([4, 5], [2, 2]), flip(&from.region([1, 2], [5, 7])?, &to))?;
    let all = bodies(54);
    let expected = (0..20).map(|number| {
        let (i, j) = (3 - number / 5, 4 - number % 5);
        Body { mass: (i * 100 + j) as f32, ..all[(i + 1) * 9 + j + 2] }
    });
    assert_eq!(to.read(&queue)?, expected.collect::<Vec<_>>());
    Ok(())
}

fn copied(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (from, mut to) = (device.from_slice(&bodies(10))?, device.alloc::<Body>(10)?);
    let body = Body { position: [1.0, -2.0, 3.5], mass: 9.0 };
    queue.fill(&mut to, body)?;
    queue.copy(to.slice_mut(2..5)?, from.slice(4..7)?)?;
    let mut expected = vec![body; 10];
    expected[2..5].copy_from_slice(&bodies(10)[4..7]);
    assert_eq!(to.read(&queue)?, expected);
    Ok(())
}
