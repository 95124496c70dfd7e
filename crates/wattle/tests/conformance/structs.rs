//! Structs as elements of views, arguments, variables, and parameters and results of device functions.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("structs are read, made and written", moved),
    ("fields of items are changed in place", fields_of_items),
    ("fields of shared elements by themselves", fields_of_shared),
    ("structs of all widths, nested", nested),
    ("numbers of one width with and without a sign", signs),
    ("structs as arguments, variables and results", values),
    ("structs in views of two dimensions", planes),
    ("copies and fills of structs", copied),
    ("arrays and structs in block shared memory", in_shared_memory),
    ("arithmetic over arrays, element by element", by_element),
    ("an index beyond a view of structs", beyond),
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

/// Neighbours of one width, which GPUs load at once, of types that are extended differently.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Signs {
    level: i16,
    rest: u16,
    plus: u8,
    minus: [i8; 3],
}

#[kernel]
fn widen(acc: &Acc, from: Read<Signs>, to: PerItem<[i64; 4]>) {
    for (i, wide) in acc.items(&mut to) {
        let Signs { level, rest, plus, minus } = from[i];
        *wide = [level as i64, rest as i64, plus as i64, minus[1] as i64];
    }
}

fn signs(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let one = |i: i8| Signs {
        level: -300 * i16::from(i),
        rest: 65_000 + i as u16,
        plus: 240 + i as u8,
        minus: [i, -3 - i, -i],
    };
    let from: Vec<_> = (0..9).map(one).collect();
    let there = device.from_slice(&from)?;
    let mut to = device.alloc_zeroed::<[i64; 4]>(from.len())?;
    queue.launch(FrameSpec::cover(from.len(), 4), widen(&there, &mut to))?;
    let wide = |from: &Signs| [from.level.into(), from.rest.into(), from.plus.into(), from.minus[1].into()];
    assert_eq!(to.read(&queue)?, from.iter().map(wide).collect::<Vec<[i64; 4]>>());
    Ok(())
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

#[kernel]
fn reversed(acc: &Acc, from: Read<Body>, to: PerItem<Body>, sums: Shared<[u32; 2]>) {
    let tile = acc.shared::<Body, 32>();
    let counts = acc.shared::<[u32; 2], 4>();
    for i in acc.indices(THREADS_IN_BLOCK, 0..32) {
        tile[i] = from[acc.block_in_grid() * 32 + i];
        if i < 4 {
            counts[i] = [i, 10 * i];
        }
    }
    acc.sync_block();
    for (i, to) in acc.items(&mut to) {
        to.position = tile[31 - i % 32].position;
        to.mass = tile[(i + 1) % 32].mass;
    }
    if acc.thread_in_block() == 0 {
        counts[0][1] = counts[3][1] + 1;
        sums[acc.block_in_grid()] = counts[0] + counts[1] + counts[2] + counts[3];
    }
}

fn in_shared_memory(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all = bodies(32);
    let (from, mut to) = (device.from_slice(&all)?, device.alloc_zeroed::<Body>(32)?);
    let sums = device.alloc_zeroed::<[u32; 2]>(1)?;
    queue.launch(ThreadSpec::new(1, 1), reversed(&from, &mut to, &sums))?;
    let expected = (0..32).map(|i| Body { position: all[31 - i].position, mass: all[(i + 1) % 32].mass });
    assert_eq!(to.read(&queue)?, expected.collect::<Vec<_>>());
    assert_eq!(sums.read(&queue)?, [[6, 91]]);
    Ok(())
}

#[device_fn]
fn lerp<T: Float, const N: usize>(x: [T; N], y: [T; N], t: T) -> [T; N] {
    x + (y - x) * [t; N]
}

#[kernel]
fn vectors(acc: &Acc, x: Read<[f32; 4]>, y: Read<[f32; 4]>, out: PerItem<[f32; 4]>, ints: PerItem<[i32; 3]>) {
    for (i, (out, ints)) in acc.items((&mut out, &mut ints)) {
        let mut sum = x[i] + y[i];
        sum *= [2.0, 1.0, 0.5, 4.0];
        sum[3] = sum[3] / 2.0;
        *out = lerp(sum, x[i] / [2.0; 4], 0.25);
        let n = i as i32;
        ints[1] = n;
        *ints = [n, ints[1], 7] / [3, 2, n - 100] - [[1, 2, 3]; 2][1];
    }
}

fn by_element(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let make = |k: f32| (0..90).map(|i| std::array::from_fn(|d| i as f32 * k + d as f32)).collect::<Vec<[f32; 4]>>();
    let (x, y) = (make(1.0), make(-0.5));
    let (there, other) = (device.from_slice(&x)?, device.from_slice(&y)?);
    let (mut out, mut ints) = (device.alloc_zeroed::<[f32; 4]>(90)?, device.alloc_zeroed::<[i32; 3]>(90)?);
    queue.launch(FrameSpec::cover(90, 16), vectors(&there, &other, &mut out, &mut ints))?;
    let expected = |i: usize| -> [f32; 4] {
        std::array::from_fn(|d| {
            let sum = (x[i][d] + y[i][d]) * [2.0, 1.0, 0.5, 2.0][d];
            sum + (x[i][d] / 2.0 - sum) * 0.25
        })
    };
    assert_eq!(out.read(&queue)?, (0..90).map(expected).collect::<Vec<_>>());
    let expected = (0..90).map(|n| [n / 3 - 1, n / 2 - 2, 7 / (n - 100) - 3]);
    assert_eq!(ints.read(&queue)?, expected.collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn far(acc: &Acc, from: Read<Body>, to: Shared<Body>, at: u32) {
    to[0] = from[at];
    to[1].mass = from[at].mass + 1.0;
}

fn beyond(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (from, to) = (device.from_slice(&bodies(4))?, device.from_slice(&bodies(4))?);
    let error =
        crate::harness::refused(queue.launch(ThreadSpec::new(1, 1), far(&from, &to, 9)).and_then(|()| queue.wait()));
    crate::harness::kind!(error, wattle::ErrorKind::Fault(_));
    crate::harness::says(&error, &["`from`", "index 9", "4"]);
    let queue = device.queue()?;
    let found = to.read(&queue)?;
    assert_eq!(found[0], Body { position: [0.0; 3], mass: 0.0 });
    assert_eq!(found[1], Body { mass: 1.0, ..bodies(4)[1] });
    Ok(())
}
