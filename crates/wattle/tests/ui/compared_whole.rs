//! What `==` and `<` do not compare.

use wattle::prelude::*;

#[derive(Clone, Copy, PartialEq, Element)]
#[repr(C)]
struct Body {
    mass: f32,
    speed: f32,
}

#[kernel]
fn structs(acc: &Acc, bodies: Read<Body>, out: Shared<u32>) {
    if bodies[0] == bodies[1] {
        out[0] = 1;
    }
}

#[kernel]
fn order(acc: &Acc, n: u32, out: Shared<u32>) {
    if [n, 1] < [2, 1] {
        out[0] = 1;
    }
}

#[kernel]
fn lengths(acc: &Acc, n: u32, out: Shared<u32>) {
    if [n, 1] == [2, 1, 3] {
        out[0] = 1;
    }
}

#[kernel]
fn bits(acc: &Acc, x: f32, out: Shared<f32>) {
    out[0] = x & 1.0;
}

fn main() {}
