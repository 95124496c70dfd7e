use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Body {
    position: [f32; 3],
    mass: f32,
}

#[kernel]
fn example(acc: &Acc, bodies: Atomic<Body>) {
    bodies.load(0);
}

fn main() {}
